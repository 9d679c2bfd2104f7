"""The kinds of case, on runs by hand."""

from __future__ import annotations

import math

import pytest

from tests.figures.stand_ins import runs
from workbench.claims.cases import (
    ALL,
    all_better,
    always_better,
    better,
    either_better,
    falling,
    no_worse,
    ratio,
    worthwhile,
)
from workbench.errors import InputError

BASE = [100.0, 110.0, 120.0, 130.0, 140.0, 150.0, 160.0]


def made(**policies):
    """Points of values of two measures: less is better of both, and of the second all are equal."""
    given = {name: [{"drain_cycles": v, "mean_queue": 3.0} for v in values] for name, values in policies.items()}
    result = runs({"first_fit": [{"drain_cycles": v, "mean_queue": 3.0} for v in BASE], **given})
    return result, result.points


def test_better_is_less_where_less_is_better():
    result, (first, other) = made(best_fit=[v - 5 - v / 50 for v in BASE])
    case = better(result, first, other, "drain_cycles", "here")
    assert (case.id, case.side, case.unit) == ("here, drain_cycles", "for", "x")
    assert case.estimate == pytest.approx(1.0631875)  # the geometric mean of drain_cycles over those of best_fit
    assert better(result, other, first, "drain_cycles").side == "against"


def test_every_measure_is_a_case_with_its_measure_unit_and_sweep():
    result, (first, other) = made(best_fit=[v - 5 - v / 50 for v in BASE])
    drain, queue = all_better(result, first, other, ("drain_cycles", "mean_queue"), "here")
    assert (drain.id, drain.measure, drain.unit, drain.results) == (
        "here, drain_cycles",
        "drain_cycles",
        "x",
        "by_hand",
    )
    assert (queue.measure, queue.unit) == ("mean_queue", "workgroups")
    assert (drain.side, queue.side, queue.estimate) == ("for", "neither", 0.0)


def test_one_of_several_measures_is_told_from_luck():
    result, (first, other) = made(best_fit=[v - 5 - v / 50 for v in BASE])
    alone = better(result, first, other, "drain_cycles")
    either = either_better(result, first, other, ("drain_cycles", "mean_queue"), "here")
    assert (either.measure, either.p_for, either.estimate) == ("drain_cycles", 2 * alone.p_for, alone.estimate)
    assert either.statement == "most of drain_cycles, mean_queue: better on average and on most seeds"


def test_one_of_several_measures_is_refuted_where_all_are_reversed():
    """0.5 took the smallest p for it: one reversed measure refuted that another gains."""
    result, (first, other) = made(best_fit=[v + 5 + v / 50 for v in BASE])
    assert better(result, first, other, "drain_cycles").side == "against"
    assert either_better(result, first, other, ("drain_cycles", "mean_queue"), "here").side == "neither"
    assert either_better(result, first, other, ("drain_cycles", "drain_cycles"), "here").side == "against"


@pytest.mark.parametrize(
    ("gain", "side"), [(1.0, "against"), (1.005, "against"), (1.01, "neither"), (1.05, "for"), (0.9, "against")]
)
def test_a_gain_below_the_least_effect_speaks_against_it(gain, side):
    """Of equal values nothing is reversed, so that 0.5 could never contradict H2.7."""
    result, (first, other) = made(best_fit=[v / gain for v in BASE])
    case = worthwhile(result, first, other, "drain_cycles")
    assert (case.p_for < case.p_against, case.p_against < 0.05) == (gain > 1.005, side == "against")
    assert case.statement.endswith("against it: by less than 1 %")
    with pytest.raises(InputError, match="a gain of at least the least effect is judged of ratios alone"):
        worthwhile(result, first, other, "mean_queue")


def test_what_is_better_in_every_run_is_counted():
    result, (first, other) = made(best_fit=[v - 5 for v in BASE])
    case = always_better(result, first, other, "drain_cycles")
    assert (case.p_for, case.p_against, case.is_tested) == (0.0, 1.0, False)
    assert (always_better(result, other, first, "drain_cycles").side) == "against"


@pytest.mark.parametrize(("share", "side"), [(1.05, "for"), (1.10, "neither"), (1.2, "against"), (0.5, "for")])
def test_no_worse_by_more_than_a_margin(share, side):
    result, (first, other) = made(best_fit=[share * v + (-1) ** k for k, v in enumerate(BASE)])
    assert no_worse(result, first, other, "drain_cycles", 0.10).side == side


@pytest.mark.parametrize(("band", "side"), [((0.9, 1.1), "for"), ((1.01, ALL), "against"), ((-ALL, 1.01), "for")])
def test_a_ratio_in_a_band(band, side):
    result, (first, other) = made(best_fit=[v + (-1) ** k / 10 for k, v in enumerate(BASE)])
    case = ratio(result, first, other, "drain_cycles", band, "about the same")
    assert (case.side, case.statement) == (side, "about the same")


def test_seeds_without_a_value_on_one_side_are_left_out():
    result, (first, other) = made(best_fit=[math.nan, *BASE[1:]])
    assert ratio(result, first, other, "drain_cycles", (0.9, 1.1), "").n == len(BASE) - 1


def test_falling_is_a_slope_for_each_seed():
    result, points = made(best_fit=[v - 4 for v in BASE], worst_fit=[v - 6 - v / 100 for v in BASE])
    by_lever = dict(zip((16, 64, 256), points, strict=True))
    case = falling(result, by_lever, "drain_cycles")
    assert case.side == "for"
    assert case.estimate == pytest.approx((6 + 130 / 100) / 4)  # least squares over 4, 6, 8: (last - first) / 4
    assert case.statement == "falls a doubling; its means are 16: 130, 64: 126, 256: 122.7"
    upward = dict(zip((16, 64, 256), reversed(points), strict=True))
    assert falling(result, upward, "drain_cycles").side == "against"
    assert falling(result, by_lever, "mean_queue").side != "for"
