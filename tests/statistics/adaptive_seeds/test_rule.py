"""The rule that adds seeds: what it asks, when it stops, and how often its intervals hold the truth."""

from __future__ import annotations

import math

import numpy as np
import pytest

from workbench.errors import InputError
from workbench.experiments.seeds import Bound, Until, bound_of
from workbench.experiments.sweep import read_sweep
from workbench.metrics.measure import Measure
from workbench.statistics import median_interval
from workbench.statistics.adaptive_seeds import half_width

SWEEP = {
    "engine": "shared_memory",
    "workload": {"regime": "large_uniform", "count": 40},
    "policy": {"placement": {"vary": ["first_fit", "best_fit"]}},
    "baseline": {"placement": "first_fit"},
}
UNTIL = {"measure": "drain_cycles", "half_width": "2 %", "at_most": 60, "batch": 20}


def read(until, **changed):
    return read_sweep({**SWEEP, "seeds": {"until": until}, **changed})


def test_the_seeds_of_a_sweep_are_all_that_there_may_be():
    sweep = read_sweep({**SWEEP, "seeds": {"first": 7, "until": {**UNTIL, "at_most": 50}}})
    assert (sweep.seeds, sweep.until.looks) == (list(range(7, 57)), (20, 40, 50))
    assert read_sweep({**SWEEP, "seeds": {"until": UNTIL}}, {"seeds": 3}).until is None


@pytest.mark.parametrize(
    ("said", "bound"),
    [
        ("0.5 %", Bound(0.005, True)),
        ("0.5%", Bound(0.005, True)),
        ("20 cycles", Bound(20.0, False)),
        ("1e3", Bound(1000.0, False)),
        (" 7.5  cycles ", Bound(7.5, False)),
    ],
)
def test_a_bound_in_per_cent_or_in_the_unit(said, bound):
    result = bound_of(Until(measure="d", half_width=said), Measure("d", "cycles", "lower", ""))
    assert result == pytest.approx(bound)
    assert result.limit(-200.0) == pytest.approx(200 * bound.amount if bound.of_baseline else bound.amount)


def test_a_bound_may_be_a_number():
    assert read({**UNTIL, "half_width": 12}).until.half_width == "12"


@pytest.mark.parametrize(
    ("until", "sentence"),
    [
        ({**UNTIL, "measure": "drain"}, "sweep: seeds.until: unknown measure 'drain'; there are"),
        (
            {**UNTIL, "half_width": "1 second"},
            "seeds.until.half_width must be a number above 0, such as 0.5 % (of the baseline's mean) or 20 cycles."
            " Got '1 second'.",
        ),
        ({**UNTIL, "half_width": "0 %"}, "seeds.until.half_width must be a number above 0"),
        ({**UNTIL, "half_width": "1.2.3 %"}, "seeds.until.half_width must be a number above 0"),
        ({**UNTIL, "half_width": "."}, "seeds.until.half_width must be a number above 0"),
        ({**UNTIL, "half_width": -3}, "seeds.until.half_width must be a number above 0"),
        ({**UNTIL, "batch": 80}, "seeds.until.batch must be at most at_most (60). Got 80. Nearest: 60."),
        (
            {**UNTIL, "batch": 5, "at_most": 5000},
            "seeds.until.batch must make at most 200 looks up to at_most (5000). Got 5. Nearest: 25.",
        ),
        ({**UNTIL, "batches": 5}, "sweep: seeds.until: unknown key 'batches'; there are at_most, batch,"),
        ({"measure": "drain_cycles"}, "sweep: seeds.until needs half_width (the largest half width of its interval"),
        (7, "sweep: seeds.until must be a mapping of measure, half_width, at_most, batch. Got 7."),
    ],
)
def test_a_rule_that_is_not_valid_is_one_sentence(until, sentence):
    with pytest.raises(InputError) as refused:
        read(until)
    assert sentence in str(refused.value)
    assert "\n" not in str(refused.value)


def test_other_keys_beside_until_and_a_missing_baseline_are_refused():
    with pytest.raises(InputError, match=r"sweep: seeds: unknown key 'count'; there are first, until\."):
        read_sweep({**SWEEP, "seeds": {"count": 3, "until": UNTIL}})
    with pytest.raises(InputError, match=r"seeds\.until needs a baseline, whose paired difference is looked at"):
        read(UNTIL, baseline=None)


def test_equal_differences_are_narrow_from_six_seeds_on():
    """Of fewer no interval of the median has limits; a range that was not seen is not made up."""
    widths = [half_width(median_interval([3.0] * n)) for n in (1, 5, 6, 400)]
    assert widths == [math.inf, math.inf, 0, 0]


def stopped(difference, looks, most, in_a_row=2):
    """Where the rule stops, and the interval that it leaves."""
    narrow = 0
    for count in looks:
        interval = median_interval(difference[:count])
        narrow = narrow + 1 if half_width(interval) <= most else 0
        if narrow == in_a_row:
            break
    return count, interval


@pytest.mark.slow
@pytest.mark.parametrize("law", ["normal", "exponential"])
def test_intervals_of_a_study_that_stops_when_they_are_narrow_hold_the_truth_as_often_as_they_say(law):
    """Differences of median 5 and deviation 10, until the interval is 5 wide."""
    looks, draws = tuple(range(20, 201, 20)), np.random.default_rng(3)
    ends, held = [], 0
    for _ in range(600):
        noise = draws.standard_normal(200) if law == "normal" else draws.exponential(size=200) - np.log(2)
        count, interval = stopped(5 + 10 * noise, looks, 2.5)
        ends.append(count)
        held += interval.low <= 5 <= interval.high
    assert held / 600 >= 0.95 - 3 * math.sqrt(0.95 * 0.05 / 600)
    assert 20 < np.mean(ends) < 200
    assert len(set(ends)) > 3


@pytest.mark.slow
def test_stopping_early_by_luck_is_why_widths_are_narrow_twice():
    """With few values a look, a rule of one look stops where the spread was underestimated, and misses more often."""
    looks, draws = tuple(range(6, 103, 6)), np.random.default_rng(4)
    studies, missed = [draws.normal(0, 10, 102) for _ in range(2000)], {}
    for in_a_row in (1, 2):
        ends = (stopped(one, looks, 5, in_a_row)[1] for one in studies)
        missed[in_a_row] = sum(not one.low <= 0 <= one.high for one in ends) / 2000
    assert missed[1] > missed[2] and missed[2] < 0.06
