"""What the statistics promise, in small simulations; `python -m benchmarks.statistics` runs them in full."""

import numpy as np
import pytest

from benchmarks.statistics import adaptive, coverage, planted
from tests.depth import long, thinned
from workbench.studies.statistics import compare, superior
from workbench.studies.statistics.over_cases import over_cases
from workbench.studies.statistics.student import skewed_p, student_p

EXPECTED = {"reversed": "contradicted", "effect in half the space": "holds_where", "one case reversed": "fails_where"}


@long
@pytest.mark.parametrize("studies", [60, pytest.param(1000, marks=long)])
@pytest.mark.parametrize(
    ("world", "law"),
    thinned([pytest.param(world, law) for world in planted.WORLDS for law in ("normal", "whole numbers")], 3),
)
def test_error_rates_of_verdicts_in_planted_worlds(world, law, studies):
    result = planted.studies(world, 10, 30, studies, law=law)
    assert not result.false_yes.above(0.05), result.false_yes
    assert not result.false_no.above(0.05), result.false_no
    assert result.words.most_common(1)[0][0] == EXPECTED.get(world, "undecided")


@long
def test_a_small_level_holds_for_skewed_differences():
    """Judged in a family of eight, so that errors controlled over the family are 0.05 / 8 of one claim."""
    world = planted.studies("no effect", 10, 200, 1000, family=8, law="skewed")
    assert not world.false_yes.above(0.05 / 8) and not world.false_no.above(0.05 / 8), world


def test_small_levels_of_skewed_values_are_what_they_say_without_the_skewness():
    """A family makes levels small, and there t of exponential values errs five times as often as it says."""
    samples = np.random.default_rng(5).exponential(1, (4000, 30)) - 1
    student, straight = (np.mean([test(one) < 0.002 for one in samples]) for test in (student_p, skewed_p))
    assert student > 4 * 0.002 and straight < 2 * 0.002


def test_skewness_takes_evidence_away_and_adds_none():
    draws = np.random.default_rng(3)
    for values in (draws.exponential(1, 20) - 1.4, draws.normal(0.6, 1, 20), -draws.lognormal(0, 1, 20)):
        one = compare(1000 + values, np.full(20, 1000.0))
        assert one.p_value >= max(one.permutation.p_value, student_p(values), skewed_p(values)) * (1 - 1e-6)


def test_many_small_losses_beside_few_large_gains_are_no_verdict():
    """What was not seen are gains: t and the permutation test are sure, and the skewness seen says not to be."""
    values = np.array([-3.0] * 14 + [-2.0] * 4 + [4.0, 9.0])
    one = compare(1000 + values, np.full(20, 1000.0))
    assert max(one.permutation.p_value, student_p(values)) < 0.05 < one.p_value == pytest.approx(skewed_p(values))
    assert one.interval.high == 0


@long
@pytest.mark.parametrize(("cases", "studies"), [(30, 30), pytest.param(30, 1000, marks=long)])
def test_many_cases_make_no_verdict_surer(cases, studies):
    """0.4: with all true effects 0 the verdict "no" came in 31 of 60 studies with 30 cases."""
    world = planted.studies("no effect", cases, 30, studies)
    assert not world.false_no.above(0.05) and not world.false_yes.above(0.05)
    assert world.words["undecided"] >= 0.85 * studies


@long
@pytest.mark.parametrize("world", ["effect in half the space", "one case reversed"])
def test_a_family_costs_power_and_no_errors(world):
    result = planted.studies(world, 10, 60, 40, family=18)
    assert result.false_yes.happened + result.false_no.happened <= 4
    assert result.words[EXPECTED[world]] == 40


@pytest.mark.parametrize(("seeds", "studies"), [(5, 200), (20, 200), (200, 200)])
def test_intervals_where_nearly_all_differences_are_equal(seeds, studies):
    """0.4 held the mean in 0.23, 0.64 and 0.93 of studies, and said "inside" falsely in up to 78 %."""
    assert coverage.held_where_few_differ(seeds, studies).interval.high >= 0.95
    assert not coverage.false_inside_where_few_differ(seeds, studies).above(0.05)


@long
def test_the_primary_test_is_of_the_mean_and_that_of_ranks_is_not():
    """0.4's p beside the mean difference rejected in 13 to 65 % of studies where the mean difference is 0."""
    primary, ranks = (coverage.rejected("exponential", test, 100, 300) for test in ("primary", "wilcoxon"))
    assert not primary.above(0.07) and ranks.above(0.15)


@pytest.mark.parametrize("seeds", [5, 6, 13, 14, 40])
def test_interval_sign_p_and_verdict_agree(seeds):
    assert coverage.disagreements(seeds, 150).happened == 0


def test_forty_wins_and_160_losses_are_no_yes():
    """A mean that a few large wins carry: ranks and mean say different things, and the verdict is about the mean."""
    gains = np.concatenate([np.linspace(20, 40, 40), np.linspace(-6, -4, 160)])
    finding = superior("H", "", compare(1000 + gains, np.full(200, 1000.0)))
    assert (finding.estimate > 0) == (finding.both_p[0] < finding.both_p[1])
    worse = superior("H", "", compare(1000 + np.where(gains > 0, gains / 4, gains), np.full(200, 1000.0)))
    assert worse.estimate < 0 and over_cases([worse]).word == "contradicted"


def test_t_covers_less_under_skew_and_a_note_says_so():
    assert coverage.held("lognormal", "t", 5, 400).interval.high < 0.9
    noted = [bool(_lognormal(k, 20).skew_note) for k in range(100)]
    plain = [bool(compare(np.random.default_rng(k).normal(0, 1, 40), np.zeros(40)).skew_note) for k in range(100)]
    assert np.mean(noted) > 0.8 and np.mean(plain) < 0.1


def _lognormal(seed, size):
    return compare(np.random.default_rng(seed).lognormal(0, 1, size), np.zeros(size))


@pytest.mark.parametrize("law", ["normal", "exponential"])
def test_adaptive_seeds_stop_on_width_and_cost_less(law):
    """0.4 answered for every look as if where the interval lies decided: 1.86 times the seeds that are needed."""
    ours, theirs = (
        adaptive.stopped(law, 0.2, 1000, rule) for rule in ("two narrow in a row", "corrected for location")
    )
    assert ours.held.interval.high >= (0.95 if law == "normal" else 0.93)
    assert ours.seeds < 0.8 * theirs.seeds and ours.seeds / ours.needed < 1.45


def test_infinite_is_the_worst_rank():
    """Dropping its pair left 33 of 40 pairs and p = 0.25, where ranks give p below 1e-6."""
    draws = np.random.default_rng(0)
    baseline = draws.normal(30, 1, 40)
    other = baseline - draws.exponential(2, 40)
    baseline[:7] = np.inf
    one = compare(baseline, other)
    assert (one.n, one.infinite, one.missing) == (40, 7, ())
    assert one.estimand == "pseudo-median difference (infinite is worst)"
    assert one.p_value < 1e-6 and one.interval.low > 0 and np.isinf(one.baseline_mean)
    assert compare(other, baseline).interval.high < 0
    assert "7 differences are infinite" in one.sentence


def test_log_ratio_is_of_geometric_means_and_mirrors():
    draws = np.random.default_rng(1)
    baseline = draws.lognormal(3, 1, 40)
    other = baseline * 0.8 * draws.lognormal(0, 0.05, 40)
    result = compare(baseline, other, method="log_ratio")
    ratio = np.exp(np.mean(np.log(other / baseline)))
    assert result.interval.mean == pytest.approx(1 - ratio) and result.interval.method == "log_ratio"
    assert result.interval.low < 0.2 < result.interval.high and result.p_value < 1e-6
    higher = compare(other, baseline, method="log_ratio", better="higher").interval
    assert higher.mean == pytest.approx(1 / ratio - 1)
    assert compare(baseline - baseline[0], other, method="log_ratio").estimand == "mean difference"  # no log of 0
