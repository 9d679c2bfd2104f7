"""Ageing: who waits long rises."""

from __future__ import annotations

from workbench.levers import lever
from workbench.policies.dispatch.priority.question import FOR_EVER, Priority
from workbench.policies.dispatch.priority.view import OrderView, PriorityView

STEP, ABOVE = 0, 1


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
