"""Nearest boundary against its contract and its slow twin, and all its hardware forms against each other (spec 1)."""

from __future__ import annotations

from itertools import product

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.oracles import placement as slow
from tests.policies.placement.together import compare_on_every_state, moves, segments, walk_far, walk_together
from workbench.policies.placement import NearestBoundary
from workbench.policies.placement.contract import PlacementContract

SMALL = (2, 3, 16, 63, 64, 65, 129)
FORMS = [
    {
        "probe": probe,
        "mask_source": source,
        "scan_order": order,
        "leading_one": search,
        "lut_bits": width,
        "encoding": encoding,
    }
    for probe, source, order, search, width, encoding in product(
        ("shift_and", "mask_or_and", "window_and"),
        ("precomputed", "on_the_fly"),
        ("ascending", "descending"),
        ("binary", "linear"),
        (1, 8),
        ("free1", "free0"),
    )
]
RULES = [{"distance": d, "tie": t} for d in ("window_edge", "start_bit") for t in ("low", "high", "alternate")]


class TestNearestBoundary(PlacementContract):
    policy = NearestBoundary()


class TestNearestBoundaryByStartBit(PlacementContract):
    policy = NearestBoundary(distance="start_bit", tie="high")


class TestNearestBoundaryByTurns(PlacementContract):
    policy = NearestBoundary(tie="alternate")


class TestStoredMasks(PlacementContract):
    policy = NearestBoundary(probe="mask_or_and")
    sizes, steps = SMALL, 60


class TestMovingMaskOfTakenSegments(PlacementContract):
    policy = NearestBoundary(probe="mask_or_and", mask_source="on_the_fly", scan_order="descending", encoding="free0")
    sizes, steps = SMALL, 60


class TestWindowsAndLinearSearch(PlacementContract):
    policy = NearestBoundary(probe="window_and", leading_one="linear", tie="alternate")
    sizes, steps = SMALL, 60


@pytest.mark.parametrize("rule", RULES, ids=str)
def test_every_state_of_small_memories(rule):
    compare_on_every_state(NearestBoundary(**rule), lambda n: slow.NearestBoundary(n, **rule))


@pytest.mark.parametrize("form", FORMS, ids=lambda form: "-".join(map(str, form.values())))
def test_every_form_on_every_state(form):
    compare_on_every_state(NearestBoundary(**form), slow.NearestBoundary, largest=6)


@given(segments, moves, st.sampled_from(RULES))
def test_walks_with_its_twin(segments, moves, rule):
    walk_together(NearestBoundary(**rule), slow.NearestBoundary(segments, **rule), moves)


@pytest.mark.parametrize("rule", RULES, ids=str)
def test_walks_far_with_its_twin(rule):
    walk_far(NearestBoundary(**rule), lambda n: slow.NearestBoundary(n, **rule))


@given(st.integers(2, 200), moves, st.sampled_from(RULES), st.sampled_from(FORMS))
def test_every_form_walks_with_the_twin(segments, moves, rule, form):
    walk_together(NearestBoundary(**rule, **form), slow.NearestBoundary(segments, **rule), moves[:30])


@given(st.lists(st.booleans(), min_size=2, max_size=300), st.integers(1, 300))
def test_grants_the_start_nearest_to_either_end(free, length):
    """R21, as it is written."""
    m = 1 + (length - 1) % len(free)
    starts = slow.feasible(free, m)
    nearest = min(starts, key=lambda s: (min(s, len(free) - m - s), s), default=None)
    assert NearestBoundary().place(free, m) == nearest


@given(st.lists(st.booleans(), min_size=2, max_size=80), st.integers(1, 80), st.sampled_from(FORMS))
def test_every_form_has_the_same_start_map(free, length, form):
    """R15, D11, D12."""
    m = 1 + (length - 1) % len(free)
    state = [not bit for bit in free] if form["encoding"] == "free0" else free
    starts = slow.feasible(free, m)
    assert NearestBoundary(**form).start_map(state, m) == "".join("01"[k in starts] for k in range(len(free)))


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
