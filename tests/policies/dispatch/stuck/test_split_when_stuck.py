"""Splitting stuck groups against its contract and the sentences of spec 3 (R21-R29, E9-E12)."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.oracles.dispatch_selection import FailCounter, shared_out
from workbench.errors import InputError
from workbench.policies.dispatch import SplitWhenStuck
from workbench.policies.dispatch.stuck import StuckContract


class TestSplitWhenStuck(StuckContract):
    policy = SplitWhenStuck()


class TestHalvesBelowAll(StuckContract):
    policy = SplitWhenStuck(threshold=16, into="halves", priority="below_all", shared="divided")


@given(st.integers(1, 2000))
def test_each_wave_becomes_a_sub_group(waves):
    """R26."""
    assert SplitWhenStuck().parts(waves) == shared_out(waves, waves) == [1] * waves


@given(st.integers(2, 2000))
def test_halves_give_the_first_one_the_odd_wave(waves):
    assert SplitWhenStuck(into="halves").parts(waves) == shared_out(waves, 2)


@given(st.integers(1, 200), st.sampled_from(["waves", "halves"]))
def test_related_waves_are_never_split(waves, into):
    """R29."""
    assert SplitWhenStuck(into=into).parts(waves, independent=False) == [waves]


def asked_in(policy: SplitWhenStuck, history: list[tuple[bool, list[tuple[int, int]]]]) -> list[list[int]]:
    """Which heads are split in each round, by the policy's patience and answer and the rule of the question."""
    fails, result = 0, []
    for dispatched, heads in history:
        fails = 0 if dispatched else min(fails + 1, policy.patience() + 1)
        requested = enumerate(heads) if fails > policy.patience() else ()
        result.append([k for k, (waves, independent) in requested if len(policy.parts(waves, bool(independent))) > 1])
        fails = 0 if result[-1] else fails
    return result


heads = st.lists(st.tuples(st.integers(1, 9), st.integers(0, 1)), max_size=3)


@given(st.integers(1, 5), st.lists(st.tuples(st.booleans(), heads), max_size=40))
def test_is_asked_when_its_twin_says_so(threshold, history):
    """E9-E11: set back by a dispatch, exceeded, and saturating until a flagged head arrives."""
    counter = FailCounter(threshold)
    assert asked_in(SplitWhenStuck(threshold=threshold), history) == [counter.round(*each) for each in history]


def test_the_levers_reach_the_engine():
    """E12."""
    for number, priority in enumerate(("inherit", "lowest", "below_all")):
        assert SplitWhenStuck(priority=priority).ready().sub_priority == number
    assert [SplitWhenStuck(shared=s).ready().divides_shared for s in ("full", "divided")] == [0, 1]
    assert SplitWhenStuck(threshold=4096).ready().patience == 4096
    assert SplitWhenStuck(threshold=4096).ready().look_ahead == 0


def test_a_group_has_a_wave():
    with pytest.raises(InputError, match=r"^waves must be at least 1\. Got 0\. Nearest: 1\.$"):
        SplitWhenStuck().parts(0)
