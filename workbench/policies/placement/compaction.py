"""Compaction: live ranges are moved together when nothing else helps."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, ClassVar

import numpy as np

from workbench.errors import wrong_value
from workbench.levers import lever
from workbench.policies.placement.first_fit import FirstFit
from workbench.policies.placement.question import Layout, Placement


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
