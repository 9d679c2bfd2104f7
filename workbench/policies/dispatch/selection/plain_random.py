"""Plain random: any candidate, each as likely as another; the baseline of the served marks."""

from __future__ import annotations

import numpy as np

from workbench.policies.dispatch.selection.by_channel import ByChannel, rank_limit
from workbench.policies.dispatch.selection.candidates import how_many, nth_candidate
from workbench.policies.dispatch.selection.view import SelectionView
from workbench.streams import Streams
from workbench.structures.rng import below

GENERATOR = 0
"""Memory: the state of the random generator, never 0."""


class PlainRandom(ByChannel):
    """Take a candidate at random, each with the same probability; there are no ties, and nothing is remembered.

    References
    ----------
    spec 3, section 7: what the marks of R10 are compared with (H3.3).

    Examples
    --------
    >>> PlainRandom().rounds(channels=3).pick(0, 2) in (0, 2)
    True
    """

    draws = True

    @staticmethod
    def answer(see: SelectionView) -> int:
        limit = rank_limit(see.count, see.rank, see.fits, see.levers)
        candidates = how_many(see.count, see.rank, see.fits, limit)
        drawn = below(see.memory, GENERATOR, candidates) if candidates else 0
        return nth_candidate(drawn, see.count, see.rank, see.fits, limit)

    def start_memory(self, channels: int, levels: int, seed: int) -> np.ndarray:
        """Return the generator's state, drawn from the stream `plain_random` of the seed: int64[1]."""
        return np.array([max(Streams(seed).integer("plain_random"), 1)])
