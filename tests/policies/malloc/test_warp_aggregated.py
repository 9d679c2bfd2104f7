"""Warp aggregated against its contract, by hand, and what it refuses."""

from __future__ import annotations

import pytest

from tests.junk import refusal
from workbench.policies.malloc import WarpAggregated
from workbench.policies.malloc.serve import ServeContract


class TestWarpAggregated(ServeContract):
    policy = WarpAggregated(zero_policy="null", leader_rule="any")


def test_zero_bytes_are_raised_or_get_nothing():
    """Spec 2, E6."""
    assert WarpAggregated().offsets([0, 8]) == [(12, [0, 4])]
    (served,) = WarpAggregated(zero_policy="null").served([0, 8])
    assert (served.total, served.lanes, served.leader) == (8, [1], 1)
    assert WarpAggregated(zero_policy="null").offsets([0, 0]) == []


def test_the_floor_is_no_rounding_but_the_alignment_is():
    """Spec 2, R5, E5."""
    assert WarpAggregated(align=1).offsets([5, 1])[0] == (9, [0, 5])
    assert WarpAggregated().offsets([5, 1])[0] == (12, [0, 8])
    assert WarpAggregated(min_alloc=6).offsets([5, 1])[0] == (16, [0, 8])


@pytest.mark.parametrize(("rule", "leader"), [("first_active", 2), ("first", None)])
def test_a_leader_that_does_not_call(rule, leader):
    """Spec 2, E7."""
    (served,) = WarpAggregated(leader_rule=rule).served([4] * 4, active=[False, False, True, True])
    assert (served.leader, served.lanes, served.total) == (leader, [2, 3], 8)


def test_any_lane_may_lead():
    policy = WarpAggregated(leader_rule="any")
    leaders = {served.leader for served in policy.served([4] * 32_000)}
    assert leaders == set(range(32))


def test_padding_lanes_are_listed_where_that_is_asked_for():
    assert WarpAggregated(warp_size=4, align=1, pad=True).offsets([5] * 6) == [
        (20, [0, 5, 10, 15]),
        (10, [0, 5, 10, 10]),
    ]


@pytest.mark.parametrize(
    ("levers", "sentence"),
    [
        ({"warp_size": 0}, "warp_aggregated.warp_size must be a whole number from 1 to 1024. Got 0. Nearest: 1."),
        ({"align": 12}, "warp_aggregated.align must be a power of two"),
        (
            {"free_policy": "piecewise", "prefix": "as_written"},
            "free_policy piecewise needs pieces that do not overlap",
        ),
        ({"prefix": "exclusiv"}, "Nearest: exclusive."),
    ],
)
def test_wrong_levers_are_one_sentence(levers, sentence):
    message = refusal(WarpAggregated, **levers)
    assert sentence in message
    assert "\n" not in message


@pytest.mark.parametrize("wrong", [-1, 2**40 + 1, 1.5, "8", None, True])
def test_absurd_byte_counts_are_one_sentence(wrong):
    message = refusal(WarpAggregated().offsets, [4, wrong])
    assert message.startswith("requests[1] must be a whole number of bytes from 0 to 2^40. Got")


def test_a_first_lane_that_asks_for_nothing_does_not_lead():
    (served,) = WarpAggregated(leader_rule="first", zero_policy="null").served([0, 8])
    assert (served.leader, served.lanes) == (None, [1])
