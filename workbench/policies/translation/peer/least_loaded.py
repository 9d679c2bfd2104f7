"""Least loaded: the holder that has been asked least."""

from __future__ import annotations

from workbench.policies.translation.peer.question import Peer
from workbench.policies.translation.peer.view import PeerView
from workbench.structures.bitmaps import NOBODY, next_core


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

    @staticmethod
    def answer(see: PeerView) -> int:
        best = peer = next_core(see.others, 0, see.others.size, 0)
        while peer != NOBODY:
            if see.load[peer] < see.load[best]:
                best = peer
            peer = next_core(see.others, 0, see.others.size, peer + 1)
        return best
