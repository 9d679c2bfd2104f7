"""Two one-sided sign tests: the interval and the tests agree, against SciPy, with the error rate that is promised."""

import math

import numpy as np
import pytest
import scipy.stats
from hypothesis import given
from hypothesis import strategies as st

from workbench.errors import InputError
from workbench.statistics import compare, median_within, ratio_within
from workbench.statistics.equivalence import ratios

samples = st.lists(st.integers(-20, 20), min_size=1, max_size=30)
bands = st.tuples(st.integers(-15, 14), st.integers(1, 30)).map(lambda b: (b[0] + 0.25, b[0] + 0.25 + b[1]))


@given(samples, bands)
def test_it_agrees_with_scipy_and_with_its_interval(sample, band):
    values, got = np.array(sample), median_within(sample, band)
    within = [(values > band[0]).sum(), (values < band[1]).sum()]
    tests = [scipy.stats.binomtest(int(k), values.size, alternative="greater").pvalue for k in within]
    assert got.p_value == pytest.approx(max(tests))
    low, high = got.interval.low, got.interval.high
    assert got.interval.level == pytest.approx(0.9)
    outside = low > band[1] or high < band[0]
    assert got.place == ("inside" if got.p_value < 0.05 else "outside" if outside else "across")
    assert (got.p_value < 0.05) == (band[0] < low and high < band[1])


@pytest.mark.parametrize("law", ["normal", "exponential", "lognormal"])
def test_inside_is_said_falsely_in_no_more_than_alpha(law):
    """The median is an end of the band; Student's two tests erred in 20 % of skewed worlds."""
    draws, said = np.random.default_rng(8), 0
    median = {"normal": 0.0, "exponential": np.log(2), "lognormal": 1.0}[law]
    for sample in getattr(draws, law)(size=(600, 30)):
        said += median_within(sample, (median, math.inf)).place == "inside"
    assert scipy.stats.binomtest(said, 600, 0.05, alternative="greater").pvalue > 0.01


def test_a_constant_ratio_is_decided():
    """It was "unknown" however many seeds there were, for want of a range."""
    for value, place in ((1.0, "inside"), (1.2, "outside")):
        assert [ratio_within([value * 7] * n, [7.0] * n, (0.95, 1.05)).place for n in (4, 20)] == ["across", place]
    got = ratio_within([7.0] * 20, [7.0] * 20, (0.95, 1.05))
    assert (got.p_value, got.interval[:3]) == (2.0**-20, (1, 1, 1))


def test_a_value_on_an_end_is_not_inside():
    assert median_within([1.0] * 20, (0.0, 1.0)).place == "across"


def test_an_open_end_is_a_test_of_non_inferiority():
    gained = compare([10, 12, 11, 13, 9, 12], [10, 11, 12, 13, 10, 12]).differences
    got = median_within(gained, (-2, math.inf))
    assert (got.place, got.p_value) == ("inside", 2.0**-6)
    assert median_within(gained, (1, math.inf)).place == "across"
    assert median_within(gained, (1.5, math.inf)).place == "outside"
    assert ratio_within([30, 31, 30, 31, 30], [1000, 1010, 990, 1005, 1000], (-math.inf, 1 / 32)).place == "inside"


def test_ratios_of_nothing():
    assert ratios(np.array([0.0, 1.0, np.inf]), np.array([0.0, 0.0, np.inf])).tolist() == [1.0, math.inf, 1.0]


def test_without_a_value_there_is_no_test():
    for none in (median_within([], (0, 2)), ratio_within([], [], (0, 2))):
        assert none.place == "across" and math.isnan(none.p_value) and math.isnan(none.p_outside)


@pytest.mark.parametrize("band", [(1, 1), (2, 1), (math.nan, 1), (1,), 5, ("a", 2)])
def test_a_band_that_is_none(band):
    with pytest.raises(InputError, match=r"a band must be \(low, high\), two numbers with low < high\. Got "):
        median_within([1, 2], band)


def test_other_mistakes():
    with pytest.raises(InputError, match=r"alpha must be a number above 0 and below 0\.5\. Got 0\.5\."):
        median_within([1, 2], (0, 1), alpha=0.5)
    with pytest.raises(InputError, match=r"must not be below 0\. Got -2\.0\."):
        ratio_within([1, 2], [-1, -2], (0, 1))
    with pytest.raises(InputError, match=r"one value a seed each\. Got 2 and 1 values\."):
        ratio_within([1, 2], [1], (0, 1))
