"""Two choices: the better one of two cards drawn at random."""

from __future__ import annotations

import numpy as np

from workbench.policies.pool.target.question import Target
from workbench.streams import Streams
from workbench.structures.xorshift import below

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

    def answer(borrower, count, cards, size, free, gbps, hops, lent, held, totals, hosts, scores, params, memory):  # type: ignore[no-untyped-def]
        for k in range(count):
            scores[k] = 0.0
        one = below(memory, GENERATOR, count)
        scores[one] = 2.0
        if count > 1:
            two = below(memory, GENERATOR, count - 1)
            two += two >= one
            ahead = free[cards[one]] - free[cards[two]]
            scores[two] = 2.0 if ahead <= 0 else 1.0
            scores[one] = 2.0 if ahead >= 0 else 1.0

    def start_memory(self, cards: int, seed: int) -> np.ndarray:
        """The generator's state, drawn from the stream `two_choices` of the seed: int64[1]."""
        return np.array([max(Streams(seed).integer("two_choices"), 1)])
