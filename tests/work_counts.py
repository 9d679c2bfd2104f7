"""How much work Python does for something: counted, so that it is the same on every machine and under any load.

What must be quick is tested by how the count grows with the size: what takes one look at everything is ten times as
much at ten times the size, what is left to compiled code or NumPy is the same at any size.
"""

from __future__ import annotations

import sys
import threading
import tracemalloc
from collections.abc import Callable
from types import FrameType
from typing import Any


def instructions(act: Callable[[], Any]) -> int:
    """The bytecode instructions that Python executes for an act, its callees included; compiled code counts nothing.

    >>> once, often = (instructions(lambda: [k for k in range(n)]) for n in (10, 1000))
    >>> 50 < often / once < 120
    True
    """
    return _monitored(act) if sys.version_info >= (3, 12) else _traced(act)


def _traced(act: Callable[[], Any]) -> int:
    count = 0

    def trace(frame: FrameType, event: str, _: Any) -> Any:
        nonlocal count
        frame.f_trace_opcodes, frame.f_trace_lines = True, False
        count += event == "opcode"
        return trace

    before = sys.gettrace()
    sys.settrace(trace)
    try:
        act()
    finally:
        sys.settrace(before)
    return count


def _monitored(act: Callable[[], Any]) -> int:
    """Count what this thread executes: since 3.12 a trace misses code that it meets for the first time."""
    watch, count, mine = sys.monitoring, 0, threading.get_ident()  # type: ignore[attr-defined, unused-ignore]

    def seen(*_: Any) -> None:
        nonlocal count
        count += threading.get_ident() == mine

    watch.use_tool_id(watch.PROFILER_ID, "work_counts")
    try:
        watch.register_callback(watch.PROFILER_ID, watch.events.INSTRUCTION, seen)
        watch.set_events(watch.PROFILER_ID, watch.events.INSTRUCTION)
        act()
    finally:
        watch.set_events(watch.PROFILER_ID, 0)
        watch.free_tool_id(watch.PROFILER_ID)
    return count


def growth(act: Callable[[int], Any], size: int) -> float:
    """How many times as much Python does at ten times a size; what it does once is done before."""
    act(size)
    return instructions(lambda: act(10 * size)) / instructions(lambda: act(size))


def peak_bytes(act: Callable[[], Any]) -> int:
    """The most memory that an act holds at a time beyond what was held before it."""
    tracemalloc.start()
    try:
        before, _ = tracemalloc.get_traced_memory()
        tracemalloc.reset_peak()
        act()
        return tracemalloc.get_traced_memory()[1] - before
    finally:
        tracemalloc.stop()
