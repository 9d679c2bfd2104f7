"""TOST: the interval and the two tests agree, against scipy, with the error rate that is promised."""

import math
from collections import Counter

import numpy as np
import pytest
import scipy.stats
from hypothesis import example, given
from hypothesis import strategies as st

from tests.depth import long
from workbench.errors import InputError
from workbench.studies.statistics import compare, equivalent_mean, equivalent_proportion, equivalent_ratio

samples = st.lists(st.integers(-20, 20), min_size=2, max_size=30).filter(lambda v: len(set(v)) > 1)
bands = st.tuples(st.integers(-15, 14), st.integers(1, 30)).map(lambda b: (b[0] + 0.25, b[0] + 0.25 + b[1]))


nearly_equal = st.tuples(
    st.integers(-20, 20), st.integers(8, 30), st.lists(st.integers(-20, 20), min_size=1, max_size=3)
)
mostly_one_value = nearly_equal.map(lambda v: [v[0]] * v[1] + v[2]).filter(lambda v: len(set(v)) > 1)


def counted(distances):
    """The chance that so few of the values that are not the usual one come nearer, where 80 % are equal; else 0."""
    (usual, often), nearest = Counter(distances).most_common(1)[0], min(distances)
    if often < 0.8 * len(distances) or usual <= 0 or nearest >= 0:
        return 0.0
    nearer = sum(distance < usual for distance in distances)
    return scipy.stats.binomtest(nearer, len(distances), usual / (usual - nearest), alternative="less").pvalue


@given(samples | mostly_one_value, bands)
@example([0, 0, 0, 0, 1], (-0.75, 0.25))
def test_mean_agrees_with_scipy_and_with_its_interval(sample, band):
    """By Student's t where values spread, and by counting those that differ where nearly all are equal."""
    got = equivalent_mean(sample, band)
    low_t = scipy.stats.ttest_1samp(sample, band[0], alternative="greater").pvalue
    high_t = scipy.stats.ttest_1samp(sample, band[1], alternative="less").pvalue
    assert got.p_low == pytest.approx(max(low_t, counted([value - band[0] for value in sample])))
    assert got.p_high == pytest.approx(max(high_t, counted([band[1] - value for value in sample])))
    low, high = scipy.stats.ttest_1samp(sample, 0).confidence_interval(0.9)
    assert (got.interval.low, got.interval.high) == pytest.approx((low, high))
    outside = low > band[1] or high < band[0]
    assert got.place == ("inside" if got.p_value < 0.05 else "outside" if outside else "across")
    assert got.p_value >= 0.05 or band[0] < low < high < band[1]


def test_where_nearly_all_values_are_equal_those_that_differ_are_counted():
    got = equivalent_mean([0, 0, 0, 0, 1], (-0.75, 0.25))
    assert got.p_high == pytest.approx(scipy.stats.binomtest(1, 5, 0.25, alternative="less").pvalue)
    assert got.p_high == pytest.approx(0.6328125)
    assert equivalent_mean([0, 0, 0, 1, 1], (-0.75, 0.25)).p_high == pytest.approx(
        scipy.stats.ttest_1samp([0, 0, 0, 1, 1], 0.25, alternative="less").pvalue
    )


@given(st.lists(st.tuples(st.integers(40, 160), st.integers(60, 140)), min_size=3, max_size=30))
@example([(40, 60), (58, 60), (58, 60), (58, 60), (58, 60)])
def test_ratio_agrees_with_scipy(values):
    """The distances from each end of the band are tested as those of a mean are."""
    upper, lower = np.array(values, dtype=float).T
    got = equivalent_ratio(upper, lower, (0.955, 1.045))
    above, below = upper - 0.955 * lower, 1.045 * lower - upper
    if min(np.ptp(above), np.ptp(below)) > 1e-9:  # else the spread is rounding
        p_low, p_high = (
            max(scipy.stats.ttest_1samp(distances, 0, alternative="greater").pvalue, counted(distances.tolist()))
            for distances in (above, below)
        )
        assert (got.p_low, got.p_high) == pytest.approx((p_low, p_high))
        assert got.p_value == max(got.p_low, got.p_high)
        assert (got.place == "inside") == (got.p_value < 0.05 and not math.isnan(got.interval.low))


def test_ratio_of_equal_pairs_is_told_by_what_was_not_seen_and_not_by_rounding():
    """40 - 0.955 * 99 is no binary number, so that its equal values have a spread of their own."""
    got = equivalent_ratio(np.full(2, 40.0), np.full(2, 99.0), (0.955, 1.045), span=82.8)
    assert got.interval.method == "constant"
    assert (got.p_low, got.place) == (1.0, "across")
    assert 0.05 < got.p_high < 0.1


@given(st.integers(1, 400).flatmap(lambda n: st.tuples(st.integers(0, n), st.just(n))))
def test_proportion_agrees_with_scipy(count):
    got = equivalent_proportion(*count, (0.48, 0.52))
    assert got.p_low == pytest.approx(scipy.stats.binomtest(*count, 0.48, alternative="greater").pvalue)
    assert got.p_high == pytest.approx(scipy.stats.binomtest(*count, 0.52, alternative="less").pvalue)
    ends = scipy.stats.binomtest(*count).proportion_ci(0.9, method="exact")
    assert (got.interval.low, got.interval.high) == pytest.approx((ends.low, ends.high))
    assert (got.place == "inside") == (got.p_value < 0.05)


@long
@pytest.mark.parametrize(("true_mean", "least", "most"), [(1.0, 0.042, 0.058), (0.0, 0.95, 1.0), (1.5, 0.0, 0.001)])
def test_error_rate(true_mean, least, most):
    # at the edge of the band "inside" is wrong, and is said in alpha of all studies (5,000 of them: s.e. 0.3 %)
    rng = np.random.default_rng(8)
    places = [equivalent_mean(rng.normal(true_mean, 1, 30), (-1.0, 1.0)).place for _ in range(5000)]
    assert least <= places.count("inside") / 5000 <= most
    if true_mean == 1.0:
        assert places.count("outside") / 5000 == pytest.approx(0.05, abs=0.008)


def test_the_wear_claim_and_the_share_claim():
    # spec 1, H1.5: low half / high half in [0.95, 1.05]; H1.6: share from the low side in [0.48, 0.52]
    rng = np.random.default_rng(3)
    grants = rng.integers(900, 1100, 200)
    from_low = rng.binomial(grants, 0.5)
    even = equivalent_ratio(from_low, grants - from_low, (0.95, 1.05))
    assert even.place == "inside"
    assert even.interval.mean == pytest.approx(from_low.sum() / (grants - from_low).sum())
    assert equivalent_ratio(from_low, grants, (0.48, 0.52)).place == "inside"
    assert equivalent_ratio(rng.binomial(grants, 0.55), grants, (0.48, 0.52)).place == "outside"
    assert equivalent_ratio(rng.binomial(grants[:5], 0.52), grants[:5], (0.48, 0.52)).place == "across"


def test_runs_are_counted_not_grants_within_them():
    # 20 runs of 1,000 grants; within a run the share is 0.3 or 0.7: pooled trials would look far surer than 20 runs are
    low_side, grants = [300, 700] * 10, [1000] * 20
    pooled = equivalent_proportion(sum(low_side), sum(grants), (0.48, 0.52))
    by_run = equivalent_ratio(low_side, grants, (0.48, 0.52))
    assert (pooled.place, by_run.place) == ("inside", "across")


def test_an_open_end_is_a_test_of_non_inferiority():
    gained = compare([10, 12, 11, 13, 9, 12], [10, 11, 12, 13, 10, 12]).differences
    got = equivalent_mean(gained, (-2, math.inf))
    assert (got.place, got.p_high) == ("inside", 0.0)
    assert got.p_value == pytest.approx(scipy.stats.ttest_1samp(gained, -2, alternative="greater").pvalue)
    assert equivalent_mean(gained, (1, math.inf)).place == "outside"
    assert equivalent_mean(gained, (-math.inf, 2)).p_low == 0.0
    factor = equivalent_ratio([30, 31, 30, 31], [1000, 1010, 990, 1005], (-math.inf, 1 / 32))
    assert (factor.place, factor.p_low) == ("inside", 0.0)
    assert equivalent_proportion(3, 100, (-1.0, 0.1)).p_value == pytest.approx(
        scipy.stats.binomtest(3, 100, 0.1, alternative="less").pvalue
    )
    assert equivalent_proportion(100, 100, (0.9, 2.0)).place == "inside"
    assert equivalent_proportion(0, 100, (-1.0, 0.1)).place == "inside"


def test_equal_values_decide_by_what_was_not_seen():
    places = [equivalent_mean([1.0] * n, (0, 2), span=2.0).place for n in (2, 4, 5)]
    assert places == ["across", "across", "inside"]  # the mean is an end of the band when half of all seeds differ by 2
    assert equivalent_mean([1.0] * 5, (0, 2), span=2.0).p_value == 2**-5
    assert [equivalent_mean([3.0] * n, (0, 2), span=2.0).place for n in (2, 3, 5)] == ["across", "across", "outside"]
    assert equivalent_mean([1.0] * 200, (0, 2)).place == "across"  # nothing is known of what was not seen
    assert [equivalent_ratio([2] * n, [1] * n, (0.9, 1.1), span=3.0).place for n in (2, 9)] == ["across", "outside"]
    assert equivalent_ratio([2] * 99, [1] * 99, (0.9, 1.1)).place == "across"


def test_too_few_values_decide_nothing():
    got = equivalent_mean([1.0], (0, 2))
    assert (got.place, got.p_value) == ("across", 1.0)
    for none in (equivalent_mean([], (0, 2)), equivalent_ratio([], [], (0, 2)), equivalent_proportion(0, 0, (0, 0.6))):
        assert none.place == "across"
        assert all(map(math.isnan, (none.p_value, none.p_low, none.p_high)))
    assert equivalent_ratio([1], [1], (0.5, 2)).place == "across"
    assert equivalent_ratio([], [], (0.5, 2)).place == "across"
    assert equivalent_proportion(0, 0, (0.4, 0.6)).place == "across"


@pytest.mark.parametrize("band", [(1, 1), (2, 1), (math.nan, 1), (1,), 5, ("a", 2)])
def test_a_band_that_is_none(band):
    with pytest.raises(InputError, match=r"a band must be \(low, high\), two numbers with low < high\. Got "):
        equivalent_mean([1, 2], band)


def test_other_mistakes():
    with pytest.raises(InputError, match=r"alpha must be a number above 0 and below 0\.5\. Got 0\.5\."):
        equivalent_mean([1, 2], (0, 1), alpha=0.5)
    with pytest.raises(InputError, match=r"must have a positive mean\. Got -1\.5\."):
        equivalent_ratio([1, 2], [-1, -2], (0, 1))
