"""Random: any entry."""

from __future__ import annotations

import numpy as np

from workbench.policies.translation.eviction.question import Eviction
from workbench.policies.translation.eviction.view import EvictionView
from workbench.streams import Streams
from workbench.structures.rng import below

GENERATOR = 0
"""Memory: the state of the random generator, never 0."""


class Random(Eviction):
    """Evict an entry at random, each equally likely; further candidates are the ways behind it, in a circle; no ties.

    References
    ----------
    spec 4, section 2, `base_eviction`.

    Examples
    --------
    >>> "".join(Random().order(inserted="abcd", seed=1)) in ("abcd", "bcda", "cdab", "dabc")
    True
    """

    draws = True

    @staticmethod
    def answer(see: EvictionView) -> int:
        if see.nth == 0:
            return see.first + below(see.memory, GENERATOR, see.ways)
        return see.previous + 1 if see.previous + 1 < see.first + see.ways else see.first

    def start_memory(self, sets: int, ways: int, seed: int) -> np.ndarray:
        """Return the generator's state, drawn from the stream `random` of the seed: int64[1]."""
        return np.array([max(Streams(seed).integer("random"), 1)])
