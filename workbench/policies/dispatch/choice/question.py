"""Which of the modules with space takes the group? (spec 3, Em. 9 and 10)

An answer takes a `ChoiceView` and gives every candidate a score; the highest is taken. A policy that must know which
module was taken also defines `chosen(see)`, which takes a `ChoiceNotice` after the group's resources are taken.

Rows of arrays of all modules begin at `modules[k] * totals.size` and `modules[k] * 6`. The order of resources is that
of the machine: by default vgpr, sgpr, waves (of units), shared, workgroups (of modules). Classes of instructions: move,
load, store, matrix, compare, jump.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, ClassVar, Literal, NamedTuple, Self

import numpy as np

from workbench.compiled import Answer, Question
from workbench.errors import InputError
from workbench.policies.arguments import seed_of, wholes
from workbench.policies.dispatch.choice.scene import Scene, scene, summed
from workbench.policies.dispatch.choice.view import INSTRUCTIONS, ChoiceNotice, ChoiceView, PagesNotice
from workbench.policies.policy import Policy

SCORE = Question(
    "choice",
    ChoiceView,
    returns="nothing",
    answers="nothing: it fills in the score of each candidate, the highest of which is taken",
    wrong="gave module {answer} a score that is no number, or an infinite one that cannot be summed",
)
CHOSEN = Question("choice notice", ChoiceNotice, returns="nothing")
HELD = Question("pages notice", PagesNotice, returns="nothing")


class ReadyChoice(NamedTuple):
    """A score as engines receive it."""

    answer: Answer
    chosen: Answer
    params: np.ndarray
    memory: np.ndarray
    history_cycles: int
    """The length of the sliding window, 0 = none."""
    halving_cycles: int
    """The period at which decaying counters are halved, 0 = none."""


class Choice(Policy, abstract=True):
    """The base of every module choice; a new one needs an `answer`."""

    question: ClassVar[str] = "choice"
    asks: ClassVar[Question] = SCORE
    tells = {"chosen": CHOSEN}
    rows_are: ClassVar[Literal["free", "recent", "heat"]] = "free"
    """What the rows are that `choose` is given."""
    classes: ClassVar[int] = INSTRUCTIONS
    """Numbers a module that the policy reads of the recent past."""
    chosen: ClassVar[Callable[..., Any] | None] = None

    def terms(self) -> tuple[tuple[Choice, float], ...]:
        """Return the scores that are summed, each with its weight; a single score is taken as it is.

        With several terms each score is first normalized over the candidates: (score - least) / (most - least), 0 where
        all are equal (spec 3, E20). The sum is then formed in the order of the terms.
        """
        return ((self, 1.0),)

    def history_cycles(self) -> int:
        """Return over how many of the latest cycles instructions are counted exactly, 0 = not at all."""
        return 0

    def halving_cycles(self) -> int:
        """Return the cycles after which counters of instructions are halved, 0 = no such counters."""
        return 0

    def needs_heat(self) -> bool:
        """Return whether the policy reads temperatures, so that heat must be simulated."""
        return False

    def start_memory(self, modules: int, seed: int) -> np.ndarray:
        """Return the memory of the policy at the start of a run: int64[memory_size], zeros unless it says otherwise."""
        return np.zeros(1, np.int64)

    def check_resources(self, names: Sequence[str], path: str = "", where: str = "") -> None:
        """Refuse levers that do not go with the machine's resources, such as a wrong number of weights."""

    def bound(self, names: Sequence[str]) -> Self:
        """Return the policy for a machine with these resources, in their order.

        Itself, unless it must know where a certain resource stands. Engines bind the policy before anything else.
        """
        return self

    def speakers(self) -> Sequence[Choice]:
        """Return the terms of the sum, whose functions answer."""
        return [term for term, _ in self.terms()]

    def needs_totals(self) -> bool:
        """Return whether the score divides by what an empty module has."""
        return False

    def scores(self, rows: Any, after: Sequence[int] = (), seed: int = 0, **seen: Any) -> list[float]:
        """Return the score of each module, in plain Python and without an engine; parameters as those of `choose`."""
        inputs, seed = scene(rows, self.rows_are, self.classes, **seen), seed_of(seed)
        after = wholes("after", after, 0, len(inputs.heat) - 1)
        if self.needs_totals() and not inputs.totals.all():
            raise InputError(f"{self.name} divides by totals; give choose the blocks of each resource: totals=(...).")
        bound = self.bound(inputs.names)
        bound.check_resources(inputs.names)
        return summed([(self._scores_of(term, inputs, after, seed), weight) for term, weight in bound.terms()])

    def choose(self, rows: Any, after: Sequence[int] = (), seed: int = 0, **seen: Any) -> int:
        """Choose the module that takes a group, in plain Python and without an engine; the lowest module wins a tie.

        Parameters
        ----------
        rows : sequence of sequences
            One row a module: free amounts of each resource, or, where that is what the policy reads, instructions of
            each class in its recent past; for `coolest_first` a number a module.
        after : sequence of int
            The modules that took groups before, in their order, for policies that remember.
        seed : int
            The seed of policies that draw.
        **seen : sequences, optional
            More of what the question shows: `free`, `longest`, `recent`, `heat` (a row a module); `demand`, `totals`,
            `names` (a value a resource); `modules` (the candidates; all if not given); `cycle`; `pages` of the group
            that each module holds. What is not given is zero; the longest runs are then the free amounts, and the
            names the usual ones where there are five.

        Raises
        ------
        InputError
            There is no module, rows differ in length, or the levers do not go with the resources.
        """
        scores = self.scores(rows, after, seed, **seen)
        candidates = seen.get("modules")
        return int((range(len(scores)) if candidates is None else candidates)[scores.index(max(scores))])

    @staticmethod
    def _scores_of(term: Choice, inputs: Scene, after: Sequence[int], seed: int) -> np.ndarray:
        count = len(inputs.heat)
        memory, params, scores = term.start_memory(count, seed), term.parameters(), np.zeros(len(inputs.modules))
        for module in after:
            term.tell("chosen", ChoiceNotice(module, count, params, memory))
        if "held" in term.tells:
            term.tell("held", PagesNotice(inputs.pages, params, memory))
        term.plain_answer()(ChoiceView(inputs.cycle, scores.size, *inputs.columns(), scores, params, memory))
        return scores

    def ready(self, modules: int, seed: int = 0, checked: bool = False) -> ReadyChoice:
        """Return the score for one run: compiled functions, parameters, fresh memory."""
        return ReadyChoice(
            self.ready_answer(checked),
            self.ready_notice("chosen", checked),
            self.parameters(),
            self.start_memory(modules, seed),
            self.history_cycles(),
            self.halving_cycles(),
        )
