"""Holm's correction: a published example, the closed testing principle it abbreviates, order invariance."""

from itertools import combinations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from workbench.errors import InputError
from workbench.studies.statistics import holm

families = st.dictionaries(st.text(min_size=1, max_size=3), st.floats(0, 1), max_size=6)


def by_closed_testing(p_values, name):
    """The largest Bonferroni p-value of all subsets of the family that contain the test."""
    others = [other for other in p_values if other != name]
    subsets = [(name, *more) for size in range(len(others) + 1) for more in combinations(others, size)]
    return max(min(1.0, len(subset) * min(p_values[k] for k in subset)) for subset in subsets)


def test_by_hand():
    # ascending 0.005 0.01 0.03 0.04 times 4 3 2 1 = 0.02 0.03 0.06 0.04, then no smaller than before
    assert holm({"a": 0.01, "b": 0.04, "c": 0.03, "d": 0.005}) == pytest.approx(
        {"a": 0.03, "b": 0.06, "c": 0.06, "d": 0.02}
    )
    assert holm({"a": 0.5, "b": 0.6}) == {"a": 1.0, "b": 1.0}


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
