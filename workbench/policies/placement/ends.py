"""Placement from both ends of the memory, so that free space collects in the middle.

`NearestBoundary` is the proposal of the source document; `AlternateEnds` takes low and high by turns, and
`SizeSegregatedEnds` takes small requests from the low end, large ones from the high end.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Literal

import numpy as np

from workbench.compiled import creates_arrays
from workbench.levers import lever
from workbench.policies.placement.circuit import (
    ALTERNATE,
    AT_TIE,
    HIGH_NEXT,
    highest_by_scan,
    highest_raw_by_halving,
    holds_one,
    lowest_by_halving,
    lowest_by_scan,
    nearer_end,
    padded,
    start_bits,
)
from workbench.policies.placement.question import (
    REFUSED,
    Bits,
    Placement,
    PlacementNotice,
    PlacementView,
    as_words,
    bits_text,
)
from workbench.structures.bitmaps import NOWHERE, bitmap, first_start, last_start

PROBE, MASK_SOURCE, SCAN_ORDER, LEADING_ONE, LUT_BITS, ENCODING = 2, 3, 4, 5, 6, 7
LINEAR = 1


class NearestBoundary(Placement):
    """Take the feasible start whose range lies nearest to either end; at equal distances the low side, unless `tie`.

    Free space so collects in the middle. With `tie="alternate"` the two sides take turns; a turn passes when a grant
    was made at a tie between two different starts, the first one going to the low side.

    The levers below `tie` choose between forms of the same circuit, which give the same grants. The default runs on
    whole words; every other choice runs the readable reference of `circuit/`, in a time that grows with the square of
    the number of segments. The encoding is that of the bitmap in `place` and in the reference.

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
    @creates_arrays
    def circuit(see: PlacementView) -> int:
        bits = bitmap(see.free, see.segments, see.levers.encoding == 1)
        starts = start_bits(
            bits,
            see.length,
            see.levers.probe,
            see.levers.mask_source == 1,
            see.levers.scan_order == 1,
            see.levers.encoding == 1,
        )
        if not holds_one(starts, 0, see.segments):
            return REFUSED
        if see.levers.leading_one == LINEAR:
            low, high = lowest_by_scan(starts, 0, see.segments), highest_by_scan(starts, 0, see.segments)
        else:
            wide, lut_bits = padded(starts), see.levers.lut_bits
            low, high = lowest_by_halving(wide, lut_bits), wide.size - 1 - highest_raw_by_halving(wide, lut_bits)
        return nearer_end(low, high, see.segments, see.length, see.levers, see.memory)

    @staticmethod
    def granted(see: PlacementNotice) -> None:
        if see.levers.tie == ALTERNATE and see.memory[AT_TIE]:
            see.memory[HIGH_NEXT] = 1 - see.memory[HIGH_NEXT]
            see.memory[AT_TIE] = 0

    def function(self) -> Callable[..., int]:
        """Return the word-parallel answer, or the circuit where a lever asks for one of its forms."""
        return type(self).circuit if self._hardware_form() else type(self).answer

    def notice(self, name: str) -> Callable[..., Any] | None:
        """Return what is told of grants, None unless sides take turns."""
        return super().notice(name) if self.tie == "alternate" else None

    def start_memory(self, segments: int, seed: int) -> np.ndarray:
        """Return a memory that takes the low side first: int64[2]."""
        return np.zeros(2, np.int64)

    def start_map(self, free: Bits, length: int) -> str:
        """Return the map as every policy's; a form of the circuit answers itself."""
        if not self._hardware_form():
            return super().start_map(free, length)
        words, segments = as_words(free, self.encoding, length)
        taken_is_one = self.encoding == "free0"
        forms = (int(self.parameters()[PROBE]), self.mask_source == "on_the_fly", self.scan_order == "descending")
        return bits_text(start_bits(bitmap(words, segments, taken_is_one), length, *forms, taken_is_one))

    def _hardware_form(self) -> bool:
        forms = ("probe", "mask_source", "scan_order", "leading_one", "lut_bits")
        return any(getattr(self, name) != self.levers[name].default for name in forms)


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


THRESHOLD = 0


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
