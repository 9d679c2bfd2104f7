"""Least borrowed from: the document's third weight."""

from __future__ import annotations

from typing import Literal

from workbench.levers import lever
from workbench.policies.pool.target.question import Target
from workbench.policies.pool.target.view import TargetView

RECIPROCAL, SHARE, HALVING = range(3)


class LeastBorrowed(Target):
    """Take the card from which the borrower got memory least often lately; ties as the engine breaks them.

    In a sum it is the weight w3, a decreasing function of the count c: 1 / (1 + c), 1 - c / total, or 2 to the power of
    -c. Over how many requests grants are counted, and whether bytes are, is up to the engine.

    References
    ----------
    spec 5, R21, E13.

    Examples
    --------
    >>> cards, history = [("gpu3", 40, 150), ("gpu6", 60, 150)], {"gpu3": 1, "gpu6": 3}
    >>> LeastBorrowed().scores(20, cards, history=history)
    {'gpu3': 0.5, 'gpu6': 0.25}
    >>> LeastBorrowed(shape="share").scores(20, cards, history=history)
    {'gpu3': 0.75, 'gpu6': 0.25}
    """

    shape: Literal["reciprocal", "share", "halving"] = lever(
        "reciprocal", description="the decreasing function of how often a card lent"
    )

    @staticmethod
    def answer(see: TargetView) -> None:
        total = 0.0
        for card in range(see.lent.size):
            total += see.lent[card]
        for k in range(see.count):
            times = see.lent[see.cards[k]]
            if see.levers.shape == RECIPROCAL:
                see.scores[k] = 1.0 / (1.0 + times)
            elif see.levers.shape == SHARE:
                see.scores[k] = 1.0 - times / total if total > 0.0 else 1.0
            else:
                see.scores[k] = 2.0 ** -min(times, 1000.0)
