"""Verdicts: the rules, one by one, and how often they are wrong where there is nothing to find."""

import math

import numpy as np
import pytest

from tests.depth import long
from workbench.errors import InputError
from workbench.studies.statistics import (
    Finding,
    Interval,
    compare,
    equivalent,
    equivalent_mean,
    every,
    fact,
    judge,
    majority,
    some,
    superior,
)

ABOVE, BELOW, AROUND = (Interval(mean, mean - 1, mean + 1, 0.95, "t", 9) for mean in (2, -2, 0))


def finding(side, p_value, id="H1.1", interval=None):
    interval = interval or (BELOW if side == "against" else ABOVE)
    return Finding(id, "drains faster", side, interval.mean, interval, p_value, 9, "note")


@pytest.mark.parametrize(
    ("side", "p_value", "holds"),
    [
        ("for", 0.049, "yes"),
        ("for", 0.05, "undecided"),
        ("for", 0.9, "undecided"),
        ("against", 0.9, "undecided"),
        ("against", 0.049, "no"),
        ("neither", 0.001, "undecided"),
        ("for", None, "yes"),
        ("against", None, "no"),
    ],
)
def test_the_rules(side, p_value, holds):
    (verdict,) = judge([finding(side, p_value)])
    assert verdict.holds == holds
    assert (verdict.p_value, verdict.p_adjusted) == (p_value, p_value)
    assert verdict[:2] == ("H1.1", "drains faster")
    where = BELOW if side == "against" else ABOVE
    assert (verdict.estimate, verdict.interval, verdict.n) == (where.mean, where, 9)


def test_the_family_is_corrected_over_and_facts_are_not_in_it():
    family = [finding("for", 0.03, "a"), finding("for", 0.01, "b"), fact("c", "takes five stages", True)]
    a, b, c = judge(family)
    assert (a.holds, b.holds, c.holds) == ("yes", "yes", "yes")
    assert (a.p_adjusted, b.p_adjusted, c.p_adjusted) == (0.03, 0.02, None)
    a, b, _, d = judge([*family, finding("neither", 0.9, "d")])
    assert (a.holds, a.p_adjusted, b.holds) == ("undecided", pytest.approx(0.06), "yes")
    assert a.note.endswith("; adjusted p = 0.06 is not below 0.05")
    assert (d.holds, d.note) == ("undecided", "note")


def test_what_has_no_value_is_not_tested_and_no_member_of_the_family():
    nothing = compare({1: 5, 2: 6}, {1: None, 2: None})
    untested = [claim("none", "faster", nothing) for claim in (superior, majority)]
    untested.append(equivalent("none", "equal", equivalent_mean([], (0, 1))))
    for one in untested:
        assert (one.p_value, one.n, one.side) == (None, 0, "neither")
        a, none = judge([finding("for", 0.03, "a"), one])
        assert (a.p_adjusted, none.holds, none.p_adjusted) == (0.03, "undecided", None)
    assert untested[0].missing == untested[1].missing == 2
    tested = finding("for", 0.01, "a")
    assert every("H", "", [tested, untested[0]])[2:6] == ("neither", *untested[0][3:5], None)
    assert every("H", "", [tested, untested[0]]).n == 0
    assert some("H", "", [tested, untested[0]])[2:6] == ("for", 2, ABOVE, 0.01)
    assert some("H", "", [finding("neither", 0.4), untested[0]]).p_value == 0.4


def test_superior_and_majority():
    slow, fast = [9, 8, 9, 7, 8, 9, 8], [7, 7, 6, 6, 6, 7, 7]
    for claim in (superior, majority):
        assert judge([claim("H1.1", "faster", compare(slow, fast))])[0].holds == "yes"
        assert judge([claim("H1.1", "faster", compare(fast, slow))])[0].holds == "no"
        assert judge([claim("H1.1", "faster", compare(slow, [9, 9, 8, 8, 8, 9, 7]))])[0].holds == "undecided"


def test_majority_asks_how_often_and_superior_how_much():
    # nine small losses, one large win: not better on most seeds, and the mean decides nothing
    c = compare([0] * 9 + [100], [1] * 9 + [0])
    assert majority("m", "", c).side == "against"
    assert superior("s", "", c).side == "neither"
    assert majority("m", "", c).p_value == pytest.approx(22 / 1024)


def test_ties_are_no_wins():
    c = compare([2] * 6 + [1] * 14, [1] * 20)
    assert (c.wins, c.losses, c.ties) == (6, 0, 14)
    assert c.sign.p_value < 0.05
    most = majority("m", "better on most seeds", c)  # 6 of 20, not 6 of 6: P(X <= 6) = 60460 / 2^20
    assert (most.side, most.p_value) == ("neither", pytest.approx(2 * 60460 / 2**20))
    assert superior("s", "better in the mean", c).side == "for"


def test_no_difference_in_any_number_of_pairs_decides_nothing():
    # the mirror of first fit: delta is exactly 0 on every seed (spec 1, pilot); a mean of 0 is neither side of 0
    holds = [judge([superior("H", "faster", compare([7] * n, [7] * n))])[0].holds for n in (0, 1, 5, 6, 200)]
    assert holds == ["undecided"] * 5


def test_equal_differences_decide_only_in_numbers():
    """Always 1 of a range of 3: so many seeds as make it unlikely that one that loses 3 was not seen."""
    for gain, outcome in ((1, "yes"), (-1, "no")):
        pairs = [([k % 3 for k in range(n)], [k % 3 - gain for k in range(n)]) for n in (2, 5, 12)]
        holds = [judge([superior("H", "faster", compare(list(b), o))])[0].holds for b, o in pairs]
        assert holds == ["undecided", "undecided", outcome]


def test_equivalence():
    sample = np.random.default_rng(1).normal(0.5, 0.02, 100)
    expected = {(0.48, 0.52): "yes", (0.55, 0.6): "no", (0.5, 0.52): "undecided"}
    for band, holds in expected.items():
        (verdict,) = judge([equivalent("H1.6", "equal priority", equivalent_mean(sample, band))])
        assert verdict.holds == holds
        assert verdict.interval.level == pytest.approx(0.9)
        assert f"the band {band[0]:g} to {band[1]:g}" in verdict.note


def test_every_part_must_hold():
    parts = [finding("for", 0.01, "a"), finding("for", 0.03, "b", BELOW), fact("c", "counted", True)]
    whole = every("H1.4", "less fragmentation", parts)
    assert (whole.id, whole.statement, whole.side, whole.p_value) == ("H1.4", "less fragmentation", "for", 0.03)
    assert whole.interval is BELOW  # b is the weakest part
    undecided = every("H1.4", "", [*parts, finding("neither", 0.2, "d", AROUND)])
    assert (undecided.side, undecided.interval, undecided.p_value) == ("neither", AROUND, 0.2)
    against = every("H1.4", "", [*parts, finding("against", 0.001, "e", AROUND), finding("neither", 0.2, "d")])
    assert (against.side, against.interval, against.p_value) == ("against", AROUND, 4 * 0.001)
    assert every("H1.4", "", [finding("against", 0.02, "e", AROUND), *[finding("neither", 0.2)] * 2]).side == "neither"
    assert "e drains faster: against" in against.note


def test_every_of_facts_alone():
    assert every("H", "", [fact("a", "", True), fact("b", "", True)]).p_value is None
    assert judge([every("H", "", [fact("a", "", True), fact("b", "", False)])])[0].holds == "no"


def test_facts():
    (verdict,) = judge([fact("H1.8", "stages = log2(N/8) + 1", False, estimate=6.0, n=4, note="5 expected")])
    assert verdict == ("H1.8", "stages = log2(N/8) + 1", "no", 6.0, None, None, None, 4, "5 expected", 0)
    assert math.isnan(fact("H", "", True).estimate)


@pytest.mark.parametrize("studies", [300, pytest.param(1500, marks=long)])
def test_errors_under_the_null(studies):
    """No effect: `yes` in at most alpha / 2 of all studies, `yes` or `no` in about alpha."""
    rng = np.random.default_rng(12)
    outcomes = []
    for _ in range(studies):
        baseline = rng.integers(900, 1100, 40)
        comparison = compare(baseline, baseline - rng.integers(-20, 21, 40))
        outcomes.append(judge([superior("H", "faster", comparison)])[0].holds)
    yes, no = outcomes.count("yes") / studies, outcomes.count("no") / studies
    assert 0.012 <= yes <= 0.036  # 2.5 % +- 3 standard errors of 1500 studies (0.4 %)
    assert 0.03 <= yes + no <= 0.067


@pytest.mark.parametrize("studies", [100, pytest.param(300, marks=long)])
def test_errors_of_a_family_under_the_null(studies):
    """Five claims, no effect: any `yes` at all in at most alpha of the studies, as one claim alone."""
    rng, any_yes, any_yes_uncorrected = np.random.default_rng(13), 0, 0
    for _ in range(studies):
        noise = rng.normal(0, 1, (5, 25))
        findings = [superior(str(k), "", compare(np.zeros(25), row)) for k, row in enumerate(noise)]
        any_yes += any(v.holds == "yes" for v in judge(findings))
        any_yes_uncorrected += any(judge([f])[0].holds == "yes" for f in findings)
    assert any_yes / studies <= 0.05
    assert any_yes_uncorrected / studies > 0.06  # without the family it is 1 - 0.975^5 = 12 %


def test_power_where_there_is_an_effect():
    rng = np.random.default_rng(14)
    baseline = rng.integers(900, 1100, 200)
    comparison = compare(baseline, baseline - rng.integers(-20, 41, 200))
    assert judge([superior("H", "faster", comparison)])[0].holds == "yes"


def test_mistakes():
    with pytest.raises(InputError, match=r"every claim once\. Got H1\.1 twice\."):
        judge([finding("for", 0.1), finding("for", 0.2)])
    with pytest.raises(InputError, match="alpha must be"):
        judge([], alpha=0)
    with pytest.raises(InputError, match=r"claim H must have at least one part\. Got none\."):
        every("H", "", [])
    assert judge([]) == []


def test_some_of_several_things_is_told_from_luck_by_their_number():
    parts = [
        finding("against", 0.001, "a", BELOW),
        finding("for", 0.02, "b"),
        finding("for", 0.01, "c"),
        finding("neither", 0.9, "d", AROUND),
    ]
    result = some("H", "one of four", parts)
    assert result[:3] == ("H", "one of four", "for")
    assert (result.p_value, result.interval) == (pytest.approx(4 * 0.01), ABOVE)
    assert result.note == "; ".join(f"{part.id} drains faster: {part.side}" for part in parts)
    assert judge([result])[0].holds == "yes"
    assert judge([some("H", "", [*parts, *parts])])[0].holds == "undecided"


def test_some_is_open_while_one_is_and_against_where_all_are():
    against, neither = finding("against", 0.001, interval=BELOW), finding("neither", 0.4, interval=AROUND)
    assert some("H", "", [against, neither]).side == "neither"
    assert some("H", "", [against, against]).side == "against"
    assert some("H", "", [neither, neither, neither]).p_value == 1.0
    assert some("H", "", [neither, fact("f", "", True)]).p_value is None
    with pytest.raises(InputError, match="claim H must have at least one part"):
        some("H", "", [])
