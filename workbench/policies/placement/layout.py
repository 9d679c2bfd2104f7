"""Placement that needs no contiguous hole: a byte counter, pages behind a table, ranges that are moved.

Each is an upper bound for contiguous placement; `ByteCounter` is the rule of gem5's LDS and of GPGPU-Sim.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, ClassVar

import numpy as np

from workbench.errors import wrong_value
from workbench.levers import lever
from workbench.policies.placement.fit import FirstFit
from workbench.policies.placement.question import REFUSED, Layout, Placement, PlacementView
from workbench.structures.bitmaps import count_free, next_free


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

    layout: ClassVar[Layout] = "scattered"
    addressed: ClassVar[bool] = False

    @staticmethod
    def answer(see: PlacementView) -> int:
        return next_free(see.free, 0) if count_free(see.free) >= see.length else REFUSED


class PagedMemory(Placement):
    """Grant whenever enough segments are free in total, taking the lowest free ones; there are no ties.

    A segment is a page, and a table translates a workgroup's addresses. Nothing fragments, but every access passes the
    table, so a workgroup holds its pages longer: an upper bound for contiguous placement that is not free of charge.
    What the table costs on hardware is not known; the lever is a modelling assumption.

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
        """Return what the base is told of grants."""
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
        """Return what the base says: what it refuses, the engine makes room for."""
        return self.base.work_conserving()

    def serves_empty(self) -> bool:
        """Return what the base says."""
        return self.base.serves_empty()
