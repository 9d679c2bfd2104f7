"""The comparison of two policies: by hand, symmetric, size and direction, and a value in every corner."""

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
from workbench.statistics import compare, over_workloads
from workbench.statistics.looks import any_time_sign

rows = st.lists(st.tuples(st.integers(1, 500), st.integers(1, 500)), min_size=1, max_size=25)
BASELINE = {1: 100, 2: 110, 3: 120, 4: 90, 5: 100}
OTHER = {1: 95, 2: 112, 3: 113, 4: 90, 5: 92, 6: 70}


def test_by_hand():
    c = compare(BASELINE, OTHER, names=("first_fit", "nearest_boundary"))
    assert c.differences == c.sizes == (5, -2, 7, 0, 8)
    assert (c.n, c.seeds, c.missing) == (5, (1, 2, 3, 4, 5), (6,))
    assert (c.baseline_mean, c.other_mean, c.size.mean) == (104, 100.4, pytest.approx(3.6))
    assert (c.wins, c.losses, c.ties, c.ended, c.zeros) == (3, 1, 1, 5, 0)
    assert c.p_direction == 2 * 5 / 16 / 0.9  # 3 of the 4 that differ, over the planned look
    assert c.sentence == (
        "nearest_boundary against first_fit (lower is better): 4 [-2, 9], better at 3, worse at 1 of 5; "
        "p of size 0.16, of direction 0.69; 1 seed without a pair"
    )


def test_a_ratio_is_the_geometric_mean_and_above_1_is_better():
    times, pace = ([100.0, 200.0, 90.0], [50.0, 100.0, 90.0]), ([1.0, 2.0, 3.0], [2.0, 4.0, 3.0])
    for sides, better in ((times, "lower"), (pace, "higher")):
        one = compare(*sides, better=better, compared_by="ratio")
        assert one.size.mean == pytest.approx(4 ** (1 / 3)) and one.is_ratio and one.least_effect == 0.01
        logs = np.log(sides[0]) - np.log(sides[1]) if better == "lower" else np.log(sides[1]) - np.log(sides[0])
        ends = scipy.stats.ttest_1samp(logs, 0).confidence_interval()
        assert (one.size.low, one.size.high) == pytest.approx((math.exp(ends.low), math.exp(ends.high)))
        assert one.spread == pytest.approx(logs.std(ddof=1))


def test_the_sign_says_which_is_better():
    lower, higher = compare([10, 12], [9, 10]), compare([10, 12], [9, 10], better="higher")
    assert (lower.differences, higher.differences) == ((1, 2), (-1, -2))
    assert (lower.wins, lower.losses, higher.wins, higher.losses) == (2, 0, 0, 2)
    assert repr(compare([1], [1], better="higher").differences) == "(0.0,)"  # never -0.0


def test_agrees_with_scipy():
    rng = np.random.default_rng(1)
    baseline = rng.normal(1000, 50, 200)
    other = baseline - np.rint(rng.normal(1, 3, 200))
    c = compare(baseline, other)
    assert c.ties > 10
    sign = scipy.stats.binomtest(c.wins, c.wins + c.losses).pvalue
    assert c.p_direction == pytest.approx(min(sign / 0.9, any_time_sign(c.wins, c.losses) / 0.1))
    t = scipy.stats.ttest_rel(baseline, other)
    mean = t.confidence_interval()
    assert (c.size.low, c.size.high) == pytest.approx((mean.low, mean.high), rel=1e-6)
    assert c.p_alone == pytest.approx(t.pvalue) and c.p_size == pytest.approx(t.pvalue / 0.9)


@examples(10, 150)
@given(rows, st.sampled_from(["lower", "higher"]))
def test_swapping_the_two_mirrors_everything(values, better):
    left, right = map(list, zip(*values))
    there, back = compare(left, right, better=better), compare(right, left, better=better)
    assert back.differences == tuple(0.0 - d for d in there.differences)
    assert (back.wins, back.losses, back.ties) == (there.losses, there.wins, there.ties)
    assert back.size[:3] == pytest.approx((-there.size.mean, -there.size.high, -there.size.low), abs=1e-9, nan_ok=True)
    assert (back.p_size, back.p_direction) == pytest.approx((there.p_size, there.p_direction), nan_ok=True)


@examples(10, 150)
@given(rows, st.sampled_from(["lower", "higher"]))
def test_swapping_the_two_turns_a_ratio_over(values, better):
    left, right = map(list, zip(*values))
    there, back = (compare(*sides, better=better, compared_by="ratio") for sides in ((left, right), (right, left)))
    turned = 1 / there.size.mean, 1 / there.size.high, 1 / there.size.low
    assert back.size[:3] == pytest.approx(turned, rel=1e-9, nan_ok=True)
    assert back.p_alone == pytest.approx(there.p_alone, rel=1e-6, nan_ok=True)


@examples(8, 100)
@given(rows, st.randoms(use_true_random=False))
def test_the_order_of_rows_changes_no_bit(values, shuffler):
    seeds = list(range(len(values)))
    shuffler.shuffle(seeds)
    left, right = ({s: v[k] for s, v in enumerate(values)} for k in (0, 1))
    shuffled = compare({s: left[s] for s in seeds}, {s: right[s] for s in reversed(seeds)})
    assert repr(shuffled) == repr(compare(left, right))  # repr, as NaN is not NaN


@pytest.mark.parametrize("compared_by", ["ratio", "difference"])
@pytest.mark.parametrize("seeds", [2, 3, *(pytest.param(count, marks=pytest.mark.slow) for count in (6, 13, 60))])
def test_the_interval_leaves_out_no_effect_exactly_where_the_p_alone_is_below_5_per_cent(seeds, compared_by):
    draws = np.random.default_rng(seeds)
    for shift in (0.0, 0.4, -0.4):
        for gains in draws.exponential(1, (25, seeds)) - 0.9 + shift:
            one = compare(1000 + 9 * gains, np.full(seeds, 1000.0), compared_by=compared_by)
            clear = one.size.above(one.no_effect) or one.size.below(one.no_effect)
            assert clear == (one.p_alone < 0.05)


@pytest.mark.parametrize(("seeds", "clear"), [(1, False), (2, False), (5, False), (6, True), (40, True)])
def test_a_constant_difference_has_the_p_of_its_direction(seeds, clear):
    """Without spread t would call two equal differences sure."""
    one = compare([51200] * seeds, [51100] * seeds, compared_by="ratio")
    assert one.p_alone == min(1.0, 2.0 ** (1 - seeds)) and (one.size.low == one.size.mean) == clear
    none = compare([51200] * seeds, [51200] * seeds)
    assert none.is_same and none.p_alone == 1 and none.size[:1] == (0,)


def test_rounding_is_no_spread():
    baseline = np.random.default_rng(0).uniform(10, 1000, 30)
    one = compare(baseline, baseline / 1.05, compared_by="ratio")
    assert one.spread == 0 and one.size.mean == pytest.approx(1.05)


def test_infinite_is_the_worst_rank_and_leaves_no_verdict_of_size():
    """Dropping its pair left 33 of 40 pairs and p = 0.25."""
    draws = np.random.default_rng(0)
    baseline = draws.normal(30, 1, 40)
    other = baseline - draws.exponential(2, 40)
    baseline[:7], other[:2] = np.inf, np.inf
    one = compare(baseline, other, compared_by="ratio")
    assert (one.n, one.ended, one.missing, one.wins, one.ties) == (40, 33, (), 38, 2)
    assert one.p_size == 1 and one.p_direction == pytest.approx(2.0**-37 / 0.9)
    assert one.size.n == 33 and 1 < one.size.low < one.size.high < 2
    assert compare(other, baseline).losses == 38


@pytest.mark.parametrize("value", [0.0, -3.0])
def test_a_value_of_zero_leaves_no_ratio(value):
    one = compare([value, 12.0, 14.0, 16.0], [5.0, 10.0, 11.0, 12.0], compared_by="ratio")
    assert (one.zeros, one.is_ratio, one.p_size, one.no_effect) == (1, False, 1.0, 0.0)
    assert one.size.mean == pytest.approx((value - 5 + 2 + 3 + 4) / 4)
    assert one.least is None and not one.is_equal


def test_one_pair_and_none_are_values():
    one = compare([5], [3])
    assert (one.n, one.size.mean, one.wins) == (1, 2, 1) and math.isnan(one.p_size) and math.isnan(one.size.low)
    none = compare({1: 5, 2: 6}, {1: None, 2: float("nan")})
    assert (none.n, none.missing, none.wins) == (0, (1, 2), 0)
    assert none.sentence == "other against baseline: no seed has a value on both sides, so nothing is compared"
    assert all(map(math.isnan, (none.p_size, none.p_direction, none.size.mean, none.baseline_mean)))


def test_what_draws_nothing_is_exact_and_not_tested():
    one = compare({0: 10}, {0: 8}, compared_by="ratio", exact=True)
    assert one.exact and math.isnan(one.p_size) and math.isnan(one.p_direction) and one.size.mean == pytest.approx(1.25)


@pytest.mark.parametrize(
    ("other", "least", "equal"),
    [
        ([100.2, 99.9, 100.1, 99.8, 100.0, 100.0], None, True),
        ([100.2, 99.9, 100.1, 99.8, 100.0, 100.0], 0.0005, False),
        ([103.0, 97.0, 101.0, 99.0, 100.0, 100.0], None, False),
        ([100.0] * 6, None, True),
        ([100.0] * 4, None, False),  # four that are equal are no sample of a spread
    ],
)
def test_as_good_as_equal_is_an_interval_within_the_least_effect(other, least, equal):
    baseline = [100.0] * len(other)
    assert compare(baseline, other, compared_by="ratio", least_effect=least).is_equal == equal
    assert not compare(baseline, other).is_equal  # no least effect is declared for a difference
    logs = np.log(100 / np.array(other))
    if logs.std():
        low, high = scipy.stats.ttest_1samp(logs, 0).confidence_interval(0.9)
        assert equal == (max(-low, high) < math.log1p(least or 0.01))


def test_over_workloads_is_by_seed_and_of_size_alone():
    draws = np.random.default_rng(3)
    common = draws.normal(0, 0.1, 30)  # what a seed has in common on both workloads
    members = [
        compare(1000 * np.exp(0.05 * k + common + draws.normal(0, 0.01, 30)), np.full(30, 1000.0), compared_by="ratio")
        for k in (0, 1)
    ]
    one = over_workloads(members)
    assert one.size.mean == pytest.approx(math.sqrt(members[0].size.mean * members[1].size.mean))
    assert math.isnan(one.p_direction) and one.spread == pytest.approx(common.std(ddof=1), rel=0.1)
    assert over_workloads(members[:1]) is None
    zero = compare([0.0] * 30, [1.0] * 30, compared_by="ratio")
    assert over_workloads([members[0], zero]) is None


@pytest.mark.parametrize(
    ("more", "says"),
    [
        ({"better": "less"}, "unknown side that is better 'less'; there are higher, lower"),
        ({"compared_by": "median"}, "unknown compared_by 'median'; there are difference, ratio"),
        ({"least_effect": 0}, r"least_effect must be a number above 0\. Got 0\."),
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
