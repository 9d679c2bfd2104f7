"""The interval of a ratio of means: the ratios that a paired t test does not reject."""

import math

import numpy as np
import pytest
import scipy.stats
from hypothesis import assume, given
from hypothesis import strategies as st

from workbench.errors import InputError
from workbench.studies.statistics import ratio_interval

pairs = st.lists(st.tuples(st.integers(-50, 200), st.integers(50, 200)), min_size=3, max_size=30)


@given(pairs, st.sampled_from([0.8, 0.95]))
def test_the_limits_are_where_the_t_test_starts_to_reject(values, level):
    upper, lower = np.array(values, dtype=float).T
    got = ratio_interval(upper, lower, level=level)
    assume(got.method == "fieller" and got.high - got.low > 1e-6 and not math.isnan(got.low))
    for limit in (got.low, got.high):
        assert scipy.stats.ttest_1samp(upper - limit * lower, 0).pvalue == pytest.approx(1 - level, abs=1e-6)
    assert scipy.stats.ttest_1samp(upper - got.mean * lower, 0).pvalue == pytest.approx(1, abs=1e-6)
    assert got.low < got.mean < got.high


def test_by_hand():
    # the denominator is 10 on every seed: the t interval of the numerators, divided by 10
    low, high = scipy.stats.ttest_1samp([9, 11, 10, 12], 0).confidence_interval(0.95)
    got = ratio_interval([9, 11, 10, 12], [10] * 4)
    assert got == (1.05, pytest.approx(low / 10), pytest.approx(high / 10), 0.95, "fieller", 4)


def test_coverage():
    rng, hits = np.random.default_rng(11), 0
    for _ in range(1000):
        lower = rng.normal(10, 2, 20)
        upper = 0.9 * lower + rng.normal(0, 1, 20)
        interval = ratio_interval(upper, lower)
        hits += interval.low <= 0.9 <= interval.high
    assert 0.93 <= hits / 1000 <= 0.97


@given(pairs, st.integers(1, 9), st.integers(1, 9))
def test_scale(values, up, down):
    upper, lower = np.array(values, dtype=float).T
    was, got = ratio_interval(upper, lower), ratio_interval(up * upper, down * lower)
    expected = [x * up / down for x in was[:3]]
    assert got[:3] == pytest.approx(expected, rel=1e-6, abs=1e-9, nan_ok=True)


def test_one_ratio_throughout_and_single_seeds():
    same, share = ratio_interval([1.1, 2.2, 3.3], [1, 2, 3]), 1 - 0.05 ** (1 / 3)
    far = share * (2.2 + 1.1 * 2) / 2  # each anywhere in its range
    assert same == (pytest.approx(1.1), pytest.approx(1.1 - far), pytest.approx(1.1 + far), 0.95, "constant", 3)
    assert ratio_interval([1.1] * 3, [1] * 3, span=0.5).low == pytest.approx(1.1 - share * 0.5)
    assert ratio_interval([3], [4])[0::4] == (0.75, "none")
    assert ratio_interval([], []).n == 0
    assert math.isnan(ratio_interval([3], [4]).low)


def test_a_denominator_that_may_be_zero_bounds_nothing():
    unbounded = ratio_interval([1, 2, 3, 4], [5, -4, 3, -2])
    assert unbounded.mean == 5.0
    assert math.isnan(unbounded.low)
    assert math.isnan(unbounded.high)


def test_mistakes():
    with pytest.raises(InputError, match=r"mean 0\. Got 0\.0\. Compare differences instead\."):
        ratio_interval([1, 2], [1, -1])
    with pytest.raises(InputError, match=r"one value a seed each\. Got 2 and 1 values\."):
        ratio_interval([1, 2], [1])
    with pytest.raises(InputError, match=r"denominators\[0\] must be a finite number"):
        ratio_interval([1, 2], [math.nan, 1])
