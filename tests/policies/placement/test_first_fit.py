"""First fit against its contract and its slow twin (spec 1, R32)."""

from __future__ import annotations

from hypothesis import given

from tests.oracles import placement as slow
from tests.policies.placement.together import compare_on_every_state, moves, segments, walk_far, walk_together
from workbench.policies.placement import FirstFit
from workbench.policies.placement.contract import PlacementContract


class TestFirstFit(PlacementContract):
    policy = FirstFit()


def test_every_state_of_small_memories():
    compare_on_every_state(FirstFit(), slow.FirstFit)


@given(segments, moves)
def test_walks_with_its_twin(segments, moves):
    walk_together(FirstFit(), slow.FirstFit(segments), moves)


def test_walks_far_with_its_twin():
    walk_far(FirstFit(), slow.FirstFit)
