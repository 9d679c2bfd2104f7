"""Every policy for idle memory joins its contract."""

from workbench.policies.pool import KeepAll, Largest, LeastRecentlyUsed, SmallestSufficient
from workbench.policies.pool.idle import IdleContract


class TestKeepAll(IdleContract):
    policy = KeepAll()


class TestLargest(IdleContract):
    policy = Largest(limit_bytes_a_card=100)


class TestLeastRecentlyUsed(IdleContract):
    policy = LeastRecentlyUsed(limit_bytes_a_card=100)


class TestSmallestSufficient(IdleContract):
    policy = SmallestSufficient(limit_bytes_a_card=100)
