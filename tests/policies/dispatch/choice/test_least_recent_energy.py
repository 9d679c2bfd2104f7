"""Least recent energy against its contract, the vector V34, and its slow twin (spec 3, R74-R80)."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.oracles import dispatch_choice as slow
from tests.policies.dispatch.choice.together import assert_same_scores, scenes, scored, told
from workbench.errors import InputError
from workbench.policies.dispatch.choice import LeastRecentEnergy
from workbench.policies.dispatch.choice.contract import ChoiceContract

WEIGHTS = st.lists(st.floats(0, 1e6), min_size=6, max_size=6).filter(any).map(tuple)


class TestLeastRecentEnergy(ChoiceContract):
    policy = LeastRecentEnergy()


class TestShortMemory(ChoiceContract):
    policy = LeastRecentEnergy(nx=16, weights=(0, 0, 0, 1, 0, 0))


@given(scenes, WEIGHTS)
def test_scores_as_its_twin(shown, weights):
    result = scored(LeastRecentEnergy(weights=weights), shown)
    assert_same_scores(result, [slow.energy(m, weights) for m in told(shown)])


def test_v34():
    policy = LeastRecentEnergy(weights=(1, 4, 4, 16, 1, 2))
    counts = [(100, 50, 20, 10, 30, 5), (300, 10, 10, 2, 100, 40)]
    assert policy.scores(counts) == [-580, -592]
    assert policy.choose(counts) == 0
    assert policy.choose(counts[::-1]) == 1


def test_no_history_is_no_energy_and_a_tie():
    assert LeastRecentEnergy().scores([(0,) * 6] * 3) == [0, 0, 0]
    assert LeastRecentEnergy().choose([(0,) * 6] * 3) == 0


def test_what_the_engine_must_keep():
    assert [LeastRecentEnergy(nx=nx).history_cycles() for nx in (16, 1024, 1 << 16)] == [16, 1024, 1 << 16]
    assert LeastRecentEnergy().halving_cycles() == 0


@pytest.mark.parametrize(("nx", "nearest"), [(1000, 1024), (3, 4), (0, 1), (1 << 21, 1 << 20)])
def test_r80_nx_is_a_power_of_two(nx, nearest):
    with pytest.raises(InputError, match=rf"least_recent_energy\.nx must be a power of two .* Nearest: {nearest}\."):
        LeastRecentEnergy(nx=nx)


def test_weights_of_the_wrong_length_or_of_nothing():
    with pytest.raises(
        InputError, match=r"weights must be 6 weights, one for each class \(move, load, .* Nearest: \[3, 1,"
    ):
        LeastRecentEnergy(weights=(3,))
    with pytest.raises(InputError, match=r"least_recent_energy\.weights must not all be 0"):
        LeastRecentEnergy(weights=(0,) * 6)
    with pytest.raises(InputError, match=r"recent must have one row of 6 classes a module"):
        LeastRecentEnergy().choose([(1, 2, 3)])
