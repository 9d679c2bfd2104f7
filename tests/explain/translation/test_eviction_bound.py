"""Evictions beside Belady's bound, on the regimes of the specification's pilot."""

from __future__ import annotations

import pytest

from workbench.errors import InputError
from workbench.explain.belady import eviction_misses
from workbench.policies.policy import policies

LOOK_AT_SHARING = {"sharing_aware_eviction", "protect_low_degree"}


def test_a_loop_larger_than_the_tlb_is_kept_best_by_mru_and_not_at_all_by_lru():
    result = {row.eviction: row for row in eviction_misses({"regime": "pilot_cyclic_private", "count": 8000})}
    least = result["belady"].misses
    assert {name for name, row in result.items() if row.misses == least} == {"belady", "mru"}
    assert max(row.misses for row in result.values()) == result["lru"].misses == 8000
    assert (
        set(result) - {"belady"}
        == {name for name, cls in policies("eviction").items() if cls.built_in} - LOOK_AT_SHARING
    )
    assert all(row.over_bound == row.misses / least - 1 >= 0 for row in result.values())


def test_every_core_counts_and_a_named_eviction_may_have_levers():
    requests = [{"srrip": {"bits": 3}}, "random"]
    misses = eviction_misses({"regime": "pilot_zipf", "count": 4000}, requests, machine="patent_translation", seed=2)
    assert [row.eviction for row in misses] == ["belady", "srrip(bits=3)", "random"]
    assert misses[0].misses < misses[1].misses < misses[2].misses < 4000


def test_no_eviction_is_refused():
    with pytest.raises(InputError, match="at least one eviction"):
        eviction_misses({"regime": "pilot_zipf"}, [])
