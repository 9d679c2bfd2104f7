"""Paged memory against its contract, and what its translation costs (spec 1, section 7)."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from workbench.policies.placement import PagedMemory
from workbench.policies.placement.contract import PlacementContract


class TestPagedMemory(PlacementContract):
    policy = PagedMemory()


class TestPagedMemoryForFree(PlacementContract):
    policy = PagedMemory(access_penalty=0)


def test_uses_any_free_segments():
    assert PagedMemory.layout == "scattered"
    assert PagedMemory().place("0100100", 2) == 1
    assert PagedMemory().place("0100100", 3) is None


@given(st.integers(1, 10**6), st.integers(0, 1000))
def test_durations_grow_by_the_penalty_in_whole_cycles(duration, percent):
    longer = PagedMemory(access_penalty=percent / 100).lasting(duration)
    assert longer == -(-duration * (100 + percent) // 100)


def test_no_penalty_changes_nothing():
    durations = np.arange(1, 1000)
    assert PagedMemory(access_penalty=0).lasting(durations).tolist() == durations.tolist()


@pytest.mark.parametrize("penalty", [0.1, 0.2, 0.3])
def test_a_decimal_penalty_is_exact(penalty):
    assert PagedMemory(access_penalty=penalty).lasting(100) == round(100 * (1 + penalty))
