"""Multilevel feedback against its contract and its slow twin (spec 3, section 7)."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.oracles import dispatch_selection as twins
from tests.policies.dispatch.selection.together import CHANNELS, prepared, walk_far, walk_together, walks
from workbench.policies.dispatch import Head, MultilevelFeedback
from workbench.policies.dispatch.selection.question import SelectionContract

AMONG = ["best_rank", "all_that_fit"]


class TestMultilevelFeedback(SelectionContract):
    policy = MultilevelFeedback(queues=2, quantum=5, boost_cycles=300, among="all_that_fit")


@given(st.sampled_from(AMONG), st.integers(1, 4), st.integers(1, 30), st.integers(0, 200), walks)
def test_walks_with_its_twin(among, queues, quantum, boost, walk):
    policy = MultilevelFeedback(queues=queues, quantum=quantum, boost_cycles=boost, among=among)
    walk_together(policy, lambda: twins.MultilevelFeedback(CHANNELS, queues, quantum, boost, among), prepared(walk))


@pytest.mark.slow
@pytest.mark.parametrize("among", AMONG)
@pytest.mark.parametrize(("queues", "quantum", "boost"), [(3, 64, 2000), (5, 7, 0), (9, 5, 150)])
def test_walks_far_with_its_twin(among, queues, quantum, boost):
    policy = MultilevelFeedback(queues=queues, quantum=quantum, boost_cycles=boost, among=among)
    walk_far(policy, lambda n: twins.MultilevelFeedback(n, queues, quantum, boost, among), (1, 3, 64))


def test_who_takes_little_goes_before_who_takes_much():
    rounds = MultilevelFeedback(queues=2, quantum=16).rounds(channels=2)
    picks = [rounds.pick(Head(0, waves=16), Head(1, waves=1)) for _ in range(17)]
    assert picks == [0] + [1] * 16


def test_a_boost_counts_for_the_very_next_choice():
    rounds = MultilevelFeedback(queues=2, quantum=8, boost_cycles=3).rounds(channels=3)
    assert [rounds.pick(Head(0, waves=8), Head(1, waves=1)) for _ in range(3)] == [0, 1, 1]
    assert rounds.pick(Head(0), Head(1)) == 0, "at cycle 3 all are in the first queue again, and 0 comes behind 1"
