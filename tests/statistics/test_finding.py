"""What data say about one claim: the other policy is better, a band, all of several things, one of them."""

import math

import numpy as np
import pytest

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


def finding(side, p_value, id="H1.1", interval=None):
    interval = interval or (BELOW if side == "against" else ABOVE)
    return Finding(id, "drains faster", side, interval.mean, interval, p_value, 9, "note")


def test_what_has_no_value_is_not_tested_and_no_member_of_the_family():
    nothing = compare({1: 5, 2: 6}, {1: None, 2: None})
    untested = [superior("none", "faster", nothing), equivalent("none", "equal", median_within([], (0, 1)))]
    for one in untested:
        assert (one.p_value, one.n, one.side) == (None, 0, "neither")
        assert over_cases([finding("for", 0.03, "a"), one]).p_adjusted == 0.03
    assert untested[0].missing == 2
    tested = finding("for", 0.01, "a")
    assert every("H", "", [tested, untested[0]])[2:6] == ("neither", *untested[0][3:5], None)
    assert every("H", "", [tested, untested[0]]).n == 0
    assert some("H", "", [tested, untested[0]])[2:6] == ("for", 2, ABOVE, 0.01)
    assert some("H", "", [finding("neither", 0.4), untested[0]]).p_value == 0.4


def test_superior():
    slow, fast = [9, 8, 9, 7, 8, 9, 8], [7, 7, 6, 6, 6, 7, 7]
    words = [("holds", slow, fast), ("contradicted", fast, slow), ("undecided", slow, [9, 9, 8, 8, 8, 9, 7])]
    for word, before, after in words:
        assert over_cases([superior("H1.1", "faster", compare(before, after))]).word == word


def test_a_case_is_about_the_median_and_the_mean_is_another_case():
    """Nine in ten small losses and rare large wins: not better on most seeds, though better on average."""
    gains = np.r_[np.full(54, -1.0), np.full(6, 100.0)]
    sides = [superior("", "", compare(1000 + gains, np.full(60, 1000.0), estimand=e)).side for e in ("median", "mean")]
    assert sides[0] == "against" and sides[1] != "against"


def test_ties_are_no_wins():
    case = superior("m", "", compare([2] * 6 + [1] * 14, [1] * 20))
    assert (case.side, case.p_value, case.estimate) == ("neither", 1.0, 0)


@pytest.mark.parametrize("seeds", [0, 1, 5, 6, 200])
def test_no_difference_in_any_number_of_pairs_decides_nothing(seeds):
    # the mirror of first fit: delta is exactly 0 on every seed (spec 1, pilot); a median of 0 is neither side of 0
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
    assert every("H", "", [fact("a", "", True), fact("b", "", False)]).side == "against"


def test_facts():
    one = fact("H1.8", "stages = log2(N/8) + 1", False, estimate=6.0, n=4, note="5 expected")
    assert one[:8] == ("H1.8", "stages = log2(N/8) + 1", "against", 6.0, None, None, 4, "5 expected")
    assert math.isnan(fact("H", "", True).estimate)


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
    assert some("H", "", [*parts, *parts]).p_value == pytest.approx(8 * 0.01)


def test_some_is_open_while_one_is_and_against_where_all_are():
    against, neither = finding("against", 0.001, interval=BELOW), finding("neither", 0.4, interval=AROUND)
    assert some("H", "", [against, neither]).side == "neither"
    assert some("H", "", [against, against]).side == "against"
    assert some("H", "", [neither, neither, neither]).p_value == 1.0
    assert some("H", "", [neither, fact("f", "", True)]).p_value is None
    with pytest.raises(InputError, match="claim H must have at least one part"):
        some("H", "", [])
    with pytest.raises(InputError, match=r"claim H must have at least one part\. Got none\."):
        every("H", "", [])
