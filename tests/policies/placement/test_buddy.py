"""Buddy against its contract and a twin that keeps its own sets of free blocks (spec 1, section 7)."""

from __future__ import annotations

from hypothesis import given

from tests.oracles import placement as slow
from tests.policies.placement.together import moves, segments, walk_far, walk_together
from workbench.policies.placement import Buddy
from workbench.policies.placement.contract import PlacementContract


class TestBuddy(PlacementContract):
    policy = Buddy()


@given(segments, moves)
def test_walks_with_its_twin(segments, moves):
    walk_together(Buddy(), slow.Buddy(segments), moves)


def test_walks_far_with_its_twin():
    walk_far(Buddy(), slow.Buddy)
