"""The comparator and the selector: which of the two outermost windows is granted (spec 1, R18-R23)."""

from __future__ import annotations

from typing import Any

from workbench.compiled import kernel

DISTANCE, TIE = 0, 1
WINDOW_EDGE, START_BIT = 0, 1
LOW, HIGH, ALTERNATE = 0, 1, 2

HIGH_NEXT = 0
"""Memory: 1 when the next tie goes to the high side; only `alternate` changes it."""
AT_TIE = 1
"""Memory: 1 when the latest answer was a tie between two starts; only `alternate` remembers it."""


@kernel
def nearer_end(i: int, j: int, segments: int, length: int, params: Any, memory: Any) -> int:
    """Choose, of the lowest start i and the highest start j, the one whose window lies nearer to its end of the memory.

    With distances i and N - j - m the low side is nearer where i + j < N - m (R19, R22); with the distances of the
    start bits alone, i and N - 1 - j, where i + j < N - 1 (R20).
    """
    middle = segments - length if params[DISTANCE] == WINDOW_EDGE else segments - 1
    memory[AT_TIE] = params[TIE] == ALTERNATE and i + j == middle and i != j
    if i + j != middle:
        return i if i + j < middle else j
    high = memory[HIGH_NEXT] == 1 if params[TIE] == ALTERNATE else params[TIE] == HIGH
    return j if high else i
