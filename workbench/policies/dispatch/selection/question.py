"""Which of the waiting groups is dispatched in this round? (spec 3, Em. 1)

An answer takes a `SelectionView`; it is asked when at least one group fits. An answer of -1 leaves the memory as it was
and depends on ranks and fits alone, so that rounds in which nothing changes can be skipped; what a policy remembers, it
remembers when it has chosen.

What every policy owes, in a test file, for policies of this package or not:

    class TestMySelection(SelectionContract):
        policy = MySelection(turns=3)
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, ClassVar, NamedTuple

import numpy as np

from workbench.compiled import Answer, Question
from workbench.policies.contract import Contract
from workbench.policies.dispatch.selection.view import NOBODY, SelectionView
from workbench.policies.policy import Policy
from workbench.policies.scenes import KEPT, Request, Scenes, Speaker, plain
from workbench.streams import Streams

if TYPE_CHECKING:
    from workbench.policies.dispatch.selection.stepper import SelectionStepper

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
        """Return the memory of the policy at the start of a run: int64[memory_size], zeros unless it says otherwise."""
        return np.zeros(1, np.int64)

    def check_run(self, channels: int, levels: int, path: str = "", where: str = "") -> None:
        """Refuse channels or priorities that this policy's levers do not go with."""

    def work_conserving(self) -> bool:
        """Return whether it always chooses somebody when anybody fits; one that may answer -1 says so here."""
        return True

    def rounds(self, channels: int, levels: int = 4, seed: int = 0) -> SelectionStepper:
        """Return a run of this policy alone, to be tried out round by round.

        >>> from workbench.policies.dispatch.selection import ChannelRoundRobin
        >>> rounds = ChannelRoundRobin().rounds(channels=3)
        >>> [rounds.pick(0, 1, 2) for _ in range(4)]
        [0, 1, 2, 0]
        """
        # Imported here: a run's id digests what is global, and rounds by hand decide no run.
        from workbench.policies.dispatch.selection.stepper import SelectionStepper

        return SelectionStepper(self, channels, levels, seed)

    def ready(self, channels: int, levels: int, seed: int = 0, checked: bool = False) -> ReadySelection:
        """Return the policy for one run: compiled function, parameters, fresh memory."""
        memory = self.start_memory(channels, levels, seed)
        return ReadySelection(self.ready_answer(checked), self.parameters(), memory)


SPARE = 2
"""Entries behind the last waiting group: arrays may be longer than the round."""
LATER = 10_000


class SelectionContract(Contract):
    """Tests that every selection policy passes; a subclass names the policy."""

    policy: ClassVar[Selection]
    sizes = (1, 2, 3, 8, 64)
    """Numbers of channels that the policy is made for."""
    steps = 150
    tried = 60
    levels: ClassVar[int] = 4
    settings = ("policy", "sizes", "steps", "levels")

    def start_memory(self, policy: Selection, size: int, seed: int) -> np.ndarray:
        """Return the memory of the policy at the start of a run with so many channels."""
        return policy.start_memory(size, self.levels, seed)

    def scenes(self, policy: Selection, size: int, steps: int, draw: np.random.Generator) -> Scenes:
        """Ask about rounds at rising cycles."""
        policy.check_run(size, self.levels)
        yield from rounds(size, self.levels, steps)

    def judge(self, request: Request) -> str:
        """Return a fault where the answer is no group that fits, or is NONE without saying that it may be."""
        see, chosen = request.see, request.answer
        if chosen == NOBODY:
            return self._fault_of_nobody(request)
        if not (0 <= chosen < see.count and see.fits[chosen]):
            return f"answered {chosen}, which is no group that fits, for {see}"
        return ""

    def _fault_of_nobody(self, request: Request) -> str:
        """Return a fault unless NONE is allowed, not remembered, and stays NONE while nothing but time changes."""
        if self.policy.work_conserving():
            return f"chose nobody for {request.see}; one that may do so overrides work_conserving"
        if request.see.memory.tolist() != request.after.memory.tolist():
            return f"chose nobody and remembered something, for {request.see}"
        later = request.see._replace(cycle=request.see.cycle + LATER, waited=request.see.waited + LATER)
        if Speaker(self.policy, request.see.memory.copy(), plain(self.policy)).ask(later) != NOBODY:
            return f"chose nobody for {request.see}, and somebody when only time had passed"
        return ""

    def test_chooses_nobody_if_it_says_that_it_may(self) -> None:
        nobody = any(requested.answer == NOBODY for requested in self.requests())
        assert nobody != self.policy.work_conserving(), "says that it may choose nobody, and always chooses somebody"


def rounds(channels: int, levels: int, steps: int, seed: int = 0) -> Iterator[SelectionView]:
    """Yield rounds at rising cycles, each with some channels waiting, of which at least one has a group that fits.

    Ranks follow the static priorities, or lie close together, or are negative. Now and then only one channel waits.
    """
    draw, cycle = Streams(seed)["rounds"], 0
    for _ in range(steps):
        yield _round(draw, cycle, channels, levels)
        cycle += int(draw.integers(0, 40))


def _round(draw: np.random.Generator, cycle: int, channels: int, levels: int) -> SelectionView:
    waiting = int(draw.integers(1, channels + 1))
    channel = np.sort(draw.permutation(channels)[:waiting])
    priority = draw.integers(1, levels + 2, waiting)
    rank = priority if draw.random() < 0.5 else draw.integers(-2, 2, waiting)
    fits = draw.random(waiting) < (0.2, 0.6, 1.0)[int(draw.integers(3))]
    fits[int(draw.integers(waiting))] = True
    columns = (channel, priority, rank, fits, draw.integers(0, 50, waiting), draw.integers(1, 17, waiting))
    return SelectionView._make((cycle, waiting, *(_longer(column, draw) for column in columns), *KEPT))


def _longer(column: np.ndarray, draw: np.random.Generator) -> np.ndarray:
    return np.concatenate([column.astype(np.int64), draw.integers(0, 2, SPARE)])
