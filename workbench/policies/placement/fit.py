"""Placement into a free run (first, last, next, best, worst, random fit), and placement that needs no contiguous hole.

Without a hole: a byte counter (the rule of gem5's LDS and of GPGPU-Sim), pages behind a table, ranges that are moved.
Each is an upper bound for contiguous placement.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, ClassVar, Literal

import numpy as np

from workbench.errors import wrong_value
from workbench.levers import lever
from workbench.policies.placement.question import Layout, Placement
from workbench.policies.placement.view import REFUSED, PlacementNotice, PlacementView
from workbench.streams import Streams
from workbench.structures.bitmaps import (
    NOWHERE,
    count_free,
    count_starts,
    first_start,
    largest_run,
    last_start,
    next_free,
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


class ByteCounter(Placement):
    """Grant whenever enough segments are free in total, wherever they lie; there are no addresses, so no ties.

    gem5 and GPGPU-Sim compare the amount in use plus the request with the capacity. Nothing can fragment: an upper
    bound for every contiguous placement. The answer is the lowest free segment, which only says "fits".

    References
    ----------
    gem5, `src/gpu-compute/lds_state.hh`, `canReserve` and `reserveSpace`; GPGPU-Sim,
    `src/gpgpu-sim/gpu-sim.cc`, `occupy_shader_resource_1block`.

    Examples
    --------
    >>> ByteCounter().place("0101010101010101", 8), ByteCounter().place("0101010101010101", 9)
    (1, None)
    """

    upper_bound = True
    layout: ClassVar[Layout] = "scattered"
    addressed: ClassVar[bool] = False

    @staticmethod
    def answer(see: PlacementView) -> int:
        return next_free(see.free, 0) if count_free(see.free) >= see.length else REFUSED


class PagedMemory(Placement):
    """Grant whenever enough segments are free in total, taking the lowest free ones; there are no ties.

    A segment is a page, and a table translates a workgroup's addresses. Nothing fragments, but every access passes the
    table, so a workgroup holds its pages longer: an upper bound for contiguous placement that is not free of charge.
    What the table costs on hardware is not known; the lever is a modeling assumption.

    References
    ----------
    spec 1, section 7.

    Examples
    --------
    >>> PagedMemory().place("0101010101010101", 8)
    1
    >>> PagedMemory(access_penalty=0.1).lasting(100), PagedMemory(access_penalty=0.1).lasting(101)
    (110, 112)
    """

    upper_bound = True
    layout: ClassVar[Layout] = "scattered"
    access_penalty: float = lever(
        0.05,
        least=0,
        most=10,
        unit="of the duration",
        description="how much longer a workgroup runs because its accesses are translated",
    )

    @staticmethod
    def answer(see: PlacementView) -> int:
        return next_free(see.free, 0) if count_free(see.free) >= see.length else REFUSED

    def lasting(self, duration: Any) -> Any:
        """Return the duration with the penalty, rounded up to whole cycles; the product is rounded to a millionth
        first."""
        longer = np.ceil(np.round(np.asarray(duration) * (1 + self.access_penalty), 6)).astype(np.int64)
        return int(longer) if np.ndim(duration) == 0 else longer


class Compaction(Placement):
    """Place as `base` does; where that refuses although enough is free in total, the engine moves live ranges down.

    The range is then granted at the bottom of the one hole that is left. Ties break as in `base`. An upper bound for
    contiguous placement: nothing is refused that fits in total, and moving costs what the lever says.

    References
    ----------
    spec 1, section 7.

    Examples
    --------
    >>> Compaction().place("0111100111111100", 4), Compaction().place("0111100111111100", 8)
    (1, None)
    """

    upper_bound = True
    layout: ClassVar[Layout] = "compacting"
    base: Placement = lever(FirstFit(), description="the contiguous policy that places while it can")
    cycles_per_moved_segment: int = lever(
        0,
        least=0,
        most=1_000_000,
        unit="cycles",
        description="how long the allocator is busy for each live segment it moves",
    )

    def check(self) -> None:
        """Refuse a base that does not answer with contiguous ranges."""
        if self.base.layout != "contiguous":
            raise wrong_value(
                "", f"{self.name}.base", "must be a policy that grants contiguous ranges", self.base.short()
            )

    def function(self) -> Callable[..., int]:
        """Return the answer of the base."""
        return self.base.function()

    def speakers(self) -> Sequence[Placement]:
        """Return the base, whose functions answer."""
        return (self.base,)

    def lever_kinds(self) -> tuple[tuple[str, str], ...]:
        """Return those of the base, whose answer it is."""
        return self.base.lever_kinds()

    def parameters(self) -> np.ndarray:
        """Return the levers of the base, whose answer it is."""
        return self.base.parameters()

    def notice(self, name: str) -> Callable[..., Any] | None:
        """Return the base's notice of a grant."""
        return self.base.notice(name)

    def start_memory(self, segments: int, seed: int) -> np.ndarray:
        """Return the memory of the base."""
        return self.base.start_memory(segments, seed)

    def footprint(self, length: Any, segments: int) -> Any:
        """Return the footprint that the base gives."""
        return self.base.footprint(length, segments)

    def lasting(self, duration: Any) -> Any:
        """Return the cycles that the base gives."""
        return self.base.lasting(duration)

    def work_conserving(self) -> bool:
        """Return the answer of the base; if it refuses, the engine makes space."""
        return self.base.work_conserving()

    def serves_empty(self) -> bool:
        """Return the answer of the base."""
        return self.base.serves_empty()
