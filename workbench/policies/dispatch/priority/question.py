"""Which waiting group is more urgent? (spec 3, Em. 2)

An answer takes a `PriorityView`. It remembers nothing. So that idle cycles can be skipped, a second function
`holds_until(see)`, which takes an `OrderView`, returns the first cycle after `see.cycle` at which the order of two
groups that wait all the while may differ; one that is not defined means: at the very next cycle.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, ClassVar, NamedTuple

import numpy as np

from workbench.compiled import Answer, Question
from workbench.policies.arguments import MOST_LEVELS, listed, whole, wholes
from workbench.policies.dispatch.priority.view import OrderView, PriorityView
from workbench.policies.policy import Policy

RANK = Question("priority", PriorityView, answers="the group's rank, a whole number: the lowest rank is served first")
HOLDS = Question("how long an order holds", OrderView)
FOR_EVER = 1 << 62
"""What `holds_until` returns when the order never changes."""


class ReadyPriority(NamedTuple):
    """A priority policy as engines receive it."""

    answer: Answer
    holds_until: Answer
    params: np.ndarray


class Priority(Policy, abstract=True):
    """The base of every priority policy; a new one needs an `answer`."""

    question: ClassVar[str] = "priority"
    asks: ClassVar[Question] = RANK
    tells = {"holds_until": HOLDS}
    holds_until: ClassVar[Callable[..., Any] | None] = None
    one_label: ClassVar[bool] = False
    """Whether all groups but sub-groups below all count as of priority 1 for whoever selects (spec 3, E3)."""

    def check_levels(self, levels: int, path: str = "", where: str = "") -> None:
        """Refuse a number of priorities that this policy is not made for."""

    def order(self, cycle: int, levels: int = 4) -> tuple[int, ...]:
        """Return the static priorities from the most urgent on, at a cycle, for groups that arrive at that cycle.

        The higher static priority wins a tie.
        """
        cycle, levels = whole("cycle", cycle), whole("levels", levels, 1, MOST_LEVELS)
        self.check_levels(levels)
        ranks = self.ranks(range(1, levels + 1), levels, cycle)
        return tuple(priority for _, priority in sorted(zip(ranks, range(1, levels + 1))))

    def ranks(
        self, priorities: Sequence[int], levels: int = 4, cycle: int = 0, waited: Sequence[int] = ()
    ) -> list[int]:
        """Return the rank of each of several groups at a cycle, given their static priorities; the lowest is served
        first.

        Parameters
        ----------
        priorities : sequence of int
            The static priority of each, 1 = highest; `levels` + 1 is a sub-group below all.
        levels : int
            How many priorities there are.
        cycle : int
            The cycle of the round.
        waited : sequence of int
            Cycles since each arrived; nobody has waited if empty.

        Raises
        ------
        InputError
            A number lies outside of its range, or not each has a waiting time.
        """
        cycle, levels = whole("cycle", cycle), whole("levels", levels, 1, MOST_LEVELS)
        self.check_levels(levels)
        answer, params = self.plain_answer(), self.parameters()
        each = wholes("priorities", priorities, 1, levels + 1)
        since = wholes("waited", waited, count=len(each) if len(listed("waited", waited)) else 0) or [0] * len(each)
        return [int(answer(PriorityView(cycle, p, levels, w, params))) for p, w in zip(each, since, strict=True)]

    def ready(self, checked: bool = False) -> ReadyPriority:
        """Return the policy for a run."""
        return ReadyPriority(
            self.ready_answer(checked),
            self.ready_notice("holds_until", checked),
            self.parameters(),
        )
