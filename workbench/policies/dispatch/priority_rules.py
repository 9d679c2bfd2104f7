"""Rules of priority: none, static, windows, ageing, earliest deadline (spec 3, Em. 2).

`PriorityWindows` is the proposal of the source document: every priority is on top for a while.
"""

from __future__ import annotations

import numpy as np

from workbench.compiled import kernel
from workbench.errors import wrong_value
from workbench.levers import lever
from workbench.policies.arguments import lever_path, refuse_wrong_count
from workbench.policies.dispatch.priority import FOR_EVER, OrderView, Priority, PriorityView


class NoPriority(Priority):
    """Give every group the same rank, so that all of them tie and the selection alone decides.

    A sub-group that was put below all priorities stays below them. A selection sees priority 1 of all others.

    References
    ----------
    spec 3, E3; section 7: what the channel policies of the simulators (`AS_FOUND` of dispatch) know of priorities.

    Examples
    --------
    >>> NoPriority().ranks([1, 4, 5], levels=4)
    [0, 0, 1]
    """

    one_label = True

    @staticmethod
    def answer(see: PriorityView) -> int:
        return 1 if see.priority > see.levels else 0

    @staticmethod
    def holds_until(see: OrderView) -> int:
        return FOR_EVER


class StaticPriority(Priority):
    """Rank a group by its static priority, 1 first; equal priorities tie, and the selection decides among them.

    Nothing keeps a low priority from starving under a lasting load of a higher one.

    References
    ----------
    spec 3, R16; the baseline of the priority windows (H3.5).

    Examples
    --------
    >>> StaticPriority().order(cycle=0), StaticPriority().order(cycle=9)
    ((1, 2, 3, 4), (1, 2, 3, 4))
    """

    @staticmethod
    def answer(see: PriorityView) -> int:
        return see.priority

    @staticmethod
    def holds_until(see: OrderView) -> int:
        return FOR_EVER


SHORTEST, FIRST_WINDOW = 0, 1
"""Parameters: the default's shortest window, then the lengths where they are given."""
ON_TOP = 0
"""The rank of a raised priority; the others keep their own number, from 1."""


@kernel
def how_many(levels: int, params: np.ndarray) -> int:
    """Return the number of windows: as many as lengths were given, else one a priority."""
    given = int(params.size) - FIRST_WINDOW
    return given if given else levels


@kernel
def length(window: int, levels: int, params: np.ndarray) -> int:
    """Return the cycles of a window, counted from 0."""
    if params.size > FIRST_WINDOW:
        return int(params[FIRST_WINDOW + window])
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


class Ageing(Priority):
    """Raise every waiting group by one priority at each tick of one counter for all, at most to the highest.

    Equal ranks tie, and the selection decides. A group that was put below all priorities rises like the others. With
    `above_highest` a group goes on rising, so that among groups that wait the order never changes again.

    References
    ----------
    spec 3, section 7; A. Silberschatz, P. Galvin, G. Gagne, Operating System Concepts, priority scheduling: ageing.

    Examples
    --------
    >>> Ageing(cycles_a_level=100).ranks([4, 4, 4, 2], levels=4, cycle=1000, waited=[0, 1, 250, 900])
    [4, 3, 1, 1]
    """

    cycles_a_level: int = lever(
        1024,
        least=1,
        most=1 << 20,
        scale="log",
        unit="cycles",
        description="between two ticks, at which every group rises",
    )
    above_highest: bool = lever(False, description="whether a group rises further once it has the highest priority")

    @staticmethod
    def answer(see: PriorityView) -> int:
        step = see.levers.cycles_a_level
        rank = see.priority - (see.cycle // step - (see.cycle - see.waited) // step)
        return rank if see.levers.above_highest else max(rank, 1)

    @staticmethod
    def holds_until(see: OrderView) -> int:
        step = see.levers.cycles_a_level
        return FOR_EVER if see.levers.above_highest else (see.cycle // step + 1) * step


DEADLINE_STEP, FIRST_DEADLINE = 0, 1


@kernel
def slack(priority: int, params: np.ndarray) -> int:
    """Return the cycles from an arrival to its deadline."""
    given, step = int(params.size) - FIRST_DEADLINE, int(params[DEADLINE_STEP])
    if given == 0:
        return step * priority
    return int(params[FIRST_DEADLINE + min(priority, given) - 1]) + step * max(priority - given, 0)


class EarliestDeadline(Priority):
    """Rank a group by the cycles to its deadline, which lies behind its arrival by the slack of its priority.

    Equal deadlines tie, and the selection decides; a deadline that has passed ranks before all that have not. As all
    groups that wait come nearer to their deadlines together, an order once found holds until something arrives. A
    sub-group below all priorities has the slack of the lowest and `cycles_a_level` more.

    References
    ----------
    spec 3, section 7; C. Liu, J. Layland, "Scheduling Algorithms for Multiprogramming in a Hard-Real-Time
    Environment", Journal of the ACM 20(1), 1973: deadline driven scheduling.

    Examples
    --------
    >>> EarliestDeadline(slacks=(100, 400)).ranks([1, 2, 2], levels=2, cycle=1000, waited=[30, 350, 500])
    [70, 50, -100]
    >>> EarliestDeadline(cycles_a_level=100).order(cycle=0)
    (1, 2, 3, 4)
    """

    slacks: tuple[int, ...] = lever(
        (),
        least=0,
        most=1 << 30,
        unit="cycles",
        description="from arrival to deadline, the highest priority first; none = 1, 2, ..., S times cycles_a_level",
    )
    cycles_a_level: int = lever(
        1024, least=1, most=1 << 20, scale="log", unit="cycles", description="how much slack each priority adds"
    )

    @staticmethod
    def answer(see: PriorityView) -> int:
        return slack(see.priority, see.levers) - see.waited

    @staticmethod
    def holds_until(see: OrderView) -> int:
        return FOR_EVER

    def check_levels(self, levels: int, path: str = "", where: str = "") -> None:
        """Refuse a number of slacks that is not that of the priorities."""
        refuse_wrong_count(lever_path(path, self.name, "slacks"), self.slacks, levels, "priorities", where)

    def order(self, cycle: int, levels: int | None = None) -> tuple[int, ...]:
        """Return the static priorities from the most urgent on; as many as there are slacks unless it is said."""
        return super().order(cycle, (len(self.slacks) or 4) if levels is None else levels)

    def parameters(self) -> np.ndarray:
        """Return the addition of each priority, and the slacks: float64[1 + slacks]."""
        return np.array([self.cycles_a_level, *self.slacks], np.float64)
