"""Which of the waiting groups is dispatched in this round? (spec 3, Em. 1)

An answer takes a `SelectionView`; it is asked when at least one group fits. An answer of -1 leaves the memory as it was
and depends on ranks and fits alone, so that rounds in which nothing changes can be skipped; what a policy remembers, it
remembers when it has chosen.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar, NamedTuple

import numpy as np

from workbench.compiled import Answer, Question
from workbench.policies.dispatch.selection.view import SelectionView
from workbench.policies.policy import Policy

if TYPE_CHECKING:
    from workbench.policies.dispatch.selection.rounds import Rounds

NOBODY = -1
"""The answer that says: dispatch nothing in this round."""

SELECT = Question(
    "selection",
    SelectionView,
    answers="the position, from 0 to `count` - 1, of a group that fits; or -1: nothing is dispatched in this round",
    wrong="answered {answer}, which is not the position of a waiting group that fits; -1 dispatches nothing",
)


class ReadySelection(NamedTuple):
    """A selection policy as engines receive it."""

    answer: Answer
    params: np.ndarray
    memory: np.ndarray


class Selection(Policy, abstract=True):
    """The base of every selection policy; a new one needs an `answer`."""

    question: ClassVar[str] = "selection"
    asks: ClassVar[Question] = SELECT

    def start_memory(self, channels: int, levels: int, seed: int) -> np.ndarray:
        """Return what the policy remembers at the start of a run: int64[memory_size], zeros unless it says
        otherwise."""
        return np.zeros(1, np.int64)

    def check_run(self, channels: int, levels: int, path: str = "", where: str = "") -> None:
        """Refuse channels or priorities that this policy's levers do not go with."""

    def work_conserving(self) -> bool:
        """Return whether it always chooses somebody when anybody fits; one that may answer -1 says so here."""
        return True

    def rounds(self, channels: int, levels: int = 4, seed: int = 0) -> Rounds:
        """Return a run of this policy alone, to be tried out round by round.

        >>> from workbench.policies.dispatch.selection import ChannelRoundRobin
        >>> rounds = ChannelRoundRobin().rounds(channels=3)
        >>> [rounds.pick(0, 1, 2) for _ in range(4)]
        [0, 1, 2, 0]
        """
        from workbench.policies.dispatch.selection.rounds import Rounds

        return Rounds(self, channels, levels, seed)

    def ready(self, channels: int, levels: int, seed: int = 0, checked: bool = False) -> ReadySelection:
        """Return the policy for one run: compiled function, parameters, fresh memory."""
        memory = self.start_memory(channels, levels, seed)
        return ReadySelection(self.ready_answer(checked), self.parameters(), memory)
