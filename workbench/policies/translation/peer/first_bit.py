"""First bit: the lowest core that holds the page."""

from __future__ import annotations

from workbench.policies.translation.peer.question import Peer
from workbench.policies.translation.peer.view import PeerView
from workbench.structures.bitmaps import next_core


class FirstBit(Peer):
    """Ask the holder with the lowest number, the first set bit of the record; there are no ties.

    References
    ----------
    spec 4, R7; source document paragraph 78.

    Examples
    --------
    >>> FirstBit().ask("0110")
    1
    """

    @staticmethod
    def answer(see: PeerView) -> int:
        return next_core(see.others, 0, see.others.size, 0)
