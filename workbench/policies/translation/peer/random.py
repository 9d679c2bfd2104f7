"""Random: any holder."""

from __future__ import annotations

import numpy as np

from workbench.policies.translation.peer.question import Peer
from workbench.streams import Streams
from workbench.structures.core_bits import count_cores, next_core
from workbench.structures.xorshift import below

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

    def answer(core, cores, others, hops, load, params, memory):  # type: ignore[no-untyped-def]
        peer = next_core(others, 0, others.size, 0)
        for _ in range(below(memory, GENERATOR, count_cores(others, 0, others.size))):
            peer = next_core(others, 0, others.size, peer + 1)
        return peer

    def start_memory(self, cores: int, seed: int) -> np.ndarray:
        """The generator's state, drawn from the stream `random` of the seed: int64[1]."""
        return np.array([max(Streams(seed).integer("random"), 1)])
