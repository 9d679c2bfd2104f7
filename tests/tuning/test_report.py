"""The report of a study has as many seeds as tell the least effect, and no more than the study allows."""

from __future__ import annotations

import math
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from tests.tuning.small import small
from workbench.metrics.measure import Measure
from workbench.statistics import compare
from workbench.statistics.verdict import seeds_that_tell
from workbench.tuning import Objective, read_study, tune
from workbench.tuning.contrasts import Contrast, decide
from workbench.tuning.report import report_seeds

PACE = Objective(Measure("pace", "", "higher", "", compared_by="ratio"), "maximize")
WAIT = Objective(Measure("wait_cycles", "cycles", "lower", ""), "minimize")
HOLDOUT = {"holdout_seeds": {"first": 100, "count": 20}}


def front(spread: float, objectives: Any = (PACE,)) -> Any:
    """Return a front of one point whose ratios, or differences, have this spread at 20 seeds."""
    noise = np.random.default_rng(3).normal(0, 1, 20)
    noise = spread * (noise - noise.mean()) / noise.std(ddof=1)
    contrasts = {
        (0, one.measure.name): Contrast(
            one, compare(np.ones(20), np.exp(noise), better=one.better, compared_by=one.measure.compared_by), ()
        )
        for one in objectives
    }
    return SimpleNamespace(chosen=0, objectives=objectives, decided=decide(contrasts))


@pytest.mark.parametrize(
    ("spread", "count", "reason"),
    [
        (0.03, 87, "as many as tell the least effect in pace"),
        (0.001, 20, "as many as hold-out seeds; 2 tell the least effect"),
        (0.08, 200, "the most that report_seeds allows; 615 would tell the least effect in pace"),
        (9.0, 200, "the most that report_seeds allows; no number would tell the least effect in pace"),
    ],
)
def test_seeds_follow_from_the_spread(spread, count, reason):
    study = read_study(small(objectives=["drain_cycles"], report_seeds=None, **HOLDOUT))
    seeds, why = report_seeds(study, front(spread))
    assert (seeds, why) == ([*range(120, 120 + count)], reason)
    needed = seeds_that_tell(spread, math.log1p(0.01), 1)
    assert count == min(200, max(20, needed or 200))


def test_more_comparisons_need_more_seeds():
    study = read_study(small(objectives=["drain_cycles"], report_seeds=None, **HOLDOUT))
    assert len(report_seeds(study, front(0.03), rivals=3).seeds) > 87


def test_an_objective_without_a_least_effect_says_nothing_of_seeds():
    study = read_study(small(objectives=["drain_cycles"], report_seeds=None, **HOLDOUT))
    seeds, why = report_seeds(study, front(0.03, (WAIT,)))
    assert (len(seeds), why) == (20, "as many as hold-out seeds: no objective declares a least effect")
    assert len(report_seeds(study, front(0.03, (WAIT, PACE))).seeds) > 87


def test_there_are_as_many_seeds_as_can_decide_anything():
    few = small(objectives=["drain_cycles"], report_seeds=None, holdout_seeds={"first": 100, "count": 3})
    seeds, why = report_seeds(read_study(few), front(0.001))
    assert (len(seeds), why) == (7, "the fewest that can decide anything; 2 tell the least effect")


def test_seeds_that_the_study_says_are_taken():
    study = read_study(small(report_seeds={"first": 500, "count": 4}, **HOLDOUT))
    assert report_seeds(study, front(0.03)) == ([500, 501, 502, 503], "")


def test_a_study_reports_at_these_seeds_and_says_why(tmp_path):
    study = small(objectives=["drain_cycles"], trials=8, report_seeds={"most": 30}, **HOLDOUT)
    results = tune(study, tmp_path / "out")
    expected, reason = report_seeds(results.study, results.front)
    assert results.report.seeds == expected
    assert 20 <= len(expected) <= 30
    assert results.to_take[1] == f"compared at {len(expected)} seeds that neither tuning nor choosing saw, {reason}"
    assert not {*expected} & {*results.study.sweep.seeds, *results.study.holdout_seeds}
    assert tune(study, tmp_path / "out").to_take == results.to_take
