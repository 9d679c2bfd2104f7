"""Least loaded: the holder that has been asked least."""

from __future__ import annotations

from workbench.policies.translation.peer.question import Peer
from workbench.structures.core_bits import NOBODY, next_core


class LeastLoaded(Peer):
    """Ask the holder that has been sent the fewest requests so far; the lowest number wins a tie.

    References
    ----------
    spec 4, R7.

    Examples
    --------
    >>> LeastLoaded().ask("0111", load=(0, 5, 2, 2))
    2
    """

    def answer(core, cores, others, hops, load, params, memory):  # type: ignore[no-untyped-def]
        best = peer = next_core(others, 0, others.size, 0)
        while peer != NOBODY:
            if load[peer] < load[best]:
                best = peer
            peer = next_core(others, 0, others.size, peer + 1)
        return best
