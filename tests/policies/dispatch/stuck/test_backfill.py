"""Backfilling against its contract, alone and before splitting (spec 3, section 7)."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from workbench.policies.dispatch import Backfill, NeverSplit, SplitWhenStuck
from workbench.policies.dispatch.stuck import StuckContract
from workbench.policies.policy import read_policy


class TestBackfill(StuckContract):
    policy = Backfill()


class TestBackfillThenSplit(StuckContract):
    policy = Backfill(depth=2, upstream=SplitWhenStuck(threshold=16, shared="divided"))


@given(
    st.integers(1, 64),
    st.integers(1, 4096),
    st.sampled_from(["waves", "halves"]),
    st.sampled_from(["inherit", "lowest", "below_all"]),
    st.sampled_from(["full", "divided"]),
)
def test_all_but_looking_ahead_is_upstream(depth, threshold, into, priority, shared):
    upstream = SplitWhenStuck(threshold=threshold, into=into, priority=priority, shared=shared)
    ready, theirs = Backfill(depth=depth, upstream=upstream).ready(), upstream.ready()
    assert ready.look_ahead == depth
    assert ready[2:3] + ready[4:] == theirs[2:3] + theirs[4:]
    assert ready.params.tolist() == theirs.params.tolist()
    assert ready.answer == theirs.answer


def test_alone_it_never_splits():
    assert {request.answer for request in TestBackfill().requests()} == {1}
    assert Backfill().patience() == NeverSplit().patience()


def test_nests_and_is_written_in_a_sweep():
    assert Backfill(depth=2, upstream=Backfill(depth=5)).look_ahead() == 5
    assert Backfill(depth=7, upstream=Backfill(depth=5)).look_ahead() == 7
    written = {"backfill": {"depth": 3, "upstream": {"split_when_stuck": {"threshold": 64}}}}
    assert read_policy("stuck", written) == Backfill(depth=3, upstream=SplitWhenStuck(threshold=64))
