"""Random card: any that has room."""

from __future__ import annotations

import numpy as np

from workbench.policies.pool.target.question import Target
from workbench.policies.pool.target.view import TargetView
from workbench.streams import Streams
from workbench.structures.rng import below

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

    @staticmethod
    def answer(see: TargetView) -> None:
        for k in range(see.count):
            see.scores[k] = 0.0
        see.scores[below(see.memory, GENERATOR, see.count)] = 1.0

    def start_memory(self, cards: int, seed: int) -> np.ndarray:
        """Return the generator's state, drawn from the stream `random_card` of the seed: int64[1]."""
        return np.array([max(Streams(seed).integer("random_card"), 1)])
