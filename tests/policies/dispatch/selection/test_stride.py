"""Stride scheduling against its contract and its slow twin, which counts in fractions (spec 3, section 7)."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.oracles import dispatch_selection as twins
from tests.policies.dispatch.selection.together import CHANNELS, prepared, walk_far, walk_together, walks
from tests.slow import LONG
from workbench.errors import InputError
from workbench.policies.dispatch import Head, Stride
from workbench.policies.dispatch.selection.question import SelectionContract

AMONG = ["best_rank", "all_that_fit"]
exact = st.sampled_from([1, 2, 4, 8, 16])
"""Tickets whose strides are whole: the integers of the policy are then the fractions of its twin."""


class TestStride(SelectionContract):
    policy = Stride()


class TestANumberForEachChannel(SelectionContract):
    policy = Stride(tickets=(3, 1, 2))
    sizes = (3,)


@given(st.sampled_from(AMONG), st.lists(exact, min_size=CHANNELS, max_size=CHANNELS), walks)
def test_walks_with_its_twin(among, tickets, walk):
    walk_together(Stride(tickets=tickets, among=among), lambda: twins.Stride(tickets, among), prepared(walk))


@pytest.mark.parametrize("among", AMONG)
def test_walks_far_with_its_twin(among):
    walk_far(Stride(among=among), lambda channels: twins.Stride([1] * channels, among))
    walk_far(Stride(tickets=(8, 1, 2, 1, 4), among=among), lambda channels: twins.Stride([8, 1, 2, 1, 4], among), [5])


@given(st.lists(exact, min_size=1, max_size=6), st.integers(1, 4))
def test_channels_that_always_wait_are_served_by_their_tickets_exactly(tickets, laps):
    rounds = Stride(tickets=tickets).rounds(len(tickets))
    picks = [rounds.pick(*range(len(tickets))) for _ in range(laps * sum(tickets))]
    assert [picks.count(c) for c in range(len(tickets))] == [laps * t for t in tickets]


@given(st.lists(st.integers(1, 50), min_size=2, max_size=6))
def test_passes_of_channels_that_always_wait_differ_by_at_most_a_stride(tickets):
    rounds = Stride(tickets=tickets).rounds(len(tickets))
    for _ in range(300 if LONG else 75):
        rounds.pick(*range(len(tickets)))
        assert max(rounds.memory) - min(rounds.memory) <= (1 << 30) // min(tickets)


def test_who_comes_back_has_saved_nothing_and_who_did_not_fit_keeps_its_claim():
    absent, unfit = Stride().rounds(channels=2), Stride().rounds(channels=2)
    for _ in range(5):
        absent.pick(0)
        unfit.pick(0, Head(1, fits=False))
    assert [absent.pick(0, 1) for _ in range(4)] == [1, 0, 1, 0]
    assert [unfit.pick(0, 1) for _ in range(6)] == [1, 1, 1, 1, 1, 0]


def test_refuses_a_wrong_number_of_tickets():
    with pytest.raises(InputError, match=r"^stride\.tickets must hold one number for each of the 3 channels"):
        Stride(tickets=(1, 2)).rounds(channels=3)
