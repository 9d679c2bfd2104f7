"""Two choices: the better one of two cards drawn at random."""

from __future__ import annotations

import numpy as np

from workbench.policies.pool.target.question import Target
from workbench.policies.pool.target.view import TargetView
from workbench.streams import Streams
from workbench.structures.rng import below

GENERATOR = 0
"""Memory: the state of the random generator, never 0."""


class TwoChoices(Target):
    """Draw two of the candidates and take the one with more free memory; ties as the engine breaks them.

    Every pair is equally likely. The card that is taken scores 2, the other one 1, or 2 as well at a tie, all others 0.

    References
    ----------
    spec 5, section 7. Mitzenmacher, "The Power of Two Choices in Randomized Load Balancing", IEEE TPDS 12(10), 2001.

    Examples
    --------
    >>> TwoChoices().choose(20, [("gpu1", 90, 24), ("gpu2", 95, 24)])
    'gpu2'
    """

    draws = True

    @staticmethod
    def answer(see: TargetView) -> None:
        for k in range(see.count):
            see.scores[k] = 0.0
        one = below(see.memory, GENERATOR, see.count)
        see.scores[one] = 2.0
        if see.count > 1:
            two = below(see.memory, GENERATOR, see.count - 1)
            two += two >= one
            ahead = see.free[see.cards[one]] - see.free[see.cards[two]]
            see.scores[two] = 2.0 if ahead <= 0 else 1.0
            see.scores[one] = 2.0 if ahead >= 0 else 1.0

    def start_memory(self, cards: int, seed: int) -> np.ndarray:
        """Return the generator's state, drawn from the stream `two_choices` of the seed: int64[1]."""
        return np.array([max(Streams(seed).integer("two_choices"), 1)])
