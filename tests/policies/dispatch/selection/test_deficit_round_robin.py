"""Deficit round robin against its contract and its slow twin, which goes round visit by visit."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.oracles import dispatch_selection as twins
from tests.policies.dispatch.selection.together import CHANNELS, prepared, walk_far, walk_together, walks
from tests.slow import LONG
from workbench.policies.dispatch import DeficitRoundRobin, Head
from workbench.policies.dispatch.selection.question import SelectionContract

AMONG = ["best_rank", "all_that_fit"]


class TestDeficitRoundRobin(SelectionContract):
    policy = DeficitRoundRobin()


@given(st.sampled_from(AMONG), st.integers(1, 20), walks)
def test_walks_with_its_twin(among, quantum, walk):
    policy = DeficitRoundRobin(quantum=quantum, among=among)
    walk_together(policy, lambda: twins.DeficitRoundRobin(CHANNELS, quantum, among), prepared(walk))


@pytest.mark.parametrize("among", AMONG)
@pytest.mark.parametrize("quantum", [1, 5, 16, 40])
def test_walks_far_with_its_twin(among, quantum):
    policy = DeficitRoundRobin(quantum=quantum, among=among)
    walk_far(policy, lambda channels: twins.DeficitRoundRobin(channels, quantum, among), (1, 3, 64))


@given(st.lists(st.integers(1, 16), min_size=2, max_size=5), st.integers(16, 40))
def test_waves_of_channels_that_always_wait_differ_by_less_than_a_quantum_and_a_group(sizes, quantum):
    """Shreedhar and Varghese: with a quantum of at least the largest group, services differ by a bounded amount."""
    rounds, sent = DeficitRoundRobin(quantum=quantum).rounds(len(sizes)), [0] * len(sizes)
    for _ in range(300 if LONG else 75):
        sent[rounds.pick(*(Head(c, waves=w) for c, w in enumerate(sizes)))] += 1
        waves = [count * size for count, size in zip(sent, sizes, strict=True)]
        assert max(waves) - min(waves) <= quantum + 2 * max(sizes)


def test_a_channel_without_a_group_loses_what_it_saved_and_one_that_does_not_fit_keeps_it():
    for absent, saved in ((True, 0), (False, 4)):
        rounds = DeficitRoundRobin(quantum=4).rounds(channels=2)
        assert rounds.pick(Head(0, waves=6), Head(1, waves=2)) == 1
        rounds.pick(*(() if absent else (Head(0, waves=6, fits=False),)), Head(1, waves=2))
        assert rounds.memory.tolist() == [1, saved, 0]
