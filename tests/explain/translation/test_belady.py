"""Belady's bound against an exhaustive search, and no policy of the engine beats it."""

from __future__ import annotations

from functools import cache

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.engines.translation_cases import simulate
from tests.explain.translation.test_eviction_bound import LOOK_AT_SHARING
from tests.slow import examples
from workbench.errors import InputError
from workbench.explain.belady import belady_misses
from workbench.policies.policy import policies


def fewest(pages: tuple[int, ...], entries: int) -> int:
    """Try every victim at every miss."""

    @cache
    def from_here(at: int, held: frozenset[int]) -> int:
        if at == len(pages):
            return 0
        if pages[at] in held:
            return from_here(at + 1, held)
        rooms = [held] if len(held) < entries else [held - {gone} for gone in held]
        return 1 + min(from_here(at + 1, room | {pages[at]}) for room in rooms)

    return from_here(0, frozenset())


@given(pages=st.lists(st.integers(0, 5), max_size=14), entries=st.integers(1, 4))
def test_equals_an_exhaustive_search(pages, entries):
    assert belady_misses(pages, entries) == fewest(tuple(pages), entries)


@pytest.mark.slow
@examples(8, 75)
@given(pages=st.lists(st.integers(0, 12), min_size=1, max_size=60), sets=st.sampled_from([0, 2]))
def test_no_policy_does_better(pages, sets):
    machine = {"cores": 1, "private_entries": 4, "private_ways": sets, "shared_entries": 0, "level_cycles": 0}
    least = belady_misses(pages, 4, sets)
    rows = [(t, 0, page) for t, page in enumerate(pages)]
    for base in {name for name, cls in policies("eviction").items() if cls.built_in} - LOOK_AT_SHARING:
        policy = {"eviction": base, "locate": "no_directory", "fill": "demand_always"}
        assert simulate(rows, machine, policy).walks >= least


def test_refuses_nonsense():
    with pytest.raises(InputError, match="at least 1"):
        belady_misses([1], 0)
    with pytest.raises(InputError, match="divide entries"):
        belady_misses([1], 4, 3)
