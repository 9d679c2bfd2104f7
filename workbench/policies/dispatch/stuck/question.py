"""What becomes of a group that has been stuck for many rounds? (spec 3, Em. 3)

A round fails when a group waits and nothing is dispatched; a dispatch sets the count of failed rounds back. Once the
count exceeds `patience()`, the policy is asked about each group at a channel's head, in the order of the channels; its
answer takes a `StuckView`. The sub-groups take the group's place at the head of its channel one after another, waves
shared out evenly, the first ones with one more. When nothing is split, the count stays where it is and a later group at
a head is asked about at once (spec 3, E11).
"""

from __future__ import annotations

from typing import ClassVar, Literal, NamedTuple

import numpy as np

from workbench.compiled import Answer, Question
from workbench.errors import wrong_value
from workbench.policies.arguments import MOST_LEVELS, MOST_WAVES, truths, whole
from workbench.policies.dispatch.stuck.view import StuckView
from workbench.policies.policy import Policy

PARTS = Question(
    "stuck",
    StuckView,
    answers="into how many sub-groups the group is split, from 2 to `waves`; 0 or 1 leaves it whole",
    wrong="answered {answer} parts, but it has fewer waves, or they are not independent",
)
FOR_EVER = 1 << 62
"""The patience of a policy that is never asked."""

SubPriority = Literal["inherit", "lowest", "below_all"]
"""The priority of a sub-group: its group's; the lowest level; a level below the lowest that no window raises."""


class ReadyStuck(NamedTuple):
    """A policy for stuck groups as engines receive it."""

    answer: Answer
    params: np.ndarray
    patience: int
    look_ahead: int
    sub_priority: int
    """0 inherit, 1 lowest, 2 below all."""
    divides_shared: int


class Stuck(Policy, abstract=True):
    """The base of every policy for stuck groups; a new one needs an `answer`."""

    question: ClassVar[str] = "stuck"
    asks: ClassVar[Question] = PARTS

    def patience(self) -> int:
        """Return the failed rounds in a row that must be exceeded before the policy is asked."""
        return FOR_EVER

    def look_ahead(self) -> int:
        """Return how many groups behind the head of each channel may be dispatched while the head does not fit."""
        return 0

    def sub_priority(self) -> SubPriority:
        """Return the priority of a sub-group."""
        return "inherit"

    def divides_shared(self) -> bool:
        """Return whether a sub-group asks for its share of its group's module resources, rounded up, instead of all."""
        return False

    def rounds_until_asked(self, at: int = 0) -> int:
        """Return how many rounds in a row must fail until the policy is asked, counted from `at` failed ones (spec 3,
        E10)."""
        return max(self.patience() + 1 - whole("at", at), 1)

    def parts(self, waves: int, independent: bool = True, priority: int = 1, levels: int = 4) -> list[int]:
        """Return the waves of each sub-group that a group becomes when it is asked about; itself if it stays whole.

        Parameters
        ----------
        waves : int
            Waves of the group, at least 1.
        independent : bool
            Whether its waves may run apart.
        priority, levels : int
            Its static priority, and how many there are.

        Raises
        ------
        InputError
            The group has no wave.
        """
        waves, levels = whole("waves", waves, None, MOST_WAVES), whole("levels", levels, 1, MOST_LEVELS)
        priority, (independent,) = whole("priority", priority, 1, levels + 1), truths("independent", [independent], 1)
        if waves < 1:
            raise wrong_value("", "waves", "must be at least 1", waves, 1)
        seen = StuckView(waves, int(independent), priority, levels, self.parameters())
        parts = max(int(self.plain_answer()(seen)), 1)
        return [waves // parts + (k < waves % parts) for k in range(parts)]

    def ready(self, checked: bool = False) -> ReadyStuck:
        """Return the policy for a run."""
        return ReadyStuck(
            self.ready_answer(checked),
            self.parameters(),
            self.patience(),
            self.look_ahead(),
            ("inherit", "lowest", "below_all").index(self.sub_priority()),
            int(self.divides_shared()),
        )
