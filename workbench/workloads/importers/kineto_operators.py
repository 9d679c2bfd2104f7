"""The operators of a Kineto trace: which of them launched each kernel, and which allocated what.

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

from workbench.workloads.importers.json_arrays import JsonArray
from workbench.workloads.importers.kineto_events import (
    EMPTY,
    GPU_TYPES,
    MEMORY,
    NOBODY,
    Event,
    Mending,
    arguments,
    kernel_args,
    launch_args,
    memory_args,
    nanoseconds,
)
from workbench.workloads.importers.source import Source

_CALLS = ("cuda_runtime", "runtime", "cuda_driver", "hip_runtime")
_OPERATORS = ("cpu_op", "operator")


class ThreadEvent(Event):
    """An event with its thread."""

    tid: msgspec.Raw = EMPTY


_events = msgspec.json.Decoder(list[ThreadEvent])


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
    """Return the start of the innermost operator that runs on a thread at a time; `NOBODY` where none does."""
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
