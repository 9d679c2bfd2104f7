"""Random card: any that has room."""

from __future__ import annotations

import numpy as np

from workbench.policies.pool.target.question import Target
from workbench.streams import Streams
from workbench.structures.xorshift import below

GENERATOR = 0
"""Memory: the state of the random generator, never 0."""


class RandomCard(Target):
    """Take any candidate, each as likely as another: it scores 1 and all others 0; there are no ties.

    References
    ----------
    spec 5, section 7.

    Examples
    --------
    >>> RandomCard().choose(20, [("gpu1", 10, 24), ("gpu2", 90, 24)])
    'gpu2'
    """

    draws = True

    def answer(borrower, count, cards, size, free, gbps, hops, lent, held, totals, hosts, scores, params, memory):  # type: ignore[no-untyped-def]
        for k in range(count):
            scores[k] = 0.0
        scores[below(memory, GENERATOR, count)] = 1.0

    def start_memory(self, cards: int, seed: int) -> np.ndarray:
        """The generator's state, drawn from the stream `random_card` of the seed: int64[1]."""
        return np.array([max(Streams(seed).integer("random_card"), 1)])
