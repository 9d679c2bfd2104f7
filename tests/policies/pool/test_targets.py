"""Every choice of a card joins its contract."""

from workbench.policies.pool import (
    BandwidthThenMostFree,
    Bind,
    ConsistentHashing,
    FirstTouch,
    HostOffload,
    Interleave,
    LeastBorrowed,
    LeastLoaded,
    LocalOnly,
    MaxBandwidth,
    MostFree,
    Nearest,
    Preferred,
    RandomCard,
    RoundRobin,
    TwoChoices,
    WeightedCards,
)
from workbench.policies.pool.target.question import TargetContract


class TestBandwidthThenMostFree(TargetContract):
    policy = BandwidthThenMostFree(threshold_gbps=24)


class TestBind(TargetContract):
    policy = Bind(cards="gpu1 cpu0")


class TestConsistentHashing(TargetContract):
    policy = ConsistentHashing()


class TestFirstTouch(TargetContract):
    policy = FirstTouch()


class TestHostOffload(TargetContract):
    policy = HostOffload()


class TestInterleave(TargetContract):
    policy = Interleave()


class TestLeastBorrowed(TargetContract):
    policy = LeastBorrowed()


class TestLeastBorrowedOtherwise(TargetContract):
    policy = LeastBorrowed(shape="share")


class TestLeastBorrowedAThirdWay(TargetContract):
    policy = LeastBorrowed(shape="halving")


class TestLeastLoaded(TargetContract):
    policy = LeastLoaded()


class TestLocalOnly(TargetContract):
    policy = LocalOnly()


class TestMaxBandwidth(TargetContract):
    policy = MaxBandwidth(shape="square")


class TestMostFree(TargetContract):
    policy = MostFree(shape="square_root")


class TestNearest(TargetContract):
    policy = Nearest()


class TestPreferred(TargetContract):
    policy = Preferred(cards="gpu1 gpu0")


class TestRandomCard(TargetContract):
    policy = RandomCard()


class TestRoundRobin(TargetContract):
    policy = RoundRobin()


class TestTwoChoices(TargetContract):
    policy = TwoChoices()


class TestWeightedCards(TargetContract):
    policy = WeightedCards(weights=(1, 2, 3), normalise=False)
