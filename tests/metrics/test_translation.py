"""Measures of address translation that stand for fragmentation and power, beside the event-driven twin and by hand."""

from __future__ import annotations

import math
import statistics
from collections import Counter

import pytest

from tests.depth import seeds
from tests.engines.translation_cases import simulate
from tests.engines.translation_load_cases import drawn
from workbench.metrics.translation import MEASURES, measure
from workbench.records.translation import SERVED_BY
from workbench.records.translation_events import ACCESS

PLAIN = {"locate": "no_directory", "fill": "demand_always"}
TWO = {"cores": 2, "private_entries": 4, "shared_entries": 16}


@pytest.mark.parametrize("seed", seeds(20, 400))
def test_reach_and_traffic_are_those_of_the_twin(seed):
    case = drawn(seed)
    measures, twin = measure(case.engine()), case.twin()
    cores, entries = case.machine["cores"], case.machine["private_entries"]
    wasted = [1 - pages / (cores * entries) for pages in twin.pages_held]
    assert measures["reach_wasted"] == pytest.approx(statistics.fmean(wasted), rel=1e-12)
    left = Counter(core for _, kind, core, _, by, *_ in twin.log if kind == ACCESS and SERVED_BY[by] in OUTSIDE)
    counts = [left[core] for core in range(cores)]
    expected = statistics.pstdev(counts) / statistics.fmean(counts) if left else math.nan
    assert measures["power_proxy_cv"] == pytest.approx(expected, rel=1e-12, nan_ok=True)


OUTSIDE = ("peer", "shared", "walk")


def test_a_copy_and_an_empty_entry_add_no_reach():
    """At the end core 0 holds pages 1, 2, 3 and core 1 page 3: three pages in eight entries."""
    record = simulate(
        [(1000 * at, core, page) for at, (core, page) in enumerate([(0, 1), (0, 2), (0, 3), (1, 3)])], TWO, PLAIN
    )
    assert record.samples == 1
    measures = measure(record)
    assert measures["reach_wasted"] == 1 - 3 / 8
    assert measures["power_proxy_cv"] == 0.5, "three accesses leave core 0, one leaves core 1"
    assert measures["sharing_degree_mean"] == 4 / 3


def test_hits_cost_no_traffic():
    rows = [(1000 * at, at % 2, at % 2) for at in range(20)]
    measures = measure(simulate([*rows, *((1000 * at, 0, 0) for at in range(20, 90))], TWO, PLAIN))
    assert measures["private_hit_rate"] == 88 / 90
    assert measures["power_proxy_cv"] == 0


def test_of_nothing_and_every_declared_measure():
    measures = measure(simulate([], TWO, PLAIN))
    assert set(measures) == set(MEASURES)
    assert math.isnan(measures["power_proxy_cv"])
