"""Looks at data that grow: against a count of all paths, against simulated studies, and against rules that cheat."""

from itertools import product

import numpy as np
import pytest

from benchmarks.statistics.error_and_power import sign_p
from workbench.errors import InputError
from workbench.statistics import Looks, compare
from workbench.statistics.corrections import chance_of_any

TEN = tuple(range(20, 201, 20))


@pytest.mark.parametrize("counts", [(6,), (5, 9), (3, 6, 11)])
@pytest.mark.parametrize("p", [0.04, 0.2, 0.5])
def test_the_chance_is_counted_over_all_paths(counts, p):
    steps = np.array(list(product((-1.0, 1.0), repeat=counts[-1])))
    ends = np.any([sign_p(steps[:, :count]) <= p for count in counts], axis=0)
    assert chance_of_any(counts, p) == pytest.approx(ends.mean())


@pytest.mark.parametrize("world", ["normal", "ties"])
def test_ten_looks_without_effect_err_often_uncorrected_and_rarely_corrected(world):
    draws = np.random.default_rng(2)
    signs = draws.normal(0, 1, (2000, 200))
    differences = np.rint(signs * 0.7) if world == "ties" else signs
    smallest = np.min([sign_p(differences[:, :count]) for count in TEN], axis=0)
    if world == "normal":
        assert (smallest < 0.05).mean() > 0.15
    looks = Looks(TEN)
    corrected = np.array([looks.p_value(float(p)) for p in np.unique(smallest)])
    share = (corrected[np.searchsorted(np.unique(smallest), smallest)] < 0.05).mean()
    assert share <= 0.05 + 3 * np.sqrt(0.05 * 0.95 / 2000)


@pytest.mark.slow
def test_interval_and_p_value_at_a_corrected_look_agree():
    looks, draws = Looks((10, 20, 40)), np.random.default_rng(3)
    for gains in draws.normal(0.4, 1, (200, 40)):
        one = compare(1000 + gains, np.full(40, 1000.0), level=looks.level(0.95))
        assert (looks.p_value(one.p_value) < 0.05) == (one.interval.above(0) or one.interval.below(0))


def test_more_looks_never_make_a_p_value_smaller():
    results = [[Looks(TEN[-k:]).p_value(10.0**-power) for k in (1, 2, 5, 10)] for power in (1, 2, 4, 8, 30)]
    assert all(row == pytest.approx(sorted(row)) for row in results) and results[-1][0] == 1e-30


def test_one_look_changes_nothing():
    assert (Looks((30,)).level(0.9), Looks((30,)).p_value(0.03)) == (0.9, 0.03)
    assert np.isnan(Looks((10, 20)).p_value(np.nan))


@pytest.mark.parametrize("counts", [(), (20, 20), (40, 20), (0, 20)])
def test_looks_that_do_not_rise_are_refused(counts):
    with pytest.raises(InputError, match=r"looks must be numbers that rise\. Got "):
        Looks(counts).p_value(0.05)
