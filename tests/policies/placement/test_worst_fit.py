"""Worst fit against its contract and its slow twin (spec 1, section 7)."""

from __future__ import annotations

from hypothesis import given

from tests.oracles import placement as slow
from tests.policies.placement.together import compare_on_every_state, moves, segments, walk_far, walk_together
from workbench.policies.placement import WorstFit
from workbench.policies.placement.contract import PlacementContract


class TestWorstFit(PlacementContract):
    policy = WorstFit()


class TestWorstFitHigh(PlacementContract):
    policy = WorstFit(tie="high")


def test_every_state_of_small_memories():
    compare_on_every_state(WorstFit(), slow.WorstFit)


@given(segments, moves)
def test_walks_with_its_twin(segments, moves):
    walk_together(WorstFit(), slow.WorstFit(segments), moves)


def test_walks_far_with_its_twin():
    walk_far(WorstFit(), slow.WorstFit)


def test_every_state_of_small_memories_high():
    compare_on_every_state(WorstFit(tie="high"), lambda n: slow.WorstFit(n, "high"))


@given(segments, moves)
def test_walks_with_its_twin_high(segments, moves):
    walk_together(WorstFit(tie="high"), slow.WorstFit(segments, "high"), moves)


def test_walks_far_with_its_twin_high():
    walk_far(WorstFit(tie="high"), lambda n: slow.WorstFit(n, "high"))
