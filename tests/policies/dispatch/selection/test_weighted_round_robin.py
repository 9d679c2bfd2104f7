"""Weighted round robin against its contract and its slow twin (spec 3, section 7)."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.oracles import dispatch_selection as twins
from tests.policies.dispatch.selection.together import CHANNELS, prepared, walk_far, walk_together, walks
from workbench.errors import InputError
from workbench.policies.dispatch import WeightedRoundRobin
from workbench.policies.dispatch.selection.question import SelectionContract

AMONG = ["best_rank", "all_that_fit"]


class TestWeightedRoundRobin(SelectionContract):
    policy = WeightedRoundRobin()


class TestANumberForEachChannel(SelectionContract):
    policy = WeightedRoundRobin(weights=(3, 1, 2))
    sizes = (3,)


@given(st.sampled_from(AMONG), st.lists(st.integers(1, 4), min_size=CHANNELS, max_size=CHANNELS), walks)
def test_walks_with_its_twin(among, weights, walk):
    policy = WeightedRoundRobin(weights=weights, among=among)
    walk_together(policy, lambda: twins.WeightedRoundRobin(weights, among), prepared(walk))


@pytest.mark.parametrize("among", AMONG)
def test_walks_far_with_its_twin(among):
    walk_far(WeightedRoundRobin(among=among), lambda channels: twins.WeightedRoundRobin(None, among))
    weights = (5, 1, 3, 2, 7)
    policy = WeightedRoundRobin(weights=weights, among=among)
    walk_far(policy, lambda channels: twins.WeightedRoundRobin(weights, among), [5])


@given(st.lists(st.integers(1, 9), min_size=1, max_size=6), st.integers(1, 5))
def test_channels_that_always_wait_are_served_by_their_weights_exactly(weights, laps):
    rounds = WeightedRoundRobin(weights=weights).rounds(len(weights))
    picks = [rounds.pick(*range(len(weights))) for _ in range(laps * sum(weights))]
    assert [picks.count(c) for c in range(len(weights))] == [laps * w for w in weights]


def test_refuses_a_wrong_number_of_weights():
    WeightedRoundRobin(weights=(3, 1)).check_run(2, 4)
    WeightedRoundRobin().check_run(7, 4)
    with pytest.raises(InputError) as refused:
        WeightedRoundRobin(weights=(3, 1)).check_run(4, 4, "policy.selection.weighted_round_robin", "a.yaml")
    assert str(refused.value) == (
        "a.yaml: policy.selection.weighted_round_robin.weights must hold one number for each of the 4 channels. "
        "Got (3, 1). Nearest: (3, 1, 1, 1)."
    )
    with pytest.raises(InputError, match=r"^weighted_round_robin\.weights .* Nearest: \(3,\)\.$"):
        WeightedRoundRobin(weights=(3, 1)).rounds(channels=1)
