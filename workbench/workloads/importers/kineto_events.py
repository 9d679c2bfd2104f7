"""The events of a Kineto trace as typed records, decoded and repaired, and its cards.

Every field that the workbench does not use is skipped undecoded.
"""

from __future__ import annotations

from collections import Counter
from decimal import Decimal, InvalidOperation
from typing import TypeVar

import msgspec

from workbench.errors import InputError, shown
from workbench.workloads.importers.json_arrays import repaired
from workbench.workloads.importers.trace import Card

NOBODY = -1

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
    """The facts outside the events; a trace that is a bare list has none of it."""

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
    """Decodes what Kineto wrote; text that is no JSON is repaired as far as its faults are known, and that is
    counted."""

    def __init__(self, where: str) -> None:
        self._where = where
        self.counts: Counter[str] = Counter()
        """How often each kind of fault was repaired (`repaired`)."""

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
