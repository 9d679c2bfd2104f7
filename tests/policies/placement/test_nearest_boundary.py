"""Nearest boundary against its contract and its slow twin (spec 1); tests/circuits hold its forms against its gates."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.oracles import placement as slow
from tests.policies.placement.together import compare_on_every_state, moves, segments, walk_far, walk_together
from workbench.policies.placement import NearestBoundary
from workbench.policies.placement.contract import PlacementContract

RULES = [{"distance": d, "tie": t} for d in ("window_edge", "start_bit") for t in ("low", "high", "alternate")]


class TestNearestBoundary(PlacementContract):
    policy = NearestBoundary()


class TestNearestBoundaryByStartBit(PlacementContract):
    policy = NearestBoundary(distance="start_bit", tie="high")


class TestNearestBoundaryByTurns(PlacementContract):
    policy = NearestBoundary(tie="alternate")


@pytest.mark.parametrize("rule", RULES, ids=str)
def test_every_state_of_small_memories(rule):
    compare_on_every_state(NearestBoundary(**rule), lambda n: slow.NearestBoundary(n, **rule))


@given(segments, moves, st.sampled_from(RULES))
def test_walks_with_its_twin(segments, moves, rule):
    walk_together(NearestBoundary(**rule), slow.NearestBoundary(segments, **rule), moves)


@pytest.mark.parametrize("rule", RULES, ids=str)
def test_walks_far_with_its_twin(rule):
    walk_far(NearestBoundary(**rule), lambda n: slow.NearestBoundary(n, **rule))


@given(st.lists(st.booleans(), min_size=2, max_size=300), st.integers(1, 300))
def test_grants_the_start_nearest_to_either_end(free, length):
    """R21, as it is written."""
    m = 1 + (length - 1) % len(free)
    starts = slow.feasible(free, m)
    nearest = min(starts, key=lambda s: (min(s, len(free) - m - s), s), default=None)
    assert NearestBoundary().place(free, m) == nearest


def test_turns_pass_with_grants_at_ties_only():
    memory = NearestBoundary(tie="alternate").allocator(segments=16)
    assert memory.take(4) == 0  # 0 against 12 at equal distances: the low side first
    assert memory.take(4) == 12  # nearer to the high end, no tie
    memory.give_back(0, 4)
    memory.give_back(12, 4)
    assert memory.take(16) == 0  # one start alone: no tie between two sides
    memory.give_back(0, 16)
    assert memory.take(4) == 12  # the second tie goes to the high side
    memory.give_back(12, 4)
    assert memory.take(4) == 0  # the third one to the low side again
