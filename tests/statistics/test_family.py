"""Holm's correction and the false discovery rate: by hand, by closed testing, by SciPy, by what they promise."""

import math
from itertools import combinations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from tests.slow import examples
from workbench.errors import InputError
from workbench.statistics import false_discovery, holm

families = st.dictionaries(st.text("abH12.", min_size=1, max_size=3), st.floats(0, 1), max_size=6)


def by_closed_testing(p_values, name):
    """The largest Bonferroni p-value of all subsets of the family that contain the test."""
    others = [other for other in p_values if other != name]
    subsets = [(name, *more) for size in range(len(others) + 1) for more in combinations(others, size)]
    return max(min(1.0, len(subset) * min(p_values[k] for k in subset)) for subset in subsets)


@given(families)
@settings(deadline=None)
def test_agrees_with_closed_testing(p_values):
    assert holm(p_values) == pytest.approx({name: by_closed_testing(p_values, name) for name in p_values})


@given(families, st.randoms(use_true_random=False))
def test_order_does_not_matter_and_adjustment_is_monotone(p_values, shuffler):
    names = list(p_values)
    shuffler.shuffle(names)
    adjusted = holm(p_values)
    assert holm({name: p_values[name] for name in names}) == adjusted
    assert list(adjusted) == list(p_values)
    for one, other in combinations(p_values, 2):
        assert (p_values[one] < p_values[other]) <= (adjusted[one] <= adjusted[other])
        assert (p_values[one] == p_values[other]) <= (adjusted[one] == adjusted[other])
    assert all(p_values[name] <= adjusted[name] <= 1 for name in p_values)


def test_a_single_test_and_none():
    assert holm({"H1.1": 0.03}) == {"H1.1": 0.03}
    assert holm({}) == {}


@pytest.mark.parametrize("p", [-0.1, 1.1, float("nan")])
def test_what_is_no_p_value(p):
    with pytest.raises(InputError, match=r"the p-value of H1\.1 must be a number from 0 to 1\. Got "):
        holm({"H1.1": p})


P_VALUES = st.lists(st.one_of(st.floats(0, 1), st.sampled_from([0.0, 0.01, 0.05, 1.0])), min_size=1, max_size=30)


@examples(20, 300)
@given(P_VALUES)
def test_it_is_scipys_in_the_order_given_and_never_stricter_than_holm(p_values):
    named = {f"t{k}": p for k, p in enumerate(p_values)}
    result = false_discovery(named)
    assert list(result) == list(named)
    assert list(result.values()) == pytest.approx(stats.false_discovery_control(p_values), rel=1e-12, abs=1e-300)
    assert all(named[name] * (1 - 1e-12) <= result[name] <= strict + 1e-12 for name, strict in holm(named).items())


@pytest.mark.parametrize("wrong", [-0.1, 1.1, math.nan])
def test_what_is_no_p_value_is_no_discovery(wrong):
    with pytest.raises(InputError, match=r"^the p-value of b must be a number from 0 to 1\. Got "):
        false_discovery({"a": 0.5, "b": wrong})


def test_an_empty_family_is_one():
    assert false_discovery({}) == {}
