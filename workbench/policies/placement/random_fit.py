"""Random fit: any feasible start, each as likely as another."""

from __future__ import annotations

import numpy as np

from workbench.policies.placement.question import Placement
from workbench.policies.placement.view import PlacementView
from workbench.streams import Streams
from workbench.structures.bitmaps import NOWHERE, count_starts, nth_start
from workbench.structures.rng import below

GENERATOR = 0
"""Memory: the state of the random generator, never 0."""


class RandomFit(Placement):
    """Take a feasible start at random, each with the same probability; there are no ties.

    The numbers come from the policy's own generator, seeded from the run's seed, so that the workload of a paired
    comparison stays the same; a request that does not fit draws nothing. A floor for fragmentation.

    References
    ----------
    spec 1, section 7.

    Examples
    --------
    >>> RandomFit().place("0111100111111100", 4) in (1, 7, 8, 9, 10)
    True
    """

    draws = True

    @staticmethod
    def answer(see: PlacementView) -> int:
        starts = count_starts(see.free, see.length)
        return nth_start(see.free, see.length, below(see.memory, GENERATOR, starts)) if starts else NOWHERE

    def start_memory(self, segments: int, seed: int) -> np.ndarray:
        """Return the generator's state, drawn from the stream `random_fit` of the seed: int64[1]."""
        return np.array([max(Streams(seed).integer("random_fit"), 1)])
