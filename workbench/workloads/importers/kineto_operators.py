"""What a Kineto trace tells of operators: which ran when on which thread, what each launched, and allocated.

A kernel and the call that launched it have one correlation number; the call, an operator and a memory event have a
thread and a time of the host's clock. An operator holds what lies within it on its thread, the innermost one counts.
"""

from __future__ import annotations

from array import array
from functools import lru_cache
from pathlib import Path
from typing import NamedTuple

import msgspec
import numpy as np

from workbench.workloads.importers.json_array import JsonArray
from workbench.workloads.importers.kineto_events import (
    EMPTY,
    Event,
    KernelArgs,
    LaunchArgs,
    MemoryArgs,
    Mending,
    arguments,
    nanoseconds,
)
from workbench.workloads.importers.source import Source

NOBODY = -1
_CALLS = ("cuda_runtime", "runtime", "cuda_driver", "hip_runtime")
_OPERATORS = ("cpu_op", "operator")
_GPU_TYPES = (1, 6)
_MEMORY = b'"[memory]"'


class ThreadEvent(Event):
    """An event with its thread."""

    tid: msgspec.Raw = EMPTY


_events = msgspec.json.Decoder(list[ThreadEvent])
_kernel_args = msgspec.json.Decoder(KernelArgs, strict=False)
_launch_args = msgspec.json.Decoder(LaunchArgs, strict=False)
_memory_args = msgspec.json.Decoder(MemoryArgs, strict=False)


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
        self._kernels, self._calls, self._operators, self._memory = array("q"), array("q"), array("q"), array("q")

    def add(self, event: ThreadEvent, thread: int) -> None:
        """Add an event, if it is of a kind that is kept."""
        category = (event.cat or "").lower()
        if event.ph == "X" and category == "kernel":
            args = arguments(_kernel_args, event, self._where, "a kernel")
            known = (args.device, args.stream, args.correlation)
            device, stream, correlation = (NOBODY if value is None else value for value in known)
            self._kernels.extend((device, stream, self._time(event), correlation))
        elif event.ph == "X" and category in _CALLS:
            number = arguments(_launch_args, event, self._where, "a call").correlation
            if number is not None:
                self._calls.extend((number, thread, self._time(event)))
        elif event.ph == "X" and category in _OPERATORS:
            begin = self._time(event)
            self._operators.extend((thread, begin, begin + nanoseconds(event.dur, self._where, "dur of an operator")))
        elif event.ph == "i" and bytes(event.name) == _MEMORY:
            self._add_memory(event, thread)

    def _add_memory(self, event: ThreadEvent, thread: int) -> None:
        args = arguments(_memory_args, event, self._where, "a memory event")
        if args.device_type in _GPU_TYPES:
            address = NOBODY if args.address is None else args.address
            self._memory.extend((args.device, thread, self._time(event), address, args.bytes))

    def _time(self, event: Event) -> int:
        return nanoseconds(event.ts, self._where, "ts of an event")

    def table(self) -> Operators:
        """Return the rows."""
        memory = np.array(self._memory, np.int64).reshape(-1, 5)
        return Operators(
            np.array(self._kernels, np.int64).reshape(-1, 4),
            np.array(self._calls, np.int64).reshape(-1, 3),
            np.array(self._operators, np.int64).reshape(-1, 3),
            memory[np.argsort(memory[:, 2], kind="stable")],
        )


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
