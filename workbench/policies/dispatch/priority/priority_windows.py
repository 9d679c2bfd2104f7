"""Priority windows: every priority is on top for a while; the proposal of the source document."""

from __future__ import annotations

import numpy as np

from workbench.compiled import kernel
from workbench.errors import wrong_value
from workbench.levers import lever
from workbench.policies.dispatch.one_each import lever_path, refuse_wrong_count
from workbench.policies.dispatch.priority.question import FOR_EVER, Priority
from workbench.policies.dispatch.priority.view import OrderView, PriorityView

SHORTEST, FIRST = 0, 1
"""Parameters: the default's shortest window, then the lengths where they are given."""
ON_TOP = 0
"""The rank of a raised priority; the others keep their own number, from 1."""


@kernel
def how_many(levels: int, params: np.ndarray) -> int:
    """Return the number of windows: as many as lengths were given, else one a priority."""
    given = int(params.size) - FIRST
    return given if given else levels


@kernel
def length(window: int, levels: int, params: np.ndarray) -> int:
    """Return the cycles of a window, counted from 0."""
    if params.size > FIRST:
        return int(params[FIRST + window])
    return int(params[SHORTEST]) * (levels - window)


@kernel
def open_window(cycle: int, levels: int, params: np.ndarray) -> tuple[int, int]:
    """Return the window that the cyclic counter is in, from 0, and how many of its cycles are left, this one
    included."""
    windows, period = how_many(levels, params), 0
    for window in range(windows):
        period += length(window, levels, params)
    window, left = 0, length(0, levels, params) - cycle % period
    while left <= 0:
        window += 1
        left += length(window, levels, params)
    return window, left


class PriorityWindows(Priority):
    """Raise priority y to the top while a cyclic counter of cycles is in window y; the others keep their order.

    The counter starts with the run, at the first window. Groups of the same static priority tie. A sub-group below all
    priorities is never raised. Any lasting load then leaves each priority its window: waiting is bounded by the period.

    References
    ----------
    spec 3, R16-R20 (B1-B4); E8 for the default lengths; V28, V29.

    Examples
    --------
    >>> windows = PriorityWindows(lengths=(8, 4, 2, 1))
    >>> windows.order(cycle=7), windows.order(cycle=9)
    ((1, 2, 3, 4), (2, 1, 3, 4))
    >>> PriorityWindows(shortest=1).order(cycle=9, levels=4)  # 4, 3, 2, 1 cycles
    (4, 1, 2, 3)
    """

    lengths: tuple[int, ...] = lever(
        (),
        least=1,
        most=1 << 30,
        unit="cycles",
        description="how long each priority is on top, the highest first; none = S, S - 1, ..., 1 times the shortest",
    )
    shortest: int = lever(
        64, least=1, most=1 << 20, scale="log", unit="cycles", description="the last window, where no lengths are given"
    )
    unmatched: bool = lever(
        False,
        description="whether there may be more or fewer windows than priorities; one without a window is never raised",
    )
    increasing: bool = lever(False, description="whether a window may be longer than the one before it")

    @staticmethod
    def answer(see: PriorityView) -> int:
        window, _ = open_window(see.cycle, see.levels, see.levers)
        return ON_TOP if see.priority == window + 1 and see.priority <= see.levels else see.priority

    @staticmethod
    def holds_until(see: OrderView) -> int:
        if see.levels == 1 or how_many(see.levels, see.levers) == 1:
            return FOR_EVER
        _, left = open_window(see.cycle, see.levels, see.levers)
        return see.cycle + left

    def check(self) -> None:
        """Refuse windows that grow, unless that is asked for (spec 3, R17)."""
        falling = tuple(sorted(self.lengths, reverse=True))
        if self.lengths != falling and not self.increasing:
            expected = "must not increase from one window to the next (or set increasing)"
            raise wrong_value("", f"{self.name}.lengths", expected, self.lengths, falling)

    def check_levels(self, levels: int, path: str = "", where: str = "") -> None:
        """Refuse a number of windows that is not that of the priorities (spec 3, E8)."""
        if not self.unmatched:
            name = lever_path(path, self.name, "lengths")
            refuse_wrong_count(name, self.lengths, levels, "priorities", where, " (or set unmatched)")

    def order(self, cycle: int, levels: int | None = None) -> tuple[int, ...]:
        """Return the static priorities from the most urgent on; as many as there are lengths unless it is said."""
        return super().order(cycle, (len(self.lengths) or 4) if levels is None else levels)

    def parameters(self) -> np.ndarray:
        """Return the shortest window and the lengths: float64[1 + windows]."""
        return np.array([self.shortest, *self.lengths], np.float64)
