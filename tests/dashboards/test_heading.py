"""What a page says at first: a title, what one sees, a legend, and an effect that its default seeds decide."""

from __future__ import annotations

import importlib
import math

import pytest

import workbench as wb
from workbench.dashboards._differences import histogram_scene
from workbench.dashboards._paired_dashboard import heading
from workbench.dashboards.paired_runs import PairedRuns
from workbench.figures.drain_difference import drain_difference_data
from workbench.statistics import compare, judge
from workbench.statistics.sentences import shown

NAMES = ("shared_memory", "dispatch", "translation", "pool", "malloc", "node")


def opening(name):
    return importlib.import_module(f"workbench.dashboards._{name}").CONFIG


@pytest.mark.parametrize("name", NAMES)
def test_a_page_has_a_title_one_sentence_and_a_legend(name):
    start = opening(name)
    shown = heading(start)
    assert f"<h2>{start.title}</h2>" in shown
    assert start.summary in shown
    assert start.summary.count(".") == 1
    assert "wb-legend" in shown


OTHERS = [*NAMES[1:3], "malloc", "node", "pool"]


@pytest.mark.usefixtures("sent_whole")
@pytest.mark.parametrize("name", [NAMES[0], *(pytest.param(name, marks=pytest.mark.slow) for name in OTHERS)])
def test_the_default_seeds_decide_what_a_page_opens_with(name):
    shown = wb.dashboard(name)
    try:
        message = shown.histogram.scene["words"]
        assert "better at " in message or "worse at " in message
        assert "undecided" not in message
    finally:
        shown.close()


@pytest.mark.parametrize("seeds", [1, 2, 5])
def test_the_line_is_that_of_a_comparison_alone(seeds):
    said = {
        "engine": "shared_memory",
        "workload": {"regime": "large_uniform", "count": 40},
        "policy": {"placement": {"vary": ["first_fit", "best_fit"]}},
        "baseline": {"placement": "first_fit"},
        "seeds": seeds,
    }
    runs = PairedRuns(said).advance(math.inf)
    baseline, other = ([*runs.values(point, "drain_cycles").values()] for point in runs.plan.points)
    verdict = judge({"": compare(baseline, other, compared_by="ratio")})[""]
    message = histogram_scene(drain_difference_data(runs, "drain_cycles"))["words"]
    expected = "; ".join(shown(verdict, runs.plan.sweep.mechanism.measures["drain_cycles"]))
    assert message == f"best_fit against first_fit: {expected}." and ("sample" in message) == (seeds == 1)
