"""Last fit against its contract, its slow twin and the mirror of first fit (spec 1, section 7)."""

from __future__ import annotations

from hypothesis import given

from tests.oracles import placement as slow
from tests.policies.placement.together import compare_on_every_state, moves, segments, walk_far, walk_together
from workbench.policies.placement import FirstFit, LastFit
from workbench.policies.placement.contract import PlacementContract


class TestLastFit(PlacementContract):
    policy = LastFit()


def test_every_state_of_small_memories():
    compare_on_every_state(LastFit(), slow.LastFit)


@given(segments, moves)
def test_walks_with_its_twin(segments, moves):
    walk_together(LastFit(), slow.LastFit(segments), moves)


def test_walks_far_with_its_twin():
    walk_far(LastFit(), slow.LastFit)


@given(segments, moves)
def test_mirrors_first_fit(segments, moves):
    first, last = FirstFit().allocator(segments), LastFit().allocator(segments)
    live = []
    for length, kind, which in moves:
        m = 1 + (length - 1) % segments
        if kind == "give back" and live:
            low, high, size = live.pop(which % len(live))
            first.give_back(low, size)
            last.give_back(high, size)
        elif kind == "take":
            low, high = first.take(m), last.take(m)
            assert (low is None) == (high is None)
            if low is not None:
                assert high == segments - m - low
                live.append((low, high, m))
