"""Size-segregated ends against its contract and its slow twin (spec 1, section 7)."""

from __future__ import annotations

from hypothesis import given

from tests.oracles import placement as slow
from tests.policies.placement.together import compare_on_every_state, moves, segments, walk_far, walk_together
from workbench.policies.placement import SizeSegregatedEnds
from workbench.policies.placement.contract import PlacementContract


class TestSizeSegregatedEnds(PlacementContract):
    policy = SizeSegregatedEnds()


class TestSizeSegregatedEndsSmall(PlacementContract):
    policy = SizeSegregatedEnds(threshold=3)


def test_every_state_of_small_memories():
    compare_on_every_state(SizeSegregatedEnds(), lambda n: slow.SizeSegregatedEnds(n, 16))


@given(segments, moves)
def test_walks_with_its_twin(segments, moves):
    walk_together(SizeSegregatedEnds(), slow.SizeSegregatedEnds(segments, 16), moves)


def test_walks_far_with_its_twin():
    walk_far(SizeSegregatedEnds(), lambda n: slow.SizeSegregatedEnds(n, 16))


def test_every_state_of_small_memories_small():
    compare_on_every_state(SizeSegregatedEnds(threshold=3), lambda n: slow.SizeSegregatedEnds(n, 3))


@given(segments, moves)
def test_walks_with_its_twin_small(segments, moves):
    walk_together(SizeSegregatedEnds(threshold=3), slow.SizeSegregatedEnds(segments, 3), moves)


def test_walks_far_with_its_twin_small():
    walk_far(SizeSegregatedEnds(threshold=3), lambda n: slow.SizeSegregatedEnds(n, 3))
