"""Lottery against its contract and its slow twin, roll by roll (spec 3, section 7)."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from tests.oracles import dispatch_selection as twins
from tests.policies.dispatch.selection.together import CHANNELS, dice, prepared, walk_far, walk_together, walks
from workbench.errors import InputError
from workbench.policies.dispatch import Lottery
from workbench.policies.dispatch.selection.question import SelectionContract

AMONG = ["best_rank", "all_that_fit"]


class TestLottery(SelectionContract):
    policy = Lottery()


class TestANumberForEachChannel(SelectionContract):
    policy = Lottery(tickets=(1, 3, 2))
    sizes = (3,)


@given(st.sampled_from(AMONG), st.lists(st.integers(1, 9), min_size=CHANNELS, max_size=CHANNELS), walks)
def test_walks_with_its_twin(among, tickets, walk):
    policy = Lottery(tickets=tickets, among=among)
    walk_together(policy, lambda: twins.Lottery(dice(policy), tickets, among), prepared(walk))


@pytest.mark.parametrize("among", AMONG)
def test_walks_far_with_its_twin(among):
    policy = Lottery(among=among)
    walk_far(policy, lambda channels: twins.Lottery(dice(policy, channels), None, among))


def test_shares_follow_the_tickets():
    rounds = Lottery(tickets=(1, 2, 5)).rounds(channels=3)
    picks = [rounds.pick(0, 1, 2) for _ in range(1200)]
    assert stats.chisquare([picks.count(c) for c in range(3)], [150, 300, 750]).pvalue > 0.001


def test_refuses_a_wrong_number_of_tickets():
    with pytest.raises(
        InputError, match=r"^lottery\.tickets must .* 3 channels\. Got \(1, 2\)\. Nearest: \(1, 2, 2\)\.$"
    ):
        Lottery(tickets=(1, 2)).rounds(channels=3)
