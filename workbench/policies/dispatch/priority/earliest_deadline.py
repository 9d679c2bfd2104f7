"""Earliest deadline first: a priority is a promise of how long a group waits at most."""

from __future__ import annotations

import numpy as np

from workbench.compiled import kernel
from workbench.levers import lever
from workbench.policies.dispatch.one_each import lever_path, refuse_wrong_count
from workbench.policies.dispatch.priority.question import FOR_EVER, Priority
from workbench.policies.dispatch.priority.view import OrderView, PriorityView

STEP, FIRST = 0, 1


@kernel
def slack(priority: int, params: np.ndarray) -> int:
    """Return the cycles from an arrival to its deadline."""
    given, step = int(params.size) - FIRST, int(params[STEP])
    if given == 0:
        return step * priority
    return int(params[FIRST + min(priority, given) - 1]) + step * max(priority - given, 0)


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
        """Return what each priority adds, and the slacks: float64[1 + slacks]."""
        return np.array([self.cycles_a_level, *self.slacks], np.float64)
