"""The unsorted free list against its contract and a twin that keeps the list (gem5, vector registers)."""

from __future__ import annotations

from hypothesis import given

from tests.oracles import placement as slow
from tests.policies.placement.together import moves, segments, walk_far, walk_together
from workbench.policies.placement import UnsortedFreeList
from workbench.policies.placement.contract import PlacementContract


class TestUnsortedFreeList(PlacementContract):
    policy = UnsortedFreeList()


@given(segments, moves)
def test_walks_with_its_twin(segments, moves):
    walk_together(UnsortedFreeList(), slow.UnsortedFreeList(segments), moves)


def test_walks_far_with_its_twin():
    walk_far(UnsortedFreeList(), slow.UnsortedFreeList)
