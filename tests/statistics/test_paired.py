"""The comparison of two policies: by hand, symmetric, one estimand a verdict, and a value in every corner."""

import math
import subprocess
import sys

import numpy as np
import pytest
import scipy.stats
from hypothesis import given
from hypothesis import strategies as st

from tests.slow import examples
from tests.work_counts import growth, peak_bytes
from workbench.errors import InputError
from workbench.statistics import compare, superior

rows = st.lists(st.tuples(st.integers(1, 500), st.integers(1, 500)), min_size=1, max_size=25)
BASELINE = {1: 100, 2: 110, 3: 120, 4: 90, 5: 100}
OTHER = {1: 95, 2: 112, 3: 113, 4: 90, 5: 92, 6: 70}


def test_by_hand():
    c = compare(BASELINE, OTHER, names=("first_fit", "nearest_boundary"))
    assert c.differences == (5, -2, 7, 0, 8)
    assert (c.n, c.seeds, c.missing) == (5, (1, 2, 3, 4, 5), (6,))
    assert (c.baseline_mean, c.other_mean, c.interval.mean, c.mean.mean) == (104, 100.4, 5, pytest.approx(3.6))
    assert (c.wins, c.losses, c.ties) == (3, 1, 1)
    assert c.saving.mean == 5 / 100  # of 5/100, -2/110, 7/120, 0 and 8/100
    assert c.p_value == 1.0  # 3 of 5, ties included: 2 * 16 / 32
    assert c.sentence == (
        "nearest_boundary against first_fit (lower is better): better at 3, worse at 1, the same at 1 of 5 seeds; "
        "median difference 5, 5.00% of the baseline; p = 1; mean 3.6 [-1.855, 9.055]; 1 seeds without a pair"
    )


def test_the_sign_says_which_is_better():
    lower, higher = compare([10, 12], [9, 10]), compare([10, 12], [9, 10], better="higher")
    assert (lower.differences, higher.differences) == ((1, 2), (-1, -2))
    assert (lower.wins, lower.losses, higher.wins, higher.losses) == (2, 0, 0, 2)
    assert repr(compare([1], [1], better="higher").differences) == "(0.0,)"  # never -0.0
    assert (lower.saving.mean, higher.saving.mean) == pytest.approx((16 / 120, -16 / 120))


def test_agrees_with_scipy():
    rng = np.random.default_rng(1)
    baseline = rng.normal(1000, 50, 200)
    other = baseline - rng.normal(4, 20, 200)
    c = compare(baseline, other)
    assert c.p_value == pytest.approx(scipy.stats.binomtest(c.wins, 200).pvalue)
    mean = scipy.stats.ttest_rel(baseline, other).confidence_interval()
    assert (c.mean.low, c.mean.high) == pytest.approx((mean.low, mean.high), rel=1e-6)
    ends = scipy.stats.quantile_test(baseline - other, q=0, p=0.5).confidence_interval(0.95)
    assert (c.interval.low, c.interval.high) == pytest.approx((ends.low, ends.high))


@examples(10, 150)
@given(rows, st.sampled_from(["lower", "higher"]))
def test_swapping_the_two_mirrors_everything(values, better):
    left, right = map(list, zip(*values))
    there, back = compare(left, right, better=better), compare(right, left, better=better)
    assert back.differences == tuple(0.0 - d for d in there.differences)
    assert (back.wins, back.losses, back.ties) == (there.losses, there.wins, there.ties)
    for one, other in ((there.interval, back.interval), (there.mean, back.mean)):
        assert other[:3] == pytest.approx((-one.mean, -one.high, -one.low), abs=1e-9, nan_ok=True)
    assert back.p_value == there.p_value


@examples(8, 100)
@given(rows, st.randoms(use_true_random=False))
def test_the_order_of_rows_changes_no_bit(values, shuffler):
    seeds = list(range(len(values)))
    shuffler.shuffle(seeds)
    left, right = ({s: v[k] for s, v in enumerate(values)} for k in (0, 1))
    shuffled = compare({s: left[s] for s in seeds}, {s: right[s] for s in reversed(seeds)})
    assert repr(shuffled) == repr(compare(left, right))  # repr, as NaN is not NaN


@pytest.mark.parametrize("estimand", ["median", "mean"])
@pytest.mark.parametrize("seeds", [5, *(pytest.param(count, marks=pytest.mark.slow) for count in (6, 13, 40, 60))])
def test_interval_sign_p_and_case_agree(seeds, estimand):
    draws = np.random.default_rng(seeds)
    for shift in (0.0, 0.4, -0.4):
        for gains in draws.exponential(1, (25, seeds)) - 0.9 + shift:
            one = compare(1000 + gains, np.full(seeds, 1000.0), estimand=estimand)
            clear = one.interval.above(0) or one.interval.below(0)
            assert clear == (one.p_value < 0.05)
            side = superior("", "", one).side
            assert side == ("neither" if not clear else "for" if one.interval.mean > 0 else "against")


def test_rare_disasters_are_seen_in_the_mean():
    gains = np.r_[np.full(30, 2.0), np.full(10, -50.0)]
    median, mean = (compare(1000 + gains, np.full(40, 1000.0), estimand=e) for e in ("median", "mean"))
    assert median.p_value < 0.05 and median.interval.low == 2 and median.mean.high < 0
    assert (mean.interval.mean, mean.interval.method) == (median.mean.mean, "bootstrap_t") and mean.interval.high < 0
    assert mean.p_value < 0.05 and mean.saving.mean == pytest.approx(-11 / 989)


def test_a_mean_of_few_seeds_is_not_judged():
    few = compare(np.arange(39) + 100.0, np.arange(39) % 3, estimand="mean")
    assert few.p_value == 1 and math.isnan(few.interval.low) and few.interval.mean > 0
    assert compare(np.arange(40) + 100.0, np.arange(40) % 3, estimand="mean").p_value == 1e-4


def test_infinite_is_the_worst_rank():
    """Dropping its pair left 33 of 40 pairs and p = 0.25."""
    draws = np.random.default_rng(0)
    baseline = draws.normal(30, 1, 40)
    other = baseline - draws.exponential(2, 40)
    baseline[:7] = np.inf
    one = compare(baseline, other)
    assert (one.n, one.infinite, one.missing, one.wins) == (40, 7, (), 40)
    assert one.p_value == 2.0**-39 and 0 < one.interval.low < one.interval.high < np.inf
    assert np.isinf(one.baseline_mean) and np.isinf(one.mean.mean) and math.isnan(one.mean.low)
    assert compare(other, baseline).interval.high < 0


def test_one_pair_and_none_are_values():
    one = compare([5], [3])
    assert (one.n, one.interval.mean, one.wins, one.p_value) == (1, 2, 1, 1)
    assert math.isnan(one.interval.low)
    none = compare({1: 5, 2: 6}, {1: None, 2: float("nan")})
    assert (none.n, none.missing, none.wins) == (0, (1, 2), 0)
    assert none.sentence == "other against baseline: no seed has a value on both sides, so nothing is compared"
    assert all(map(math.isnan, (none.p_value, none.interval.mean, none.baseline_mean, none.saving.mean)))


def test_a_baseline_of_zero_has_no_share():
    assert math.isnan(compare([0, 0], [1, 2]).saving.mean) and "nan%" not in compare([0, 0], [1, 2]).sentence
    assert compare([0, 4, 4], [0, 2, 2]).saving.mean == 0.5  # nothing of nothing is no gain
    assert math.isnan(compare([-1, 4], [0, 2]).saving.mean)


@pytest.mark.parametrize(
    ("more", "says"),
    [
        ({"better": "less"}, "unknown side that is better 'less'; there are higher, lower"),
        ({"estimand": "t"}, "unknown estimand 't'; there are mean, median"),
    ],
)
def test_what_is_unknown_is_refused(more, says):
    with pytest.raises(InputError, match=says):
        compare([1], [2], **more)


def measured(pairs):
    """Values of two policies at so many seeds."""
    rng = np.random.default_rng(0)
    baseline = {seed: int(rng.integers(5000, 6000)) for seed in range(pairs)}
    return baseline, {seed: value - int(rng.integers(-30, 32)) for seed, value in baseline.items()}


def test_the_work_grows_no_faster_than_the_pairs():
    sides = {pairs: measured(pairs) for pairs in (200, 2000)}
    assert growth(lambda pairs: compare(*sides[pairs]), 200) < 10
    few, many = (peak_bytes(lambda pairs=pairs: compare(*sides[pairs])) for pairs in sides)
    assert many < 11 * few


@pytest.mark.slow
def test_scipy_is_loaded_only_when_needed():
    script = (
        "import sys; from workbench.statistics import compare; assert 'scipy' not in sys.modules\n"
        "compare([1, 2, 4], [1, 1, 1]); assert 'scipy.stats' not in sys.modules and 'scipy.special' in sys.modules"
    )
    subprocess.run([sys.executable, "-c", script], check=True, timeout=120)
