"""Round robin over channels against its contract and its slow twin (spec 3, section 7)."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.oracles import dispatch_selection as twins
from tests.policies.dispatch.selection.together import prepared, walk_far, walk_together, walks
from workbench.policies.dispatch import ChannelRoundRobin
from workbench.policies.dispatch.selection.question import SelectionContract

AMONG = ["best_rank", "all_that_fit"]


class TestChannelRoundRobin(SelectionContract):
    policy = ChannelRoundRobin()


@given(st.sampled_from(AMONG), walks)
def test_walks_with_its_twin(among, walk):
    walk_together(ChannelRoundRobin(among=among), lambda: twins.ChannelRoundRobin(among), prepared(walk))


@pytest.mark.parametrize("among", AMONG)
def test_walks_far_with_its_twin(among):
    walk_far(ChannelRoundRobin(among=among), lambda channels: twins.ChannelRoundRobin(among))


@given(st.integers(1, 12), st.integers(1, 40))
def test_services_of_channels_that_always_wait_differ_by_at_most_one(channels, turns):
    rounds = ChannelRoundRobin().rounds(channels)
    picks = [rounds.pick(*range(channels)) for _ in range(turns)]
    counts = [picks.count(c) for c in range(channels)]
    assert max(counts) - min(counts) <= 1
