"""Aggregation of small requests alone."""

from __future__ import annotations

from workbench.policies.malloc import SmallAggregated
from workbench.policies.malloc.serve import ServeContract


class TestSmallAggregated(ServeContract):
    policy = SmallAggregated(warp_size=8, below_bytes=64)


def test_large_requests_and_a_lone_small_one_are_asked_for_as_they_are():
    policy = SmallAggregated(warp_size=4, below_bytes=16, align=8, block_header_bytes=4, piece_header_bytes=4)
    served = policy.served([8, 100, 9, 40])
    assert [(one.leader, one.total, one.lanes) for one in served] == [
        (0, 8 + 16 + 16, [0, 2]),
        (1, 104, [1]),
        (3, 40, [3]),
    ]
    assert [one.total for one in policy.served([8, 100])] == [8, 104]
