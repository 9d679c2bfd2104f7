"""Intervals of means and of shares: against printed tables and SciPy, never outside of what can be."""

import math

import pytest
import scipy.stats
from hypothesis import given
from hypothesis import strategies as st

from workbench.errors import InputError
from workbench.statistics import Interval, mean_interval, proportion_interval

spread_samples = st.lists(st.integers(-1000, 1000), min_size=2, max_size=40).filter(lambda s: len(set(s)) > 1)
counts = st.integers(1, 300).flatmap(lambda n: st.tuples(st.integers(0, n), st.just(n)))


@given(spread_samples, st.sampled_from([0.5, 0.9, 0.95, 0.999]))
def test_t_agrees_with_scipy(sample, level):
    low, high = scipy.stats.ttest_1samp(sample, 0).confidence_interval(level)
    got = mean_interval(sample, level=level)
    assert (got.low, got.high) == pytest.approx((low, high), rel=1e-9, abs=1e-9)


@given(st.lists(st.floats(0, 1), min_size=1, max_size=30))
def test_a_mean_is_within_its_values_and_its_limits_within_what_can_be(sample):
    got = mean_interval(sample, bounds=(0, 1))
    assert min(sample) <= got.mean <= max(sample)
    assert math.isnan(got.low) or 0 <= got.low <= got.mean <= got.high <= 1


def test_equal_and_infinite_values_have_a_mean_and_no_limits():
    """A mean of 10,176 was printed as 0, and the limits of equal values were made of a range that nobody knows."""
    same = mean_interval([10176.0] * 20)
    assert same[0] == 10176 and same.method == "constant" and math.isnan(same.low)
    assert mean_interval([0.1] * 3).mean == 0.1
    assert str(same) == "10,176"
    infinite = mean_interval([1, 2, math.inf])
    assert infinite.mean == math.inf and infinite.method == "infinite" and math.isnan(infinite.high)


def test_degenerate_samples_are_values():
    nothing, one = mean_interval([]), mean_interval([4])
    assert (nothing.n, one.n, one.mean, nothing.method, one.method) == (0, 1, 4.0, "none", "none")
    assert all(math.isnan(x) for x in (nothing.mean, nothing.low, nothing.high, one.low, one.high))
    assert not one.above(-math.inf) and not one.below(math.inf)


@pytest.mark.parametrize(
    ("sample", "options", "says"),
    [
        ([1, math.nan], {}, "sample[1] must be a number; leave failed runs out. Got nan."),
        (["1", "2"], {}, "sample must be numbers. Got ['1', '2']."),
        ([[1, 2]], {}, "sample must be one row of numbers. Got [[1, 2]]."),
        ([1, 2], {"level": 1.0}, "level must be a number above 0 and below 1. Got 1.0."),
        ([1, 2], {"level": "high"}, "level must be a number above 0 and below 1. Got 'high'."),
    ],
)
def test_mistakes_are_one_sentence(sample, options, says):
    with pytest.raises(InputError) as wrong:
        mean_interval(sample, **options)
    assert str(wrong.value) == says


@given(counts, st.sampled_from([0.8, 0.95, 0.99]))
def test_a_share_agrees_with_scipy(count, level):
    expected = scipy.stats.binomtest(*count).proportion_ci(level, method="exact")
    got = proportion_interval(*count, level=level)
    assert (got.low, got.high) == pytest.approx((expected.low, expected.high), abs=1e-10)
    assert (got.mean, got.n, got.method) == (count[0] / count[1], count[1], "clopper_pearson")


@pytest.mark.parametrize("given", [(-1, 2), (3, 2), (1.5, 2)])
def test_counts_that_are_none_and_no_trials(given):
    with pytest.raises(InputError, match="successes and trials must be whole numbers"):
        proportion_interval(*given)
    assert math.isnan(proportion_interval(0, 0).mean) and isinstance(proportion_interval(0, 0), Interval)
