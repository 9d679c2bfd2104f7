"""Least waves: join the shortest queue."""

from __future__ import annotations

from workbench.policies.dispatch.choice.load import ByLoad, idle_slots
from workbench.policies.dispatch.choice.view import ChoiceView


class LeastWaves(ByLoad):
    """Take the module in which the fewest waves run, or with `load="workgroups"` the fewest groups; ties as the engine.

    Counted by workgroups it is the rule to join the shortest queue. It balances slots, not registers or memory.

    References
    ----------
    spec 3, section 7: join shortest queue, least waves.

    Examples
    --------
    >>> LeastWaves().choose([(9, 9, 3, 9, 9), (1, 1, 7, 1, 9), (9, 9, 5, 9, 9)], totals=(9, 9, 10, 9, 9))
    1
    """

    @staticmethod
    def answer(see: ChoiceView) -> None:
        for k in range(see.count):
            see.scores[k] = idle_slots(see.modules[k], see.free, see.totals, see.levers)
