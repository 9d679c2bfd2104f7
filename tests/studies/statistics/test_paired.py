"""The comparison of two policies: by hand, against scipy, symmetric, fast, and a value in every corner."""

import math
import subprocess
import sys

import numpy as np
import pytest
import scipy.stats
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.work_counts import growth, peak_bytes
from workbench.errors import InputError
from workbench.studies.statistics import compare, estimand, mean_interval, paired, permutation_test, wilcoxon

rows = st.lists(st.tuples(st.integers(1, 500), st.integers(1, 500)), min_size=2, max_size=25)
BASELINE = {1: 100, 2: 110, 3: 120, 4: 90, 5: 100}
OTHER = {1: 95, 2: 112, 3: 113, 4: 90, 5: 92, 6: 70}


def test_by_hand():
    c = compare(BASELINE, OTHER, names=("first_fit", "nearest_boundary"))
    assert c.differences == (5, -2, 7, 0, 8)
    assert (c.n, c.seeds, c.missing) == (5, (1, 2, 3, 4, 5), (6,))
    assert (c.baseline_mean, c.other_mean, c.interval.mean, c.median) == (104, 100.4, pytest.approx(3.6), 5)
    assert (c.wins, c.losses, c.ties) == (3, 1, 1)
    assert (c.saving.mean, c.win_share.mean) == (pytest.approx(3.6 / 104), 0.6)
    # sizes with the zero ranked first (Pratt): 0 2 5 7 8 -> ranks 1 2 3 4 5; W+ = 12, W- = 2; P(W <= 2) = 2 / 16
    assert c.wilcoxon == (12, 4 / 16, "exact", 4)
    assert c.rank_biserial == pytest.approx(10 / 14)
    assert c.sign == (3, 2 * 5 / 16, "exact", 4)
    assert c.permutation.p_value == 4 / 16  # |sum| >= 18 of 22: all up, all down, the 2 alone down, the 2 alone up
    assert c.cohen_dz == pytest.approx(3.6 / np.std([5, -2, 7, 0, 8], ddof=1))


def test_the_sign_says_which_is_better():
    lower, higher = compare([10, 12], [9, 10]), compare([10, 12], [9, 10], better="higher")
    assert lower.differences == (1, 2)
    assert higher.differences == (-1, -2)
    assert (lower.wins, lower.losses, higher.wins, higher.losses) == (2, 0, 0, 2)
    assert repr(compare([1], [1], better="higher").differences) == "(0.0,)"  # never -0.0
    assert (lower.saving.mean, higher.saving.mean) == (pytest.approx(3 / 22), pytest.approx(-3 / 22))


def test_options_reach_the_tests():
    left, right = [5, 0, 3, 9, 4, 4, 8, 1] * 4, [5, 1, 3, 4, 4, 1, 9, 0] * 4
    differences = [a - b for a, b in zip(left, right)]
    was, got = compare(left, right), compare(left, right, zeros="wilcox", seed=1, level=0.9)
    assert got.wilcoxon == wilcoxon(differences, zeros="wilcox") != was.wilcoxon == wilcoxon(differences)
    assert got.rank_biserial != was.rank_biserial
    assert got.permutation == permutation_test(differences, seed=1) != was.permutation
    assert {i.level for i in (got.interval, got.saving, got.win_share)} == {0.9}
    assert compare(left, right, method="bca", seed=1).interval == mean_interval(differences, method="bca", seed=1)


def test_agrees_with_scipy():
    rng = np.random.default_rng(1)
    baseline = rng.normal(1000, 50, 200)
    other = baseline - rng.normal(4, 20, 200)
    c = compare(baseline, other)
    interval = scipy.stats.ttest_rel(baseline, other).confidence_interval()
    assert (c.interval.low, c.interval.high) == pytest.approx((interval.low, interval.high), rel=1e-6)
    assert c.wilcoxon.p_value == pytest.approx(scipy.stats.wilcoxon(baseline - other, method="exact").pvalue)
    assert c.p_value == pytest.approx(scipy.stats.ttest_rel(baseline, other).pvalue, rel=0.9)
    wins = int((baseline > other).sum())
    assert c.sign.p_value == pytest.approx(scipy.stats.binomtest(wins, 200).pvalue)


@settings(max_examples=30, deadline=None)
@given(rows, st.sampled_from(["lower", "higher"]), st.sampled_from(["t", "bca"]))
def test_swapping_the_two_mirrors_everything(values, better, method):
    left, right = map(list, zip(*values))
    there = compare(left, right, better=better, method=method)
    back = compare(right, left, better=better, method=method)
    assert back.differences == tuple(0.0 - d for d in there.differences)
    assert (back.wins, back.losses, back.ties) == (there.losses, there.wins, there.ties)
    mirrored = (-there.interval.mean, -there.interval.high, -there.interval.low)
    assert back.interval[:3] == pytest.approx(mirrored, abs=1e-6, rel=1e-6)
    for test in ("wilcoxon", "sign", "permutation"):
        assert getattr(back, test).p_value == getattr(there, test).p_value
    for figure in ("median", "rank_biserial", "cohen_dz"):
        assert getattr(back, figure) == pytest.approx(-getattr(there, figure))


@settings(max_examples=30, deadline=None)
@given(rows, st.integers(0, 1000), st.integers(1, 50))
def test_shift_and_scale(values, shift, scale):
    left, right = (np.array(v) for v in zip(*values))
    was, got = compare(left, right), compare(scale * left + shift, scale * right + shift)
    assert got.interval[:3] == pytest.approx([scale * x for x in was.interval[:3]], abs=1e-6)
    assert (got.wilcoxon.p_value, got.permutation.p_value) == (was.wilcoxon.p_value, was.permutation.p_value)
    assert got.cohen_dz == pytest.approx(was.cohen_dz)
    assert got.rank_biserial == was.rank_biserial
    if not shift:
        assert got.saving[:3] == pytest.approx(was.saving[:3], nan_ok=True)


@settings(max_examples=20, deadline=None)
@given(rows, st.randoms(use_true_random=False))
def test_the_order_of_rows_changes_no_bit(values, shuffler):
    seeds = list(range(len(values)))
    shuffler.shuffle(seeds)
    left, right = ({s: v[k] for s, v in enumerate(values)} for k in (0, 1))
    shuffled = compare({s: left[s] for s in seeds}, {s: right[s] for s in reversed(seeds)}, method="bca")
    assert repr(shuffled) == repr(compare(left, right, method="bca"))  # repr, as NaN is not NaN


def test_no_difference_is_a_result():
    for method in ("t", "bca"):
        c = compare([5, 6, 7, 8], [5, 6, 7, 8], method=method)
        far = 3 * (1 - 0.05**0.25)  # 5 to 8: no seed can differ by more than was seen of either
        assert c.interval == (0, pytest.approx(-far), pytest.approx(far), 0.95, "constant", 4)
        assert (c.saving.mean, c.median, c.rank_biserial, c.cohen_dz) == (0, 0, 0, 0)
        assert (c.wins, c.losses, c.ties, c.win_share.mean) == (0, 0, 4, 0)
        assert c.wilcoxon.p_value == c.sign.p_value == c.permutation.p_value == c.p_value == 1


def test_one_pair_and_none_are_values():
    one = compare([5], [3])
    assert (one.n, one.interval.mean, one.wins, one.p_value) == (1, 2, 1, 1)
    assert math.isnan(one.interval.low)
    assert math.isnan(one.cohen_dz)
    none = compare({1: 5, 2: 6}, {1: None, 2: float("nan")})
    assert (none.n, none.missing, none.wins) == (0, (1, 2), 0)
    assert all(math.isnan(test.p_value) for test in (none.wilcoxon, none.sign, none.permutation))
    assert none.sentence == "other against baseline: no seed has a value on both sides, so nothing is compared"
    apart = compare({1: 5, 2: None}, {1: None, 2: 6})
    assert (apart.n, apart.missing) == (0, (1, 2)) and math.isnan(apart.p_value)
    assert all(map(math.isnan, (none.interval.mean, none.median, none.baseline_mean, none.saving.mean)))


def test_equal_differences_and_a_baseline_of_zero():
    same = compare([5, 6, 7], [4, 5, 6])
    assert (same.cohen_dz, same.interval.method) == (math.inf, "constant")
    assert compare([4, 5, 6], [5, 6, 7]).cohen_dz == -math.inf
    assert math.isnan(compare([0, 0], [1, 2]).saving.mean)


def test_the_sentence_says_what_is_missing():
    c = compare(BASELINE, OTHER, names=("first_fit", "nearest_boundary"))
    assert c.sentence == (
        "nearest_boundary against first_fit (lower is better): mean difference 3.6 [-1.855, 9.055] (95 %, t), "
        "3.46% of the baseline; better in 3, worse in 1, equal in 1 of 5 pairs; p = 0.25 (exact); "
        "1 seeds without a pair"
    )
    assert "nan%" not in compare([0, 0], [1, 2]).sentence
    assert "without" not in compare([0, 0], [1, 2]).sentence


def test_an_unknown_side():
    with pytest.raises(InputError, match="unknown side that is better 'less'; there are higher, lower"):
        compare([1], [2], better="less")


def measured(pairs):
    """Values of two policies at so many seeds."""
    rng = np.random.default_rng(0)
    baseline = dict(enumerate(rng.integers(900, 1100, pairs).tolist()))
    return baseline, {seed: value - int(rng.integers(-30, 32)) for seed, value in baseline.items()}


@pytest.mark.parametrize("method", ["t", "bca"])
def test_the_work_grows_no_faster_than_the_pairs(method):
    sides = {pairs: measured(pairs) for pairs in (200, 2000)}
    assert growth(lambda pairs: compare(*sides[pairs], method=method), 200) < 10
    few, many = (peak_bytes(lambda pairs=pairs: compare(*sides[pairs], method=method)) for pairs in sides)
    assert many < 11 * few


def test_scipy_is_loaded_only_when_needed():
    script = (
        "import sys; from workbench.studies.statistics import compare; assert 'scipy' not in sys.modules\n"
        "compare([1, 2, 4], [1, 1, 1]); assert 'scipy.stats' not in sys.modules and 'scipy.special' in sys.modules\n"
        "compare([1, 2, 4] * 9, [1, 1, 1] * 9, method='bca'); assert 'scipy.stats' in sys.modules"
    )
    subprocess.run([sys.executable, "-c", script], check=True, timeout=60)


def test_the_mean_difference_is_permuted_once(monkeypatch):
    """The test of the estimand and the permutation test that is shown are one: both draw 9,999 patterns."""
    requests = []

    def counted(*given, **more):
        requests.append(given)
        return permutation_test(*given, **more)

    for room in (estimand, paired):
        monkeypatch.setattr(room, "permutation_test", counted)
    before = np.random.default_rng(1).normal(100, 3, 40)
    after = before - np.random.default_rng(2).normal(0.5, 1, 40)
    result = compare(before, after)
    assert result.permutation == permutation_test(result.differences) and len(requests) == 1
    by_ranks = compare(before, after, method="ranks")
    assert by_ranks.permutation == result.permutation and len(requests) == 2
