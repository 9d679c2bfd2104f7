"""The sign test and the interval of order statistics: against SciPy, against each other, in every corner."""

import csv
import math
from pathlib import Path

import numpy as np
import pytest
import scipy.stats
from hypothesis import given
from hypothesis import strategies as st

from benchmarks.statistics import error_and_power
from workbench.errors import InputError
from workbench.statistics import compare, least_p, median_interval, sign_p
from workbench.statistics.interval import one_sided_p

TABLE = Path(__file__).parents[2] / "data" / "statistics.csv"
counts = st.integers(1, 300).flatmap(lambda n: st.tuples(st.integers(0, n), st.just(n)))
samples = st.lists(st.one_of(st.integers(-9, 9), st.sampled_from([math.inf, -math.inf])), max_size=40)


@given(counts)
def test_it_is_scipys_binomial_test(count):
    above, pairs = count
    assert sign_p(above, pairs - above, pairs) == pytest.approx(scipy.stats.binomtest(above, pairs).pvalue)
    greater = scipy.stats.binomtest(above, pairs, alternative="greater").pvalue
    assert one_sided_p(above, pairs) == pytest.approx(greater)


def test_a_tie_is_on_neither_side():
    """6 better and 14 equal are a median of 0, and no evidence; without the ties p would be 0.03."""
    assert sign_p(6, 0, 20) == 1.0 and sign_p(6, 0, 6) == 2.0**-5
    assert sign_p(15, 0, 20) == sign_p(15, 5, 20) == pytest.approx(scipy.stats.binomtest(15, 20).pvalue)


@given(samples, st.sampled_from([0.8, 0.95, 0.99]), st.integers(-9, 9))
def test_the_interval_holds_the_values_that_the_test_does_not_reject(sample, level, value):
    values, interval = np.array(sample, float), median_interval(sample, level=level)
    p = sign_p(int((values > value).sum()), int((values < value).sum()), values.size)
    assert (p < 1 - level) == (interval.above(value) or interval.below(value))
    assert math.isnan(interval.low) == (least_p(values.size) >= 1 - level)


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


def test_a_constant_difference_is_decided_and_none_is_the_same():
    """It was p = 2e-6 for a difference of 1e-6, and [-inf, inf] for none."""
    none, some = (compare([51200] * 20, [51200 + d] * 20) for d in (0, 1e-6))
    assert (none.interval[:3], none.p_value, none.is_same) == ((0, 0, 0), 1, True)
    assert "the same at all 20 seeds" in none.sentence
    assert some.p_value == 2.0**-19 and some.interval.high < 0


def test_nineteen_of_twenty_are_decided():
    """Hall's cubic said "undecided" where t is 11.6."""
    gains = np.r_[np.linspace(9, 12.2, 19), -1.0]
    one = compare(1000 + gains, np.full(20, 1000.0))
    assert (one.wins, one.losses) == (19, 1) and one.p_value == pytest.approx(42 / 2**20)
    assert 9 < one.interval.low < one.interval.mean < one.interval.high < 12.2


@pytest.mark.parametrize("world", [*error_and_power.WORLDS])
def test_no_world_without_effect_is_called_one_more_often_than_promised(world):
    draws = np.random.default_rng(7)
    p = np.array([error_and_power.sign_p(error_and_power.WORLDS[world](draws, (1000, 20))) for _ in range(10)])
    for family in (1, 10):
        wrong = int((p[:family].min(axis=0) * family < 0.05).sum())
        assert scipy.stats.binomtest(wrong, 1000, 0.05, alternative="greater").pvalue > 0.01


def test_the_simulated_test_is_the_one_that_is_used():
    differences = np.rint(np.random.default_rng(1).normal(0.5, 1, (40, 25)))
    ours = [compare(row, np.zeros(25), better="lower").p_value for row in differences]
    assert error_and_power.sign_p(differences) == pytest.approx(ours)


def test_the_kept_table_keeps_its_promise_and_shows_what_t_and_wilcoxon_do():
    rows = list(csv.DictReader(TABLE.open()))
    errors = [row for row in rows if row["table"] == "error of the median"]
    assert len(errors) == 12 * 4 * 4 and {row["studies"] for row in errors} == {"4000"}
    assert sum(row["above"] == "1" for row in errors) <= 0.05 * len(errors)
    assert max(float(row["rate"]) for row in errors) < 0.055
    assert {row["test"] for row in rows if row["table"] == "power"} == {"sign", "t", "wilcoxon"}


@pytest.mark.slow
def test_the_table_is_made_again_as_it_is_kept():
    cells = error_and_power.errors_of_the_median(4000)
    kept = [row for row in csv.DictReader(TABLE.open()) if row["table"] == "error of the median"]
    assert [f"{cell.rate:.5g}" for cell in cells] == [row["rate"] for row in kept]
