"""The events of a Kineto trace as typed records, and which operator launched and allocated what.

Every field that the workbench does not use is skipped undecoded.

A kernel and the call that launched it have one correlation number; the call, an operator and a memory event have a
thread and a time of the host's clock. An operator holds what lies within it on its thread, the innermost one counts.
"""

from __future__ import annotations

from array import array
from collections import Counter
from decimal import Decimal, InvalidOperation
from functools import lru_cache
from pathlib import Path
from typing import NamedTuple, TypeVar

import msgspec
import numpy as np

from workbench.errors import InputError, shown
from workbench.workloads.importers.json_arrays import JsonArray, repaired
from workbench.workloads.importers.source import Source
from workbench.workloads.importers.trace import Card

NOBODY = -1
_CALLS = ("cuda_runtime", "runtime", "cuda_driver", "hip_runtime")
_OPERATORS = ("cpu_op", "operator")
GPU_TYPES = (1, 6)
"""`Device Type` of a memory event: 0 CPU, 1 CUDA, 6 HIP."""
MEMORY = b'"[memory]"'

EMPTY = msgspec.Raw(b"")


class Event(msgspec.Struct):
    """Any Chrome trace event; what only some events need is decoded when it is needed."""

    ph: str | None = None
    cat: str | None = None
    name: msgspec.Raw = EMPTY
    ts: msgspec.Raw = EMPTY
    dur: msgspec.Raw = EMPTY
    args: msgspec.Raw = EMPTY


class ThreadEvent(Event):
    """An event with its thread."""

    tid: msgspec.Raw = EMPTY


_events = msgspec.json.Decoder(list[ThreadEvent])


class KernelArgs(msgspec.Struct):
    """The arguments of a kernel."""

    device: int | None = None
    stream: int | None = None
    correlation: int | None = None
    grid: tuple[int, int, int] | None = None
    block: tuple[int, int, int] | None = None
    registers: int | None = msgspec.field(default=None, name="registers per thread")
    shared: int | None = msgspec.field(default=None, name="shared memory")


kernel_args = msgspec.json.Decoder(KernelArgs, strict=False)


class LaunchArgs(msgspec.Struct):
    """What is used of the call that launched a kernel; its `stream` may be an address (`0x0`) and is not read."""

    correlation: int | None = None
    shared: int | None = msgspec.field(default=None, name="shared memory")


launch_args = msgspec.json.Decoder(LaunchArgs, strict=False)


class MemoryArgs(msgspec.Struct):
    """The arguments of a `[memory]` event; the samples of 2021 have the first three only."""

    bytes: int = msgspec.field(name="Bytes")
    device_type: int = msgspec.field(name="Device Type")
    device: int = msgspec.field(name="Device Id")
    address: int | None = msgspec.field(default=None, name="Addr")
    allocated: int | None = msgspec.field(default=None, name="Total Allocated")
    reserved: int | None = msgspec.field(default=None, name="Total Reserved")


memory_args = msgspec.json.Decoder(MemoryArgs, strict=False)


class Operators(NamedTuple):
    """Rows of whole numbers; times are nanoseconds of the host's clock."""

    kernels: np.ndarray
    """int64[kernels, 4]: device, stream, start, correlation."""
    calls: np.ndarray
    """int64[calls, 3]: correlation, thread, begin."""
    operators: np.ndarray
    """int64[operators, 3]: thread, begin, end."""
    memory: np.ndarray
    """int64[events, 5]: device, thread, time, address, bytes (below 0: given back), in the order of time."""


@lru_cache(maxsize=2)
def operators_of(path: Path, sha256: str) -> Operators:
    """Return the operators of a Kineto trace, read once as long as the file is the same.

    Raises
    ------
    InputError
        It is no Kineto trace.
    """
    source = Source(path)
    rows, mending, threads = _Rows(source.where), Mending(source.where), dict[bytes, int]()
    for batch in JsonArray(source.pieces(), "traceEvents", source.where).batches():
        for event in mending.decoded(_events, batch, "its traceEvents are not events"):
            rows.add(event, threads.setdefault(bytes(event.tid), len(threads)))
    return rows.table()


class _Rows:
    """Gathers the rows."""

    def __init__(self, where: str) -> None:
        self._where = where
        self._held = {name: array("q") for name in Operators._fields}

    def add(self, event: ThreadEvent, thread: int) -> None:
        """Add an event, if it is of a kind that is kept."""
        category = (event.cat or "").lower()
        if event.ph == "X" and category == "kernel":
            args = arguments(kernel_args, event, self._where, "a kernel")
            known = (args.device, args.stream, args.correlation)
            device, stream, correlation = (NOBODY if value is None else value for value in known)
            self._held["kernels"].extend((device, stream, self._time(event), correlation))
        elif event.ph == "X" and category in _CALLS:
            number = arguments(launch_args, event, self._where, "a call").correlation
            if number is not None:
                self._held["calls"].extend((number, thread, self._time(event)))
        elif event.ph == "X" and category in _OPERATORS:
            begin = self._time(event)
            end = begin + nanoseconds(event.dur, self._where, "dur of an operator")
            self._held["operators"].extend((thread, begin, end))
        elif event.ph == "i" and bytes(event.name) == MEMORY:
            memory = arguments(memory_args, event, self._where, "a memory event")
            if memory.device_type in GPU_TYPES:
                address = NOBODY if memory.address is None else memory.address
                self._held["memory"].extend((memory.device, thread, self._time(event), address, memory.bytes))

    def _time(self, event: Event) -> int:
        return nanoseconds(event.ts, self._where, "ts of an event")

    def table(self) -> Operators:
        """Return the rows."""
        rows = (np.array(column, np.int64).reshape(-1, n) for column, n in zip(self._held.values(), (4, 3, 3, 5)))
        kernels, calls, operators, memory = rows
        return Operators(kernels, calls, operators, memory[np.argsort(memory[:, 2], kind="stable")])


class Launched(NamedTuple):
    """How each kernel was launched; `NOBODY` where the trace does not tell."""

    thread: np.ndarray
    at: np.ndarray
    """int64[kernels], when; its start on the card where no call is known."""
    begin: np.ndarray
    """int64[kernels], when the innermost operator around the call began."""


def launched(operators: Operators) -> Launched:
    """Return the call and the operator of each kernel, in the order of the file."""
    calls = {number: (thread, at) for number, thread, at in operators.calls[::-1].tolist()}
    kernels = operators.kernels
    known = [calls.get(number, (NOBODY, start)) for _, _, start, number in kernels.tolist()]
    thread, at = np.array(known, np.int64).reshape(-1, 2).T
    return Launched(thread, at, _innermost(operators.operators, thread, at))


def _innermost(operators: np.ndarray, thread: np.ndarray, at: np.ndarray) -> np.ndarray:
    """Return when the innermost operator began that runs on a thread at a time; `NOBODY` where none does."""
    result = np.full(len(at), NOBODY)
    for number in np.unique(thread[thread != NOBODY]).tolist():
        own = operators[operators[:, 0] == number]
        own = own[np.lexsort((-own[:, 2], own[:, 1]))]
        asks = np.flatnonzero(thread == number)
        _sweep(own[:, 1:].tolist(), asks[np.argsort(at[asks], kind="stable")].tolist(), at, result)
    return result


def _sweep(spans: list[list[int]], asks: list[int], at: np.ndarray, result: np.ndarray) -> None:
    """Go through the operators of a thread in the order of their begins, those that are open on a stack."""
    stack: list[list[int]] = []
    place = 0
    for ask in asks:
        now = int(at[ask])
        while place < len(spans) and spans[place][0] <= now:
            while stack and stack[-1][1] < spans[place][0]:
                stack.pop()
            stack.append(spans[place])
            place += 1
        while stack and stack[-1][1] < now:
            stack.pop()
        if stack:
            result[ask] = stack[-1][0]


_WAVE_OF_AMD = 64


class Properties(msgspec.Struct):
    """One card; the two vendors name the shared memory of a unit differently."""

    id: int
    name: str
    units: int | None = msgspec.field(default=None, name="numSms")
    wave_size: int | None = msgspec.field(default=None, name="warpSize")
    threads: int | None = msgspec.field(default=None, name="maxThreadsPerMultiprocessor")
    registers: int | None = msgspec.field(default=None, name="regsPerMultiprocessor")
    shared: int | None = msgspec.field(default=None, name="sharedMemPerMultiprocessor")
    shared_amd: int | None = msgspec.field(default=None, name="maxSharedMemoryPerMultiProcessor")
    workgroup_shared: int | None = msgspec.field(default=None, name="sharedMemPerBlock")
    memory: int | None = msgspec.field(default=None, name="totalGlobalMem")

    def card(self) -> Card:
        """Return the same in the workbench's words."""
        return Card(
            number=self.id,
            name=self.name,
            compute_units=self.units,
            wave_size=self.wave_size,
            waves_a_unit=self.threads // self.wave_size if self.threads and self.wave_size else None,
            threads_a_unit=self.threads,
            registers_a_unit=self.registers,
            shared_memory_bytes=self.shared or self.shared_amd,
            workgroup_shared_bytes=self.workgroup_shared,
            memory_bytes=self.memory,
        )


class Rest(msgspec.Struct):
    """What stands beside the events; a trace that is a bare list has none of it."""

    properties: list[Properties] = msgspec.field(default_factory=list, name="deviceProperties")
    roctracer: msgspec.Raw = msgspec.field(default=EMPTY, name="roctracer_version")
    rocprofiler: msgspec.Raw = msgspec.field(default=EMPTY, name="rocprofiler-sdk_version")

    @property
    def of_rocm(self) -> bool:
        """Return whether the file names a ROCm library that recorded it; both are known to count some grids in
        work-items."""
        return self.roctracer != EMPTY or self.rocprofiler != EMPTY

    @property
    def of_amd(self) -> bool:
        """Return whether the file says that it was recorded on AMD cards, by their library, their name or their
        waves."""
        return self.of_rocm or any("AMD" in card.name or card.wave_size == _WAVE_OF_AMD for card in self.properties)


T = TypeVar("T")


def decoded(decoder: msgspec.json.Decoder[T], text: bytes | msgspec.Raw, where: str, what: str) -> T:
    """Decode, or say in one sentence what is not as Kineto writes it."""
    try:
        return decoder.decode(text)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as problem:
        raise InputError(f"{where}: {what} ({problem}).") from None


class Mending:
    """Decodes what Kineto wrote; text that is no JSON is mended as far as it is known how, and that is counted."""

    def __init__(self, where: str) -> None:
        self._where = where
        self.counts: Counter[str] = Counter()
        """How often each kind of fault was mended (`repaired`)."""

    def decoded(self, decoder: msgspec.json.Decoder[T], text: bytes, what: str) -> T:
        """Decode; errors as of the function `decoded`."""
        try:
            return decoder.decode(text)
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
            mended, counts = repaired(text)
        result = decoded(decoder, mended, self._where, what)
        self.counts.update(counts)
        return result


def arguments(decoder: msgspec.json.Decoder[T], event: Event, where: str, place: str) -> T:
    """Return the arguments of an event, those that the decoder reads."""
    return decoded(
        decoder, bytes(event.args) or b"{}", where, f"the arguments of {place} are not as Kineto writes them"
    )


def nanoseconds(microseconds: msgspec.Raw, where: str, what: str) -> int:
    """Convert to nanoseconds, exactly: a double loses the decimals of microseconds that are counted from 1970.

    >>> nanoseconds(msgspec.Raw(b"1712195495505583.297"), "t.json", "time stamp")
    1712195495505583297
    """
    text = bytes(microseconds).decode(errors="replace")
    whole, _, rest = text.partition(".")
    if len(rest) <= 3 and f"{whole}{rest}".isdecimal() and whole and text.isascii():
        return int(whole) * 1000 + int(rest.ljust(3, "0"))  # four times as fast, and what Kineto writes
    try:
        return round(Decimal(text) * 1000)
    except (InvalidOperation, ValueError, OverflowError):
        raise InputError(f"{where}: {what} must be a number of microseconds. Got {shown(text)}.") from None
