"""Placement from both ends of the memory, so that free space collects in the middle.

`NearestBoundary` is the proposal of the source document; `AlternateEnds` takes low and high by turns, and
`SizeSegregatedEnds` takes small requests from the low end, large ones from the high end.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Literal

import numpy as np

from workbench.compiled import kernel
from workbench.levers import lever
from workbench.policies.placement.question import Placement
from workbench.policies.placement.view import REFUSED, PlacementNotice, PlacementView
from workbench.structures.bitmaps import NOWHERE, first_start, last_start

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


class NearestBoundary(Placement):
    """Take the feasible start whose range lies nearest to either end; at equal distances the low side, unless `tie`.

    Free space so collects in the middle. With `tie="alternate"` the two sides take turns; a turn passes when a grant
    was made at a tie between two different starts, the first one going to the low side.

    The levers below `tie` choose between forms of the same circuit (`workbench circuit`), whose gates are held against
    the grants; in every form these are computed on whole words. The encoding is that of the bitmap in `place` and in
    the circuit.

    References
    ----------
    spec 1, R10-R28 (claims 1-8); the variants of its parameter table.

    Examples
    --------
    >>> NearestBoundary().place("0111100111111100", 4), NearestBoundary().place("0111100111111100", 5)
    (1, 9)
    >>> NearestBoundary(encoding="free0").place("1000011000000011", 4)
    1
    """

    distance: Literal["window_edge", "start_bit"] = lever(
        "window_edge", description="distance of the high range to its end: from its last segment, or from its start bit"
    )
    tie: Literal["low", "high", "alternate"] = lever("low", description="which side is taken at equal distances")
    probe: Literal["shift_and", "mask_or_and", "window_and"] = lever("shift_and", description="how windows are tested")
    mask_source: Literal["precomputed", "on_the_fly"] = lever("precomputed", description="where window masks come from")
    scan_order: Literal["ascending", "descending"] = lever(
        "ascending", description="the order in which windows are tested"
    )
    leading_one: Literal["binary", "linear"] = lever("binary", description="how the outermost starts are found")
    lut_bits: int = lever(
        8,
        least=1,
        most=64,
        scale="power_of_two",
        unit="bits",
        description="width at which the binary search looks up the rest",
    )
    encoding: Literal["free1", "free0"] = lever("free1", description="whether a 1 in the bitmap is free or taken")

    @staticmethod
    def answer(see: PlacementView) -> int:
        low = first_start(see.free, see.length, 0)
        if low == NOWHERE:
            return REFUSED
        return nearer_end(low, last_start(see.free, see.length), see.segments, see.length, see.levers, see.memory)

    @staticmethod
    def granted(see: PlacementNotice) -> None:
        if see.levers.tie == ALTERNATE and see.memory[AT_TIE]:
            see.memory[HIGH_NEXT] = 1 - see.memory[HIGH_NEXT]
            see.memory[AT_TIE] = 0

    def notice(self, name: str) -> Callable[..., Any] | None:
        """Return the notice of a grant, None unless sides take turns."""
        return super().notice(name) if self.tie == "alternate" else None

    def start_memory(self, segments: int, seed: int) -> np.ndarray:
        """Return a memory that takes the low side first: int64[2]."""
        return np.zeros(2, np.int64)


class AlternateEnds(Placement):
    """Take the lowest and the highest feasible start by turns, the lowest first; there are no ties.

    The turn changes with a grant, not with a refusal. Shows how much of the wear of `NearestBoundary` comes from using
    both ends at all.

    References
    ----------
    spec 1, section 7.

    Examples
    --------
    >>> memory = AlternateEnds().allocator(segments=16)
    >>> memory.take(3), memory.take(3), memory.take(3)
    (0, 13, 3)
    """

    @staticmethod
    def answer(see: PlacementView) -> int:
        return last_start(see.free, see.length) if see.memory[HIGH_NEXT] else first_start(see.free, see.length, 0)

    @staticmethod
    def granted(see: PlacementNotice) -> None:
        see.memory[HIGH_NEXT] = 1 - see.memory[HIGH_NEXT]


class SizeSegregatedEnds(Placement):
    """Take the lowest feasible start for a small request, the highest for a large one; there are no ties.

    The classic allocation of two stacks that grow toward each other: small and large requests do not cut each other's
    holes.

    References
    ----------
    spec 1, section 7.

    Examples
    --------
    >>> policy = SizeSegregatedEnds(threshold=4)
    >>> policy.place("0111100111111100", 3), policy.place("0111100111111100", 4)
    (1, 10)
    """

    threshold: int = lever(
        16,
        least=1,
        most=4097,
        unit="segments",
        description="the smallest request that counts as large; 4097 makes all small",
    )

    @staticmethod
    def answer(see: PlacementView) -> int:
        return (
            last_start(see.free, see.length)
            if see.length >= see.levers.threshold
            else first_start(see.free, see.length, 0)
        )
