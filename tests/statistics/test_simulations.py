"""What the statistics promise, in small simulations; `python -m benchmarks.statistics` runs them in full."""

import pytest

from benchmarks.statistics import adaptive, planted
from tests.slow import thinned

EXPECTED = {"reversed": "contradicted", "effect in half the space": "holds_where", "one case reversed": "fails_where"}


@pytest.mark.slow
@pytest.mark.parametrize("studies", [60, pytest.param(1000, marks=pytest.mark.slow)])
@pytest.mark.parametrize(
    ("world", "law"),
    thinned([pytest.param(world, law) for world in planted.WORLDS for law in ("normal", "whole numbers", "skewed")], 3),
)
def test_error_rates_of_verdicts_in_planted_worlds(world, law, studies):
    result = planted.studies(world, 10, 40, studies, law=law)
    assert not result.false_yes.above(0.05), result.false_yes
    assert not result.false_no.above(0.05), result.false_no
    assert result.words.most_common(1)[0][0] == EXPECTED.get(world, "undecided")


@pytest.mark.slow
def test_a_small_level_holds_for_skewed_differences():
    """Judged in a family of eight, so that errors controlled over the family are 0.05 / 8 of one claim; t erred 4 %."""
    world = planted.studies("no effect", 10, 40, 1000, family=8, law="skewed")
    assert not world.false_yes.above(0.05 / 8) and not world.false_no.above(0.05 / 8), world


@pytest.mark.slow
@pytest.mark.parametrize(("cases", "studies"), [(30, 30), pytest.param(30, 1000, marks=pytest.mark.slow)])
def test_many_cases_make_no_verdict_surer(cases, studies):
    """0.4: with all true effects 0 the verdict "no" came in 31 of 60 studies with 30 cases."""
    world = planted.studies("no effect", cases, 30, studies)
    assert not world.false_no.above(0.05) and not world.false_yes.above(0.05)
    assert world.words["undecided"] >= 0.85 * studies


@pytest.mark.slow
@pytest.mark.parametrize("world", ["effect in half the space", "one case reversed"])
def test_a_family_costs_power_and_no_errors(world):
    result = planted.studies(world, 10, 60, 40, family=18)
    assert result.false_yes.happened + result.false_no.happened <= 4
    assert result.words[EXPECTED[world]] >= 36


@pytest.mark.parametrize("law", ["normal", "exponential"])
def test_adaptive_seeds_stop_on_width_and_cost_less(law):
    """0.4 answered for every look as if where the interval lies decided."""
    ours, theirs = (
        adaptive.stopped(law, 0.3, 1000, rule) for rule in ("two narrow in a row", "corrected for location")
    )
    assert ours.held.interval.high >= 0.95
    assert ours.seeds < theirs.seeds
