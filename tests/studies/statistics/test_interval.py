"""The interval of a mean: hand-computed, against scipy and an Efron twin, covering as it promises."""

import math

import numpy as np
import pytest
import scipy.stats
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.depth import long
from workbench.errors import InputError
from workbench.studies.statistics import Interval, mean_interval

whole = st.integers(-1000, 1000)
spread_samples = st.lists(whole, min_size=2, max_size=40).filter(lambda v: len(set(v)) > 1)


def bca_by_the_book(sample, level, resamples, rng):
    """Efron 1987, written out: percentiles of resampled means, shifted by bias z0 and acceleration a (jackknife)."""
    n, mean = len(sample), sum(sample) / len(sample)
    means = sorted(sum(rng.choice(sample, n)) / n for _ in range(resamples))
    below = sum(m < mean for m in means) + sum(m == mean for m in means) / 2
    normal = scipy.stats.norm
    z0 = normal.ppf(below / resamples)
    left_out = [(sum(sample) - x) / (n - 1) for x in sample]
    centre = sum(left_out) / n
    a = sum((centre - j) ** 3 for j in left_out) / (6 * sum((centre - j) ** 2 for j in left_out) ** 1.5)
    limits = []
    for z in (normal.ppf((1 - level) / 2), normal.ppf((1 + level) / 2)):
        share = normal.cdf(z0 + (z0 + z) / (1 - a * (z0 + z)))
        limits.append(means[min(resamples - 1, round(share * (resamples - 1)))])
    return limits


def test_by_hand():
    # mean 3, s = sqrt(10/4), standard error sqrt(0.5), t(4, 0.975) = 2.776445 (any printed table)
    half = 2.776445105 * math.sqrt(0.5)
    got = mean_interval([1, 2, 3, 4, 5])
    assert got == (3.0, pytest.approx(3 - half), pytest.approx(3 + half), 0.95, "t", 5)


@given(spread_samples, st.sampled_from([0.5, 0.9, 0.95, 0.999]))
def test_t_agrees_with_scipy(sample, level):
    low, high = scipy.stats.ttest_1samp(sample, 0).confidence_interval(level)
    got = mean_interval(sample, level=level)
    assert (got.low, got.high) == pytest.approx((low, high), rel=1e-9, abs=1e-9)


@pytest.mark.parametrize("law", ["normal", "exponential", "lognormal"])
def test_bca_agrees_with_the_book(law):
    # on the log-normal sample a plain percentile interval is off by 0.16 of the width, far outside what is allowed here
    sample = getattr(np.random.default_rng(5), law)(size=40)
    got, twin = mean_interval(sample, method="bca"), bca_by_the_book(sample, 0.95, 10_000, np.random.default_rng(1))
    width = twin[1] - twin[0]
    assert abs(got.low - twin[0]) < 0.05 * width
    assert abs(got.high - twin[1]) < 0.05 * width
    assert got.mean == pytest.approx(sample.mean())


def test_bca_follows_the_skew_and_t_does_not():
    sample = np.random.default_rng(3).exponential(size=60)
    t, bca = mean_interval(sample), mean_interval(sample, method="bca")
    assert t.high - t.mean == pytest.approx(t.mean - t.low)
    assert bca.high - bca.mean > 1.1 * (bca.mean - bca.low)


def covered(method, law, size, true_mean, studies):
    rng = np.random.default_rng(2026)
    intervals = [mean_interval(getattr(rng, law)(size=size), method=method, seed=k) for k in range(studies)]
    return sum(i.low <= true_mean <= i.high for i in intervals) / studies


@long
@pytest.mark.parametrize(
    ("method", "law", "size", "true_mean", "studies", "least", "most"),
    [
        ("t", "normal", 5, 0.0, 2000, 0.937, 0.963),  # exact at any size: 95 % within 2.7 standard errors
        ("t", "exponential", 100, 1.0, 2000, 0.92, 0.963),
        ("bca", "normal", 40, 0.0, 400, 0.905, 0.98),
        pytest.param("bca", "exponential", 100, 1.0, 400, 0.905, 0.98, marks=long),
    ],
)
def test_coverage(method, law, size, true_mean, studies, least, most):
    assert least <= covered(method, law, size, true_mean, studies) <= most


@settings(max_examples=25, deadline=None)
@given(spread_samples, whole, st.integers(1, 1000), st.sampled_from(["t", "bca"]))
def test_shift_and_scale_go_through(sample, shift, scale, method):
    was = mean_interval(sample, method=method)
    got = mean_interval([shift + scale * x for x in sample], method=method)
    expected = [shift + scale * value for value in was[:3]]
    assert got[:3] == pytest.approx(expected, rel=1e-6, abs=1e-6 * scale)


@settings(max_examples=25, deadline=None)
@given(spread_samples, st.sampled_from(["t", "bca"]))
def test_turning_the_sign_mirrors(sample, method):
    was, got = mean_interval(sample, method=method), mean_interval([-x for x in sample], method=method)
    assert got[:3] == pytest.approx((-was.mean, -was.high, -was.low), rel=1e-6, abs=1e-6)


def test_same_seed_same_bits_other_seed_other_draws():
    sample = list(range(30))
    first = mean_interval(sample, method="bca", seed=1)
    assert mean_interval(sample, method="bca", seed=1) == first
    assert mean_interval(sample, method="bca", seed=2) != first


def test_the_legacy_global_generator_is_left_alone():
    np.random.seed(1)  # noqa: NPY002
    before = np.random.get_state()[1].tolist()  # noqa: NPY002
    mean_interval([1, 2, 3, 4], method="bca")
    assert np.random.get_state()[1].tolist() == before  # noqa: NPY002


def test_degenerate_samples_are_values():
    nothing, one = mean_interval([]), mean_interval([4])
    assert nothing.method == one.method == "none"
    assert (nothing.n, one.n, one.mean) == (0, 1, 4.0)
    assert all(math.isnan(x) for x in (nothing.mean, nothing.low, nothing.high, one.low, one.high))
    assert not one.above(-math.inf)
    assert not one.below(math.inf)
    for method in ("t", "bca"):
        unknown = Interval(0.1, -math.inf, math.inf, 0.95, "constant", 3)
        assert mean_interval([0.1] * 3, method=method) == unknown
        known, share = mean_interval([0.1] * 3, method=method, span=2.0), 1 - 0.05 ** (1 / 3)
        assert known[:3] == pytest.approx((0.1, 0.1 - 2 * share, 0.1 + 2 * share))


@pytest.mark.parametrize(
    ("sample", "options", "says"),
    [
        ([1, math.nan], {}, "sample[1] must be a finite number; leave failed runs out. Got nan."),
        ([math.inf, 1], {}, "sample[0] must be a finite number; leave failed runs out. Got inf."),
        (["1", "2"], {}, "sample must be numbers. Got ['1', '2']."),
        ([[1, 2]], {}, "sample must be one row of numbers. Got [[1, 2]]."),
        ([1, 2], {"level": 1.0}, "level must be a number above 0 and below 1. Got 1.0."),
        ([1, 2], {"level": "high"}, "level must be a number above 0 and below 1. Got 'high'."),
        ([1, 2], {"method": "BCA"}, "unknown interval method 'BCA'; there are bca, t. Did you mean bca?"),
    ],
)
def test_mistakes_are_one_sentence(sample, options, says):
    with pytest.raises(InputError) as wrong:
        mean_interval(sample, **options)
    assert str(wrong.value) == says
