"""What data say about one claim: the other policy is better, a band, all of several things, one of them."""

import math

import numpy as np
import pytest
from scipy.stats import binomtest

from workbench.errors import InputError
from workbench.statistics import (
    Finding,
    Interval,
    compare,
    equivalent,
    every,
    fact,
    median_within,
    over_cases,
    some,
    superior,
)

ABOVE, BELOW, AROUND = (Interval(mean, mean - 1, mean + 1, 0.95, "t", 9) for mean in (2, -2, 0))


def finding(p_for, p_against, id="H1.1", interval=ABOVE):
    return Finding(id, "drains faster", interval.mean, interval, p_for, p_against, 9, "note")


def test_what_has_no_value_is_not_tested_and_no_member_of_the_family():
    nothing = compare({1: 5, 2: 6}, {1: None, 2: None})
    untested = [superior("none", "faster", nothing), equivalent("none", "equal", median_within([], (0, 1)))]
    for one in untested:
        assert (one.p_for, one.p_against, one.p_value, one.n, one.side) == (1, 1, None, 0, "neither")
        assert over_cases([finding(0.03, 1, "a"), one]).p_adjusted == 0.03
    assert untested[0].missing == 2
    tested = finding(0.01, 1, "a")
    whole = every("H", "", [tested, untested[0]])
    assert (whole.side, whole.p_for, whole.n, whole.p_value) == ("neither", 1, 0, None)
    one_of_two = some("H", "", [tested, untested[0]])
    assert (one_of_two.side, one_of_two.estimate, one_of_two.p_for) == ("for", 2, 0.01)
    assert some("H", "", [finding(1, 0.001), untested[0]]).p_against == 1  # what was not tested may hold


def test_superior():
    slow, fast = [9, 8, 9, 7, 8, 9, 8, 9], [7, 7, 6, 6, 6, 7, 7, 6]
    words = [("holds", slow, fast), ("contradicted", fast, slow), ("undecided", slow, [9, 9, 8, 8, 8, 9, 7, 9])]
    for word, before, after in words:
        assert over_cases([superior("H1.1", "faster", compare(before, after))]).word == word


def test_superior_needs_both_tests_on_one_side():
    """Nine in ten lose a little and a few gain much: better on average, worse on most seeds, and neither better."""
    gains = np.r_[np.full(54, -1.0), np.full(6, 100.0)]
    one = compare(1000 + gains, np.full(60, 1000.0))
    assert one.p_size < 0.05 and one.p_direction < 0.05
    assert superior("", "", one)[4:6] == (1, 1)
    clear = compare(1000 + np.linspace(1, 9, 30), np.full(30, 1000.0))
    case = superior("", "", clear)
    assert case.p_for == max(clear.p_size, clear.p_direction) < 0.05 and case.p_against == 1
    back = superior("", "", compare(np.full(30, 1000.0), 1000 + np.linspace(1, 9, 30)))
    assert (back.p_for, back.p_against, back.side) == (1, case.p_for, "against")


def test_superior_without_a_verdict_of_size_is_of_the_direction():
    hung = compare([math.inf] * 3 + [9.0] * 37, [8.0] * 40, compared_by="ratio")
    case = superior("", "", hung)
    assert case.p_for == hung.p_direction < 0.05 and case.unit == "x" and case.n == 40


@pytest.mark.parametrize("seeds", [0, 1, 5, 6, 200])
def test_no_difference_in_any_number_of_pairs_decides_nothing(seeds):
    # the mirror of first fit: delta is exactly 0 on every seed (spec 1, pilot)
    assert over_cases([superior("H", "faster", compare([7] * seeds, [7] * seeds))]).word == "undecided"


@pytest.mark.parametrize(
    ("band", "word"), [((0.48, 0.52), "holds"), ((0.55, 0.6), "contradicted"), ((0.5, 0.52), "undecided")]
)
def test_equivalence(band, word):
    sample = np.random.default_rng(1).normal(0.5, 0.02, 100)
    case = equivalent("H1.6", "equal priority", median_within(sample, band))
    assert over_cases([case]).word == word
    assert case.interval.level == pytest.approx(0.9)
    assert f"the band {band[0]:g} to {band[1]:g}" in case.note


def test_every_part_must_hold():
    parts = [finding(0.01, 1, "a"), finding(0.03, 1, "b", BELOW), fact("c", "counted", True)]
    whole = every("H1.4", "less fragmentation", parts)
    assert (whole.id, whole.statement, whole.side) == ("H1.4", "less fragmentation", "for")
    assert (whole.p_for, whole.p_against, whole.interval) == (0.03, 1, BELOW)  # b is the weakest part
    undecided = every("H1.4", "", [*parts, finding(0.2, 1, "d", AROUND)])
    assert (undecided.side, undecided.interval, undecided.p_for) == ("neither", AROUND, 0.2)
    against = every("H1.4", "", [*parts, finding(1, 0.001, "e", AROUND), finding(0.2, 1, "d")])
    assert (against.side, against.interval, against.p_against) == ("against", AROUND, 4 * 0.001)
    assert every("H1.4", "", [finding(1, 0.02, "e", AROUND), *[finding(0.2, 1)] * 2]).side == "neither"
    assert "e drains faster: against" in against.note


def test_every_of_facts_alone():
    assert every("H", "", [fact("a", "", True), fact("b", "", True)]).p_value is None
    assert every("H", "", [fact("a", "", True), fact("b", "", False)]).side == "against"


def test_facts():
    one = fact("H1.8", "stages = log2(N/8) + 1", False, estimate=6.0, n=4, note="5 expected")
    assert one[:8] == ("H1.8", "stages = log2(N/8) + 1", 6.0, None, 1, 0, 4, "5 expected")
    assert one.is_fact and not one.is_tested and one.side == "against"
    assert math.isnan(fact("H", "", True).estimate)


def test_some_of_several_things_is_told_from_luck_by_their_number():
    parts = [
        finding(1, 0.001, "a", BELOW),
        finding(0.02, 1, "b"),
        finding(0.01, 1, "c"),
        finding(0.9, 1, "d", AROUND),
    ]
    result = some("H", "one of four", parts)
    assert (result.id, result.statement, result.side, result.interval) == ("H", "one of four", "for", ABOVE)
    assert (result.p_for, result.p_against) == (pytest.approx(4 * 0.01), 1)
    assert result.note == "; ".join(f"{part.id} drains faster: {part.side}" for part in parts)
    assert some("H", "", [*parts, *parts]).p_for == pytest.approx(8 * 0.01)


def test_some_is_refuted_by_the_largest_p():
    """It was the smallest: one reversed part and one open one refuted the whole."""
    against, open_one = finding(1, 0.001, interval=BELOW), finding(1, 0.4, interval=AROUND)
    assert some("H", "", [against, open_one])[4:6] == (1, 0.4)
    assert some("H", "", [against, open_one]).side == "neither"
    assert some("H", "", [against, against._replace(p_against=0.04)])[4:6] == (1, 0.04)
    assert some("H", "", [open_one, fact("f", "", True)])[4:6] == (0, 1)
    with pytest.raises(InputError, match="claim H must have at least one part"):
        some("H", "", [])
    with pytest.raises(InputError, match=r"claim H must have at least one part\. Got none\."):
        every("H", "", [])


@pytest.mark.parametrize("joined", [every, some])
def test_a_joiner_errs_in_no_more_than_5_per_cent_on_either_side(joined):
    """Planted studies: of three policies one is truly better or reversed, so that the reverse verdict is false."""
    draws, wrong, studies = np.random.default_rng(4), 0, 400
    planted = 1.5 if joined is some else -1.5  # `some` holds, `every` fails, whatever the others do
    for _ in range(studies):
        shifts = (planted, -planted, -planted)
        gains = [draws.normal(shift, 1, 12) for shift in shifts]
        parts = [superior("", "", compare(1000 + one, np.full(12, 1000.0))) for one in gains]
        wrong += joined("H", "", parts).side == ("against" if joined is some else "for")
    assert binomtest(wrong, studies, 0.05, alternative="greater").pvalue > 0.01
