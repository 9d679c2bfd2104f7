"""Segregated fit against its contract and a twin that keeps its own lists (spec 1, section 7)."""

from __future__ import annotations

from hypothesis import given

from tests.oracles import placement as slow
from tests.policies.placement.together import moves, segments, walk_far, walk_together
from workbench.policies.placement import SegregatedFit
from workbench.policies.placement.contract import PlacementContract


class TestSegregatedFit(PlacementContract):
    policy = SegregatedFit()


class TestSegregatedFitSkip(PlacementContract):
    policy = SegregatedFit(subclasses=4, own_class="skip")


@given(segments, moves)
def test_walks_with_its_twin(segments, moves):
    walk_together(SegregatedFit(), slow.SegregatedFit(segments, 16, "search"), moves)


def test_walks_far_with_its_twin():
    walk_far(SegregatedFit(), lambda n: slow.SegregatedFit(n, 16, "search"))


@given(segments, moves)
def test_walks_with_its_twin_skip(segments, moves):
    walk_together(SegregatedFit(subclasses=4, own_class="skip"), slow.SegregatedFit(segments, 4, "skip"), moves)


def test_walks_far_with_its_twin_skip():
    walk_far(SegregatedFit(subclasses=4, own_class="skip"), lambda n: slow.SegregatedFit(n, 4, "skip"))
