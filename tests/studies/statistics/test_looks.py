"""Looks at data that grow: against published constants, against simulated studies, and against rules that cheat."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.depth import long
from workbench.errors import InputError
from workbench.studies.statistics import Looks, mean_interval
from workbench.studies.statistics.looks import chance_beyond

POCOCK = {
    2: 2.178,
    3: 2.289,
    4: 2.361,
    5: 2.413,
    6: 2.453,
    7: 2.485,
    8: 2.512,
    9: 2.535,
    10: 2.555,
    15: 2.626,
    20: 2.672,
}
"""Constants of Pocock's test at 5 %, two-sided: Jennison and Turnbull, Group Sequential Methods (2000), table 2.1."""


@pytest.mark.parametrize(("looks", "constant"), POCOCK.items())
def test_the_chance_is_that_of_pococks_published_constants(looks, constant):
    counts = [50 * (k + 1) for k in range(looks)]
    assert chance_beyond(counts, constant) == pytest.approx(0.05, abs=1.5e-4)


@long
@pytest.mark.parametrize("counts", [(20, 40, 60, 80, 100), (20, 40, 50), (5, 400), (10, 20, 40, 80, 160)])
@pytest.mark.parametrize("level", [0.8, 0.95, 0.99])
def test_no_look_of_simulated_normal_sums_is_beyond_the_limit_more_often_than_the_level_says(counts, level):
    drawn = np.random.default_rng(1).standard_normal((20_000, counts[-1])).cumsum(axis=1)
    ends = np.array(counts)
    z = np.abs(drawn[:, ends - 1]) / np.sqrt(ends)
    from scipy.stats import norm

    limit = norm.ppf((1 + Looks(counts).level(level)) / 2)
    wrong = (z > limit).any(axis=1).mean()
    assert wrong == pytest.approx(1 - level, abs=4 * np.sqrt(level * (1 - level) / 20_000))


@settings(max_examples=12)
@given(st.floats(1e-6, 0.999), st.lists(st.integers(1, 40), min_size=1, max_size=12))
def test_p_values_and_levels_say_the_same(p, steps):
    looks = Looks(tuple(np.cumsum(steps).tolist()))
    corrected = looks.p_value(p)
    assert p <= corrected <= min(1, len(steps) * p) + 1e-12
    if corrected < 0.9999:
        assert 1 - looks.level(1 - corrected) == pytest.approx(p, rel=1e-4, abs=1e-9)


def test_very_small_p_values_keep_their_order():
    looks = Looks(tuple(range(20, 401, 20)))
    results = [looks.p_value(10.0**-power) for power in range(1, 40)]
    assert results == sorted(results, reverse=True)
    assert results[-1] == pytest.approx(20 * 10.0**-39)


def test_one_look_changes_nothing():
    assert (Looks((30,)).level(0.9), Looks((30,)).p_value(0.03)) == (0.9, 0.03)


@pytest.mark.parametrize("counts", [(), (20, 20), (40, 20), (0, 20)])
def test_looks_that_do_not_rise_are_refused(counts):
    with pytest.raises(InputError, match=r"looks must be numbers that rise\. Got "):
        Looks(counts).level(0.95)


def chased(samples, counts, level):
    """How often the interval misses the true mean 0 when one stops as soon as it is clear of zero: the worst rule."""
    missed = 0
    for sample in samples:
        intervals = (mean_interval(sample[:count], level=level) for count in counts)
        missed += any(interval.above(0) or interval.below(0) for interval in intervals)
    return missed / len(samples)


def test_stopping_at_the_first_significant_look_misses_rarely_with_the_corrected_level_and_often_without():
    counts = tuple(range(20, 201, 20))
    samples = np.random.default_rng(2).standard_normal((600, 200))
    assert chased(samples, counts, Looks(counts).level(0.95)) <= 0.05 + 3 * np.sqrt(0.05 * 0.95 / 600)
    assert chased(samples, counts, 0.95) > 0.15
