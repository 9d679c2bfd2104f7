"""Exact binomial intervals and tests, against scipy, whole-number arithmetic and their own promise."""

from fractions import Fraction
from math import comb, isnan

import pytest
import scipy.stats
from hypothesis import given
from hypothesis import strategies as st

from workbench.errors import InputError
from workbench.studies.statistics import proportion_interval, sign_test
from workbench.studies.statistics.proportion import chance_of_at_least, chance_of_at_most, half_test

counts = st.integers(1, 300).flatmap(lambda n: st.tuples(st.integers(0, n), st.just(n)))


def tail(successes, trials, chance):
    """P(X >= successes), added up in whole numbers."""
    p = Fraction(chance)
    return sum(comb(trials, k) * p**k * (1 - p) ** (trials - k) for k in range(successes, trials + 1))


@given(counts, st.sampled_from([0.8, 0.95, 0.99]))
def test_interval_agrees_with_scipy(count, level):
    expected = scipy.stats.binomtest(*count).proportion_ci(level, method="exact")
    got = proportion_interval(*count, level=level)
    assert (got.low, got.high) == pytest.approx((expected.low, expected.high), abs=1e-10)
    assert (got.mean, got.n, got.method) == (count[0] / count[1], count[1], "clopper_pearson")


def test_interval_by_hand():
    # 0 of n: the upper limit solves (1 - p)^n = 0.025
    assert proportion_interval(0, 10)[1:3] == (0.0, pytest.approx(1 - 0.025**0.1))
    assert proportion_interval(10, 10)[1:3] == (pytest.approx(0.025**0.1), 1.0)


@pytest.mark.parametrize("chance", [0.02, 0.1, 0.37, 0.5, 0.9])
def test_interval_covers_at_least_its_level(chance):
    trials = 25
    inside = [i.low <= chance <= i.high for i in (proportion_interval(k, trials) for k in range(trials + 1))]
    weights = [comb(trials, k) * chance**k * (1 - chance) ** (trials - k) for k in range(trials + 1)]
    assert sum(w for w, covers in zip(weights, inside) if covers) >= 0.95


@given(counts.filter(lambda c: c[1] <= 60), st.sampled_from([0.125, 0.5, 0.75]))
def test_tails_agree_with_whole_numbers(count, chance):
    successes, trials = count
    assert chance_of_at_least(successes, trials, chance) == pytest.approx(float(tail(successes, trials, chance)))
    at_most = 1 - tail(successes + 1, trials, chance)
    assert chance_of_at_most(successes, trials, chance) == pytest.approx(float(at_most))


def test_far_tails_keep_their_digits():
    assert half_test(198, 200) == pytest.approx(float(2 * tail(198, 200, 0.5)), rel=1e-9)
    assert half_test(200, 200) == pytest.approx(2.0**-199, rel=1e-9)


@given(st.integers(0, 200), st.integers(0, 200))
def test_sign_test_agrees_with_scipy_and_is_symmetric(wins, losses):
    got = sign_test(wins, losses)
    expected = scipy.stats.binomtest(wins, wins + losses).pvalue if wins + losses else 1.0
    assert got.p_value == pytest.approx(expected)
    assert got.p_value == sign_test(losses, wins).p_value
    assert (got.statistic, got.n, got.method) == (wins, wins + losses, "exact")


def test_sign_test_by_hand():
    # 8 of 10: 2 * (45 + 10 + 1) / 1024
    assert sign_test(8, 2).p_value == pytest.approx(112 / 1024)


def test_no_trials_are_a_value():
    nothing = proportion_interval(0, 0)
    assert nothing.method == "none"
    assert all(isnan(x) for x in nothing[:3])
    assert half_test(0, 0) == 1.0


@pytest.mark.parametrize(("successes", "trials"), [(-1, 3), (4, 3), (0.5, 3), (1, 2.0)])
def test_counts_that_are_none(successes, trials):
    with pytest.raises(InputError, match=r"whole numbers, 0 <= successes <= trials. Got .* of .*\."):
        proportion_interval(successes, trials)
    with pytest.raises(InputError):
        chance_of_at_least(successes, trials, 0.5)
