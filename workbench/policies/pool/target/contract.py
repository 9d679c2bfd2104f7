"""What every choice of a card owes, as tests to join, for policies of this package or not.

from workbench.policies.pool.target.contract import TargetContract

class TestMyTarget(TargetContract):
    policy = MyTarget()
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import ClassVar

import numpy as np

from workbench.policies.asking import ANSWER, KEPT, Asked, Scenes
from workbench.policies.contract import Contract, check
from workbench.policies.pool.target.plain import Scene
from workbench.policies.pool.target.question import Target
from workbench.policies.pool.target.view import TargetNotice, TargetView

__all__ = ["TargetContract", "check"]

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
        """Return what a term remembers at the start of a run on so many cards."""
        return policy.start_memory(size, seed)

    def scenes(self, policy: Target, size: int, steps: int, draw: np.random.Generator) -> Scenes:
        """Ask about boards in all states, some cards alike, and tell of the card that scores highest."""
        for _ in range(steps):
            displayed = _drawn(draw, size)
            scores = np.full(displayed.cards.size + 1, UNTOUCHED)
            yield TargetView._make((*displayed.arguments(), scores, *KEPT))
            yield "chosen", TargetNotice(int(displayed.cards[np.argmax(scores[:-1])]), size, *KEPT)

    def judge(self, request: Asked) -> str:
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
