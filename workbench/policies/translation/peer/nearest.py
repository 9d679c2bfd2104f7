"""Nearest: the holder that is fewest hops away."""

from __future__ import annotations

from workbench.policies.translation.peer.question import Peer
from workbench.policies.translation.peer.view import PeerView
from workbench.structures.bitmaps import NOBODY, next_core


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

    @staticmethod
    def answer(see: PeerView) -> int:
        best = peer = next_core(see.others, 0, see.others.size, 0)
        while peer != NOBODY:
            if see.hops[see.core * see.cores + peer] < see.hops[see.core * see.cores + best]:
                best = peer
            peer = next_core(see.others, 0, see.others.size, peer + 1)
        return best
