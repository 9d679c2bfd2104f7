"""Fits of a free run, chosen by its address or its length: first, last, next, best, worst and random fit."""

from __future__ import annotations

from typing import Literal

import numpy as np

from workbench.levers import lever
from workbench.policies.placement.question import Placement, PlacementNotice, PlacementView
from workbench.streams import Streams
from workbench.structures.bitmaps import (
    NOWHERE,
    count_starts,
    first_start,
    largest_run,
    last_start,
    nth_start,
    smallest_run,
)
from workbench.structures.rng import below


class FirstFit(Placement):
    """Take the lowest feasible start; there are no ties.

    The existing dispatcher that the source document compares with, and the linear scan over granules of MGPUSim's
    resource masks.

    References
    ----------
    spec 1, R32; MGPUSim, `amd/timing/cp/internal/resource/resourcemask.go`, `nextRegion`.

    Examples
    --------
    >>> FirstFit().place("0111100111111100", 3)
    1
    """

    @staticmethod
    def answer(see: PlacementView) -> int:
        return first_start(see.free, see.length, 0)


class LastFit(Placement):
    """Take the highest feasible start; there are no ties.

    Mirrors first fit segment for segment, so that their completion times are equal on every queue: a free test of an
    engine.

    References
    ----------
    spec 1, sections 6 and 7.

    Examples
    --------
    >>> LastFit().place("0111100111111100", 3)
    11
    """

    @staticmethod
    def answer(see: PlacementView) -> int:
        return last_start(see.free, see.length)


RESUME = 0
"""Memory: the segment after the last grant."""


class NextFit(Placement):
    """Take the lowest feasible start from the end of the last grant on, else the lowest of all; there are no ties.

    A window never wraps around the end of the memory (spec 1, R1); only the search does. Spreads wear and tends to
    fragment.

    References
    ----------
    spec 1, section 7.

    Examples
    --------
    >>> memory = NextFit().allocator(segments=8)
    >>> memory.take(3), memory.give_back(0, 3), memory.take(3), memory.take(3)
    (0, None, 3, 0)
    """

    @staticmethod
    def answer(see: PlacementView) -> int:
        start = first_start(see.free, see.length, see.memory[RESUME])
        return first_start(see.free, see.length, 0) if start == NOWHERE else start

    @staticmethod
    def granted(see: PlacementNotice) -> None:
        see.memory[RESUME] = see.start + see.length


TIE = 0


class BestFit(Placement):
    """Take the low end of the smallest sufficient free run; of equal runs the lowest, unless `tie` says the highest.

    Strong on small requests. With `tie="low"` this is Ventus' walk over the linked list of workgroups, which keeps the
    first of equally small holes.

    References
    ----------
    spec 1, section 7; Ventus, `ventus/src/cta/resource_table.scala`, sub-machine ALLOC.

    Examples
    --------
    >>> BestFit().place("0111100111111100", 3)
    1
    >>> BestFit(tie="high").place("0111011100001111", 3)
    5
    """

    tie: Literal["low", "high"] = lever("low", description="which of equally small free runs is taken")

    @staticmethod
    def answer(see: PlacementView) -> int:
        return smallest_run(see.free, see.length, see.levers.tie == 1)


class WorstFit(Placement):
    """Take the low end of the largest free run; of equal runs the lowest, unless `tie` says the highest.

    Keeps runs equal and is poor for large requests. With `tie="low"` this is MIAOW's dispatcher, whose table search
    keeps the first of equally large holes and hands only that one to the allocator.

    References
    ----------
    spec 1, section 7; MIAOW, `src/verilog/rtl/dispatcher/resource_table.v`, the search for the maximum.

    Examples
    --------
    >>> WorstFit().place("0111100111111100", 3)
    7
    """

    tie: Literal["low", "high"] = lever("low", description="which of equally large free runs is taken")

    @staticmethod
    def answer(see: PlacementView) -> int:
        return largest_run(see.free, see.length, see.levers.tie == 1)


GENERATOR = 0
"""Memory: the state of the random generator, never 0."""


class RandomFit(Placement):
    """Take a feasible start at random, each with the same probability; there are no ties.

    The numbers come from the policy's own generator, seeded from the run's seed, so that the workload of a paired
    comparison stays the same; a request that does not fit draws nothing. A floor for fragmentation.

    References
    ----------
    spec 1, section 7.

    Examples
    --------
    >>> RandomFit().place("0111100111111100", 4) in (1, 7, 8, 9, 10)
    True
    """

    draws = True

    @staticmethod
    def answer(see: PlacementView) -> int:
        starts = count_starts(see.free, see.length)
        return nth_start(see.free, see.length, below(see.memory, GENERATOR, starts)) if starts else NOWHERE

    def start_memory(self, segments: int, seed: int) -> np.ndarray:
        """Return the generator's state, drawn from the stream `random_fit` of the seed: int64[1]."""
        return np.array([max(Streams(seed).integer("random_fit"), 1)])
