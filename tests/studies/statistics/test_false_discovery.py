"""Benjamini and Hochberg's correction: against SciPy's, and against the share of false discoveries that it promises."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from workbench.errors import InputError
from workbench.studies.statistics import holm
from workbench.studies.statistics.false_discovery import false_discovery

P_VALUES = st.lists(st.one_of(st.floats(0, 1), st.sampled_from([0.0, 0.01, 0.05, 1.0])), min_size=1, max_size=30)


@settings(max_examples=60)
@given(P_VALUES)
def test_it_is_scipys_in_the_order_given_and_never_stricter_than_holm(p_values):
    named = {f"t{k}": p for k, p in enumerate(p_values)}
    result = false_discovery(named)
    assert list(result) == list(named)
    assert list(result.values()) == pytest.approx(stats.false_discovery_control(p_values), rel=1e-12, abs=1e-300)
    assert all(named[name] * (1 - 1e-12) <= result[name] <= strict + 1e-12 for name, strict in holm(named).items())


def test_of_the_discoveries_no_more_are_false_than_it_promises_and_of_uncorrected_ones_many_are():
    """15 tests of nothing and 5 of something, 2,000 times."""
    draws, shares = np.random.default_rng(5), {"corrected": [], "plain": []}
    for _ in range(2000):
        z = draws.standard_normal(20) + np.repeat([0, 3.5], [15, 5])
        plain = dict(enumerate(2 * stats.norm.sf(np.abs(z))))
        for name, p_values in (("corrected", false_discovery(plain)), ("plain", plain)):
            results = [k for k, p in p_values.items() if p < 0.05]
            shares[name].append(sum(k < 15 for k in results) / max(len(results), 1))
    assert np.mean(shares["corrected"]) == pytest.approx(0.05 * 15 / 20, abs=0.01)
    assert np.mean(shares["plain"]) > 0.1


@pytest.mark.parametrize("wrong", [-0.1, 1.1, math.nan])
def test_what_is_no_p_value_is_refused(wrong):
    with pytest.raises(InputError, match=r"^the p-value of b must be a number from 0 to 1\. Got "):
        false_discovery({"a": 0.5, "b": wrong})


def test_an_empty_family_is_one():
    assert false_discovery({}) == {}
