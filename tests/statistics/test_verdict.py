"""Words by two tests a comparison, corrected over all of them: every word by hand, and what is promised of seeds."""

import math

import numpy as np
import pytest
from scipy.stats import norm

from workbench.errors import InputError
from workbench.statistics import compare, holm, judge, over_workloads
from workbench.statistics.comparison import PairedComparison
from workbench.statistics.floors import fewest_seeds, fewest_shuffles, least_p
from workbench.statistics.verdict import seeds_that_tell

SKEWED_UP = [-1.0] * 34 + [60.0] * 6
"""Nine in ten lose a little, and a few gain much."""


def word(gains, **more):
    return verdict(gains, **more).word


def verdict(gains, **more) -> object:
    gains = np.array(gains, float)
    return judge({"": compare(1000 + gains, np.full(gains.size, 1000.0), **more)})[""]


@pytest.mark.parametrize(
    ("gains", "expected"),
    [
        ([3.0, 4.0, 5.0, 3.0, 4.0, 6.0, 5.0, 4.0], "better"),
        ([-3.0, -4.0, -5.0, -3.0, -4.0, -6.0, -5.0, -4.0], "worse"),
        ([*[1.0] * 10, *[-1.0] * 10], "undecided"),
        ([0.0] * 20, "same"),
        ([5.0] * 5, "undecided"),  # five alike: p 0.069 of size and of direction
        ([1.0] * 34 + [-60.0] * 6, "worse on average, better on most seeds"),
        (SKEWED_UP, "better on average, worse on most seeds"),
        ([*[1.0] * 30, -31.0], "better on most seeds"),
        ([*[-1.0] * 30, 31.0], "worse on most seeds"),
        ([*[30.0] * 14, *[-4.0] * 12], "better on average"),
        ([*[-30.0] * 14, *[4.0] * 12], "worse on average"),
    ],
)
def test_every_word_by_hand(gains, expected):
    one = verdict(gains)
    assert one.word == expected and one.is_sure == (expected in ("better", "worse"))
    sides = {side for side in ("better", "worse") if side in expected}
    assert one.side == ("" if len(sides) != 1 else sides.pop())


def test_ties_are_no_evidence_for_no_difference():
    """Better at 406, worse at 328 and equal at 266 of 1,000 seeds read "undecided, p 1"; so did 40 % better, 60 %
    equal, at any number of seeds."""
    gains = [*[1.0] * 406, *[-1.0] * 328, *[0.0] * 266]
    assert word(gains) == "better" and verdict(gains).p < 0.01
    assert word([*[1.0] * 8, *[0.0] * 12]) == "better"


def test_holm_runs_over_both_tests_of_all_comparisons():
    draws = np.random.default_rng(1)
    table = {k: compare(100 + draws.normal(0.3 * k, 1, 20), np.full(20, 100.0)) for k in range(5)}
    verdicts = judge(table)
    both = {(k, kind): getattr(one, f"p_{kind}") for k, one in table.items() for kind in ("size", "direction")}
    for (k, kind), p in holm(both).items():
        assert getattr(verdicts[k], f"p_{kind}") == p
    assert {one.comparisons for one in verdicts.values()} == {5}
    assert all(one.p == max(one.p_size, one.p_direction) for one in verdicts.values())


def test_what_is_not_tested_is_no_member_of_the_family():
    exact = compare({0: 4}, {0: 3}, compared_by="ratio", exact=True)
    none, one_run = compare({1: 5}, {1: None}), compare([5], [4])
    tested = compare([9.0, 8.5, 9.5, 9, 8, 9.25, 9], [7, 7, 6, 6, 6, 6, 7])
    verdicts = judge({"exact": exact, "none": none, "one": one_run, "tested": tested})
    assert [verdicts[name].word for name in verdicts] == ["exact", "not compared", "undecided", "better"]
    assert verdicts["tested"].comparisons == 1 and math.isnan(verdicts["exact"].p)
    assert verdicts["exact"].seeds_needed is None and verdicts["one"].seeds_needed is None


def test_a_table_of_hundreds_can_be_decided():
    """Resampled p-values had a floor of 1 in 10,000: of 500 comparisons none could be decided."""
    draws = np.random.default_rng(2)
    table = {k: compare(1000 + draws.normal(5 * (k < 2), 1, 200), np.full(200, 1000.0)) for k in range(600)}
    words = [one.word for one in judge(table).values()]
    assert words[:2] == ["better", "better"] and words.count("better") < 4


def test_without_a_verdict_of_size_direction_decides_alone():
    hung = [math.inf] * 3 + [1000.0 + k % 5 for k in range(37)]
    one = judge({"": compare(hung, [900.0 + k % 7 for k in range(40)], compared_by="ratio")})[""]
    assert one.word == "better on most seeds" and one.p_size == 1 and one.seeds_needed is None


def test_a_word_by_less_than_the_least_effect_is_small():
    small = judge({"": compare(1000 + np.linspace(1, 2, 20), np.full(20, 1000.0), compared_by="ratio")})[""]
    assert (small.word, small.is_small) == ("better", True)
    large = judge({"": compare(1000 + np.linspace(20, 40, 20), np.full(20, 1000.0), compared_by="ratio")})[""]
    assert (large.word, large.is_small) == ("better", False)


def test_over_workloads_never_better_where_one_is_worse():
    draws = np.random.default_rng(5)

    def workload(effect: float) -> PairedComparison:
        return compare(1000 * np.exp(effect + draws.normal(0, 0.02, 40)), np.full(40, 1000.0), compared_by="ratio")

    for effects, expected in (
        ((0.1, 0.05), "better"),
        ((0.2, -0.05), "better on average"),
        ((-0.2, 0.05), "worse on average"),
    ):
        table = dict(enumerate(map(workload, effects)))
        whole = judge({**table, "over": over_workloads([*table.values()])}, over={"over": [0, 1]})["over"]
        assert (whole.word, whole.comparisons) == (expected, 3)


@pytest.mark.parametrize("comparisons", [1, 10])
def test_the_seeds_that_would_tell_tell_the_least_effect_in_four_of_five_studies(comparisons):
    """From the spread and the least effect, whatever effect is seen; for a size alone, by simulation."""
    sd, least = 0.03, math.log(1.01)
    needed = seeds_that_tell(sd, least, comparisons)
    assert needed == math.ceil(((norm.ppf(1 - 0.05 / (4 * comparisons)) + norm.ppf(0.8)) * sd / least) ** 2)
    draws = np.random.default_rng(comparisons)
    samples = draws.normal(least, sd, (4000, needed))
    t = samples.mean(axis=1) / (samples.std(axis=1, ddof=1) / math.sqrt(needed))
    assert abs((t > norm.ppf(1 - 0.05 / (4 * comparisons))).mean() - 0.8) < 0.025
    assert seeds_that_tell(100.0, 0.01, 1) is None and seeds_that_tell(0.0, 0.01, 1) == 2


@pytest.mark.parametrize("comparisons", [1, 2, 40, 500])
def test_the_fewest_seeds_are_the_fewest_that_can_be_decided(comparisons):
    needed = fewest_seeds(2 * comparisons)
    for seeds, decided in ((needed, True), (needed - 1, False)):
        gains = 100 + np.arange(seeds) % 3
        table = {k: compare(1000.0 + gains, np.full(seeds, 1000.0)) for k in range(comparisons)}
        assert all(one.is_sure == decided for one in judge(table).values())
        assert (least_p(seeds, 2 * comparisons) < 0.05) == decided
    assert comparisons / (1 + fewest_shuffles(comparisons)) < 0.05 <= comparisons / fewest_shuffles(comparisons)


def test_the_p_of_a_size_is_never_below_that_of_all_seeds_on_one_side():
    """Of uniform values at 10 seeds, 100 comparisons erred in 8 % of studies: such small p are of the tails alone."""
    one = compare(1000 + np.linspace(9, 10, 10), np.full(10, 1000.0))
    assert one.p_alone < 1e-9 and one.p_size == one.p_direction == pytest.approx(2.0**-9 / 0.9)
    assert compare(1000 + np.linspace(9, 10, 10), np.full(10, 1000.0), planned=()).p_size > 0.05


def test_a_word_is_never_of_a_side_that_the_estimate_has_left():
    """Ten of ten better at the plan, then ten worse by more, printed "sure" of the other side."""
    gains = np.r_[np.linspace(3, 4, 10), np.linspace(-9, -8, 10)]
    one = compare(1000 + gains, np.full(20, 1000.0), planned=range(10))
    assert one.p_size > 0.05 and one.p_direction > 0.05 and judge({"": one})[""].word == "undecided"


def test_an_unknown_correction_is_refused():
    with pytest.raises(InputError, match="unknown correction 'none'; there are false_discovery, holm"):
        judge({}, "none")
