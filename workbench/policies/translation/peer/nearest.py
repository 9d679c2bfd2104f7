"""Nearest: the holder that is fewest hops away."""

from __future__ import annotations

from workbench.policies.translation.peer.question import Peer
from workbench.structures.core_bits import NOBODY, next_core


class Nearest(Peer):
    """Ask the holder that is fewest hops away; the lowest number wins a tie.

    References
    ----------
    spec 4, R7, V2.

    Examples
    --------
    >>> Nearest().ask("0110", hops=(0, 3, 1, 2))
    2
    """

    def answer(core, cores, others, hops, load, params, memory):  # type: ignore[no-untyped-def]
        best = peer = next_core(others, 0, others.size, 0)
        while peer != NOBODY:
            if hops[core * cores + peer] < hops[core * cores + best]:
                best = peer
            peer = next_core(others, 0, others.size, peer + 1)
        return best
