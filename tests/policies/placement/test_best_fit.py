"""Best fit against its contract and its slow twin (spec 1, section 7)."""

from __future__ import annotations

from hypothesis import given

from tests.oracles import placement as slow
from tests.policies.placement.together import compare_on_every_state, moves, segments, walk_far, walk_together
from workbench.policies.placement import BestFit
from workbench.policies.placement.contract import PlacementContract


class TestBestFit(PlacementContract):
    policy = BestFit()


class TestBestFitHigh(PlacementContract):
    policy = BestFit(tie="high")


def test_every_state_of_small_memories():
    compare_on_every_state(BestFit(), slow.BestFit)


@given(segments, moves)
def test_walks_with_its_twin(segments, moves):
    walk_together(BestFit(), slow.BestFit(segments), moves)


def test_walks_far_with_its_twin():
    walk_far(BestFit(), slow.BestFit)


def test_every_state_of_small_memories_high():
    compare_on_every_state(BestFit(tie="high"), lambda n: slow.BestFit(n, "high"))


@given(segments, moves)
def test_walks_with_its_twin_high(segments, moves):
    walk_together(BestFit(tie="high"), slow.BestFit(segments, "high"), moves)


def test_walks_far_with_its_twin_high():
    walk_far(BestFit(tie="high"), lambda n: slow.BestFit(n, "high"))
