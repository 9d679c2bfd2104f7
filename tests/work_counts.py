"""How much work Python does for something: counted, so that it is the same on every machine and under any load.

What must be quick is tested by how the count grows with the size: what takes one look at everything is ten times as
much at ten times the size, what is left to compiled code or NumPy is the same at any size.
"""

from __future__ import annotations

import sys
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
