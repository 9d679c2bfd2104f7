"""Every policy of the question `peer` against its contract."""

from __future__ import annotations

from workbench.policies.translation.peer import FirstBit, LeastLoaded, Nearest, PeerContract, Random


class TestFirstBit(PeerContract):
    policy = FirstBit()


class TestNearest(PeerContract):
    policy = Nearest()


class TestRandom(PeerContract):
    policy = Random()


class TestLeastLoaded(PeerContract):
    policy = LeastLoaded()
