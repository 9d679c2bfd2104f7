"""The paired permutation test: all sign patterns, the exact distribution by convolution, scipy."""

import math
from collections import Counter
from itertools import product

import numpy as np
import pytest
import scipy.stats
from hypothesis import given, settings
from hypothesis import strategies as st

from workbench.studies.statistics import permutation_test
from workbench.studies.statistics.permutation_test import FLIPS


def by_all_signs(differences):
    observed = abs(sum(differences))
    patterns = list(product([-1, 1], repeat=len(differences)))
    return sum(abs(sum(s * d for s, d in zip(signs, differences))) >= observed for signs in patterns) / len(patterns)


def by_convolution(differences):
    ways = Counter({0: 1})
    for d in differences:
        ways = sum((Counter({total + s * d: n for total, n in ways.items()}) for s in (-1, 1)), Counter())
    observed = abs(sum(differences))
    return sum(n for total, n in ways.items() if abs(total) >= observed) / 2 ** len(differences)


@settings(max_examples=60, deadline=None)
@given(st.lists(st.integers(-6, 6), min_size=1, max_size=9))
def test_exact_where_all_patterns_can_be_tried(differences):
    got = permutation_test(differences)
    assert got.p_value == pytest.approx(by_all_signs(differences))
    assert got.method == "exact"


def test_fractions_do_not_lose_ties_to_rounding():
    # in truth 13 of 16 patterns are as extreme; without a tolerance only 9, as 0.1 + 0.1 + 0.1 is not 0.3 in binary
    assert permutation_test([0.1, 0.1, 0.1, -0.3, 0.2]).p_value == permutation_test([1, 1, 1, -3, 2]).p_value == 13 / 16


def test_agrees_with_scipy():
    differences = np.random.default_rng(2).normal(0.5, 1, 11)
    expected = scipy.stats.permutation_test((differences,), np.mean, permutation_type="samples", n_resamples=np.inf)
    assert permutation_test(differences).p_value == pytest.approx(expected.pvalue)


@pytest.mark.parametrize("shift", [0, 1, 2])
def test_random_flips_estimate_the_exact_p(shift):
    differences = (np.random.default_rng(6).integers(-9, 10, 60) + shift).tolist()
    exact, got = by_convolution(differences), permutation_test(differences)
    assert got.method == "monte_carlo"
    assert abs(got.p_value - exact) < 4 * np.sqrt(exact * (1 - exact) / FLIPS) + 1 / FLIPS


def test_never_zero_and_the_same_again():
    differences = list(range(1, 101))
    assert permutation_test(differences)[1:3] == (2.0**-99, "bound")
    noisy = np.random.default_rng(1).normal(0.1, 1, 50)
    assert permutation_test(noisy, seed=3) == permutation_test(noisy, seed=3)
    assert permutation_test(noisy, seed=3) != permutation_test(noisy, seed=4)


@given(st.lists(st.integers(-30, 30), min_size=14, max_size=30))
@settings(max_examples=20, deadline=None)
def test_mirrored(differences):
    was, got = permutation_test(differences), permutation_test([-d for d in differences])
    assert (got.p_value, got.statistic) == (was.p_value, -was.statistic)


def test_many_differences_approach_the_normal_law():
    differences = np.random.default_rng(9).normal(0, 1, 5000)
    z = abs(differences.sum()) / np.sqrt((differences**2).sum())
    assert permutation_test(differences).p_value == pytest.approx(2 * scipy.stats.norm.sf(z), abs=0.02)


@pytest.mark.parametrize("size", [14, 16, 17, 23])
def test_every_difference_flips_fairly(size):
    # one difference outweighs the rest of the eight: were its sign not fair, p would move by a tenth and more
    for heavy in range(size):
        differences = [1] * size
        differences[heavy] = -5
        exact, got = by_convolution(differences), permutation_test(differences).p_value
        assert abs(got - exact) < 5 * np.sqrt(exact * (1 - exact) / FLIPS) + 1 / FLIPS


def test_only_zeros():
    assert permutation_test([0, 0]) == (0.0, 1.0, "exact", 0)
    assert permutation_test([]).n == 0 and math.isnan(permutation_test([]).p_value)
