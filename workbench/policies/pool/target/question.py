"""Which card lends memory? (spec 5, R15, R18-R21)

An answer takes a `TargetView` and gives every candidate a score; the highest is taken, and of equal ones the lowest
card or the one with most free memory, as the engine is told. A policy that must know which card was taken also defines
`chosen(see)`, which takes a `TargetNotice`.

What every choice owes, in a test file, for policies of this package or not:

    class TestMyTarget(TargetContract):
        policy = MyTarget()
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any, ClassVar, Literal, NamedTuple

import numpy as np

from workbench.compiled import Answer, Question
from workbench.policies.contract import Contract
from workbench.policies.policy import Policy
from workbench.policies.pool.target.scene import Scene, choose
from workbench.policies.pool.target.view import TargetNotice, TargetView
from workbench.policies.scenes import ANSWER, KEPT, Request, Scenes

SCORE = Question(
    "target",
    TargetView,
    returns="nothing",
    answers="nothing: it fills in the score of each candidate, the highest of which is taken",
    wrong="gave card {answer} a score that is no number, or infinite; only minus infinity, not summed, refuses one",
)
CHOSEN = Question("target notice", TargetNotice, returns="nothing")
Tie = Literal["lowest_id", "most_free"]


class ReadyTarget(NamedTuple):
    """A score as engines receive it."""

    answer: Answer
    chosen: Answer
    params: np.ndarray
    memory: np.ndarray


class Target(Policy, abstract=True):
    """The base of every choice of a card; a new one needs an `answer`."""

    question: ClassVar[str] = "target"
    asks: ClassVar[Question] = SCORE
    tells = {"chosen": CHOSEN}
    chosen: ClassVar[Callable[..., Any] | None] = None

    def terms(self) -> tuple[tuple[Target, float], ...]:
        """Return the scores that are summed, each with its weight, in their order; a single one is taken as it is."""
        return ((self, 1.0),)

    def speakers(self) -> Sequence[Target]:
        """Return the terms of the sum, whose functions answer."""
        return [term for term, _ in self.terms()]

    def normalises(self) -> bool:
        """Return whether each of several scores is first divided by the largest of the candidates (spec 5, E12)."""
        return True

    def filters(self) -> bool:
        """Return whether only cards that can hold the request are candidates (spec 5, E11)."""
        return True

    def own_first(self) -> bool:
        """Return whether the own card is tried before any other (spec 5, R10); else it is a candidate like the
        others."""
        return True

    def parameters_on(self, ids: Sequence[str]) -> np.ndarray:
        """Return the levers as the answer sees them on a board whose cards have these ids; most levers name no card.

        Raises
        ------
        InputError
            A lever names a card that the board does not have.
        """
        return self.parameters()

    def start_memory(self, cards: int, seed: int) -> np.ndarray:
        """Return the memory of the policy at the start of a run: int64[memory_size], zeros unless it says otherwise."""
        return np.zeros(1, np.int64)

    def fallbacks(self, memory: np.ndarray) -> int:
        """Return, from its memory, the number of times that its wish could not be met (spec 5, E10)."""
        return 0

    def choose(
        self,
        size: int,
        cards: Sequence[tuple[str, int, float]],
        history: Mapping[str, int] | None = None,
        tie: Tie = "lowest_id",
        after: Sequence[str] = (),
        seed: int = 0,
        **seen: Any,
    ) -> str | None:
        """Choose the card that lends, in plain Python and without an engine; None = none can or may.

        Parameters
        ----------
        size : int
            Bytes that are asked for.
        cards : sequence of (name, free bytes, GB/s to the borrower)
            The other cards, the lowest id first.
        history : mapping, optional
            How often the borrower got memory from each card lately; 0 where it is not named.
        tie : {"lowest_id", "most_free"}
            Which of the cards with the highest score is taken.
        after : sequence of str
            The cards that lent before, in their order, for policies that remember.
        seed : int
            The seed of policies that draw.
        **seen : sequences, optional
            More of what the question shows, a value a card: `hops` (1), `held` (0), `totals` (`free` and `held`),
            `hosts` (1 where the name begins with cpu).

        Raises
        ------
        InputError
            There is no card, or what is shown is not known.
        """
        return choose(self, size, cards, {} if history is None else history, tie, after, seed, seen)

    def scores(self, size: int, cards: Sequence[tuple[str, int, float]], **seen: Any) -> dict[str, float]:
        """Return the score of each candidate by name; parameters as those of `choose`."""
        from workbench.policies.pool.target.scene import scored

        return scored(self, size, cards, **seen)

    def ready(self, ids: Sequence[str], seed: int = 0, checked: bool = False) -> ReadyTarget:
        """Return the score for one run on a board of these cards: compiled functions, parameters, fresh memory."""
        return ReadyTarget(
            self.ready_answer(checked),
            self.ready_notice("chosen", checked),
            self.parameters_on(ids),
            self.start_memory(len(ids), seed),
        )


UNTOUCHED = 77.0
IDS = ("gpu0", "cpu0", "gpu1", "gpu2", "gpu3", "gpu4")
"""What the cards are called; a policy that names cards names some of the first three."""


class TargetContract(Contract):
    """Tests that every choice of a card passes; a subclass names the policy."""

    policy: ClassVar[Target]
    sizes = (len(IDS),)
    steps = 25

    def speakers(self) -> Sequence[Target]:
        """Return the terms of the sum."""
        return [term for term, _ in self.policy.terms()]

    def levers(self, policy: Target) -> np.ndarray:
        """Return the numbers that answers see on a board of these cards."""
        return policy.parameters_on(IDS)

    def start_memory(self, policy: Target, size: int, seed: int) -> np.ndarray:
        """Return the memory of a term at the start of a run on so many cards."""
        return policy.start_memory(size, seed)

    def scenes(self, policy: Target, size: int, steps: int, draw: np.random.Generator) -> Scenes:
        """Ask about boards in all states, some cards alike, and tell of the card that scores highest."""
        for _ in range(steps):
            displayed = _drawn(draw, size)
            scores = np.full(displayed.cards.size + 1, UNTOUCHED)
            yield TargetView._make((*displayed.arguments(), scores, *KEPT))
            yield "chosen", TargetNotice(int(displayed.cards[np.argmax(scores[:-1])]), size, *KEPT)

    def judge(self, request: Request) -> str:
        """Return a fault where a candidate has no score, or something behind the last one is written."""
        if request.name != ANSWER:
            return ""
        scores = request.after.scores
        if np.isnan(scores).any() or (scores == math.inf).any():
            return f"scored {scores[:-1].tolist()} for {request.see}"
        return "" if scores[-1] == UNTOUCHED else f"wrote behind the last candidate, for {request.see}"

    def test_nothing_has_happened_at_the_start_of_a_run(self) -> None:
        assert all(term.fallbacks(term.start_memory(8, 5)) == 0 for term in self.speakers())

    def test_terms_are_single_scores_with_weights(self) -> None:
        for term, weight in self.policy.terms():
            assert term.terms() == ((term, 1.0),), "a sum within the sum"
            assert weight >= 0, "a weight below zero"

    def test_chooses_one_of_the_cards_or_none(self) -> None:
        cards = list(zip(IDS[:3], (50, 90, 90), (24.0, 12.0, 150.0), strict=True))
        card = self.policy.choose(60, cards)
        assert card in ("cpu0", "gpu1", None) or not self.policy.filters()
        assert self.policy.choose(100, cards) is None or not self.policy.filters()


def _drawn(draw: np.random.Generator, cards: int) -> Scene:
    free, held = draw.integers(0, 1 << int(draw.integers(3, 40)), cards), draw.integers(0, 1 << 20, cards)
    free[draw.integers(0, cards, 2)] = free[0]
    return Scene(
        borrower=cards,
        cards=np.sort(draw.permutation(cards)[: draw.integers(1, cards + 1)]),
        size=int(draw.integers(1, 100)),
        free=free,
        gbps=draw.choice([12.0, 24.0, 48.0, 150.0], cards),
        hops=draw.integers(1, 4, cards),
        lent=draw.choice([0.0, 1.0, 7.0, 5000.0], cards),
        held=held,
        totals=free + held + 1,
        hosts=draw.integers(0, 2, cards),
    )
