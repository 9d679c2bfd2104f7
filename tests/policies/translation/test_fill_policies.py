"""Every policy of the question `fill` against its contract."""

from __future__ import annotations

from workbench.policies.translation.fill import (
    DemandAlways,
    FillContract,
    GateAny,
    GatePair,
    GateWhenFull,
    LeaderFollower,
    PushNeighbours,
    PushPair,
)


class TestDemandAlways(FillContract):
    policy = DemandAlways()


class TestGateAny(FillContract):
    policy = GateAny(fill_threshold=2)


class TestGatePair(FillContract):
    policy = GatePair()


class TestGateWhenFull(FillContract):
    policy = GateWhenFull()


class TestPushPair(FillContract):
    policy = PushPair()


class TestPushNeighbours(FillContract):
    policy = PushNeighbours(reach=2)


class TestLeaderFollower(FillContract):
    policy = LeaderFollower()
