"""What every choice of a peer owes, as tests to join, for policies of this package or not.

from workbench.policies.translation.peer.contract import PeerContract

class TestMyPeer(PeerContract):
    policy = MyPeer()
"""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from workbench.policies.asking import KEPT, Asked, Scenes
from workbench.policies.contract import check
from workbench.policies.translation.of_cores import OfCores, two_of
from workbench.policies.translation.peer.question import Peer
from workbench.policies.translation.peer.view import PeerView

__all__ = ["PeerContract", "check"]


class PeerContract(OfCores):
    """Tests that every choice of a peer passes; a subclass names the policy."""

    policy: ClassVar[Peer]

    def scenes(self, policy: Peer, size: int, steps: int, draw: np.random.Generator) -> Scenes:
        """Ask about misses whose page some other cores hold."""
        for _ in range(steps):
            core, peer = two_of(draw, size)
            holders = int(draw.integers(1, 1 << size)) & ~(1 << core) or 1 << peer
            hops, load = draw.integers(0, 5, size * size), draw.integers(0, 9, size)
            yield PeerView(core, size, np.array([holders], np.uint64), hops, load, *KEPT)

    def judge(self, request: Asked) -> str:
        """Return a fault where the core that is asked does not hold the page."""
        core, see = request.answer, request.see
        holds = 0 <= core < see.cores and int(see.others[0]) >> core & 1
        return "" if holds else f"asks core {core}, which does not hold the page, for {see}"
