"""Least loaded against its contract and its slow twin (spec 3, section 7)."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from tests.oracles import dispatch_units as slow
from workbench.policies.dispatch.units import LeastLoaded, UnitsContract


class TestLeastLoaded(UnitsContract):
    policy = LeastLoaded()
    evenly = False


@given(st.integers(1, 200), st.lists(st.integers(0, 40), min_size=1, max_size=64))
def test_gives_each_wave_to_the_emptiest_unit(waves, taken):
    counts, pointer = LeastLoaded().split(waves, len(taken), 5, taken=tuple(taken))
    assert (counts, pointer) == (slow.least_loaded(waves, taken), 5)
