"""Random: any holder."""

from __future__ import annotations

import numpy as np

from workbench.policies.translation.peer.question import Peer
from workbench.policies.translation.peer.view import PeerView
from workbench.streams import Streams
from workbench.structures.bitmaps import count_cores, next_core
from workbench.structures.rng import below

GENERATOR = 0
"""Memory: the state of the random generator, never 0."""


class Random(Peer):
    """Ask a holder at random, each equally likely; there are no ties.

    References
    ----------
    spec 4, R7.

    Examples
    --------
    >>> Random().ask("0110", seed=3) in (1, 2)
    True
    """

    draws = True

    @staticmethod
    def answer(see: PeerView) -> int:
        peer = next_core(see.others, 0, see.others.size, 0)
        for _ in range(below(see.memory, GENERATOR, count_cores(see.others, 0, see.others.size))):
            peer = next_core(see.others, 0, see.others.size, peer + 1)
        return peer

    def start_memory(self, cores: int, seed: int) -> np.ndarray:
        """Return the generator's state, drawn from the stream `random` of the seed: int64[1]."""
        return np.array([max(Streams(seed).integer("random"), 1)])
