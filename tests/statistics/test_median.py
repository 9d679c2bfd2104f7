"""The sign test and the interval of order statistics: against SciPy, against each other, in every corner."""

import math

import numpy as np
import pytest
import scipy.stats
from hypothesis import given
from hypothesis import strategies as st

from workbench.errors import InputError
from workbench.statistics import median_interval, sign_p
from workbench.statistics.interval import one_sided_p

counts = st.integers(1, 300).flatmap(lambda n: st.tuples(st.integers(0, n), st.just(n)))
samples = st.lists(st.one_of(st.integers(-9, 9), st.sampled_from([math.inf, -math.inf])), max_size=40)


@given(counts)
def test_it_is_scipys_binomial_test(count):
    above, pairs = count
    assert sign_p(above, pairs - above) == pytest.approx(scipy.stats.binomtest(above, pairs).pvalue)
    greater = scipy.stats.binomtest(above, pairs, alternative="greater").pvalue
    assert one_sided_p(above, pairs) == pytest.approx(greater)


@given(samples, st.sampled_from([0.8, 0.95, 0.99]), st.integers(-9, 9))
def test_the_interval_holds_the_values_that_the_test_does_not_reject(sample, level, value):
    values, interval = np.array(sample, float), median_interval(sample, level=level)
    most = max(int((values > value).sum()), int((values < value).sum()))
    p = min(1.0, 2 * one_sided_p(most, values.size))  # a value that is equal to it is on neither side
    assert (p < 1 - level) == (interval.above(value) or interval.below(value))
    assert math.isnan(interval.low) == (min(1.0, 2.0 ** (1 - values.size)) >= 1 - level)


def test_by_hand():
    # 2 P(X <= 5) of 20 = 0.0414 and 2 P(X <= 6) = 0.115: the 6th value from either end
    assert median_interval(range(1, 21))[:3] == (10.5, 6, 15)
    assert median_interval([5, 1, 3])[:1] == (3,) and math.isnan(median_interval([5, 1, 3]).low)


def test_constant_and_infinite_values_are_values():
    assert median_interval([7] * 20)[:3] == (7, 7, 7)
    assert median_interval([1, 2, 3, 4, 5, math.inf])[:3] == (3.5, 1, math.inf)
    assert median_interval([-math.inf, math.inf]).mean == 0 and math.isnan(median_interval([]).mean)
    with pytest.raises(InputError, match=r"sample\[1\] must be a number; leave failed runs out\. Got nan"):
        median_interval([1, math.nan])
