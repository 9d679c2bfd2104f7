"""Measures of address translation, beside those of the event-driven twin and by hand."""

from __future__ import annotations

import math

import pytest

from tests.engines.translation_cases import simulate
from tests.engines.translation_load_cases import drawn, drawn_with_middle, drawn_with_walks
from tests.oracles import translation_measures as slow
from tests.slow import seeds
from workbench.metrics.translation import MEASURES, measure

PLAIN = {"locate": "no_directory", "fill": "demand_always"}
TWO = {"cores": 2, "private_entries": 4, "shared_entries": 16}


@pytest.mark.parametrize("draws", [drawn, drawn_with_walks, drawn_with_middle])
@pytest.mark.parametrize("seed", seeds(20, 400))
def test_every_measure_equals_its_slow_twin(seed, draws):
    case = draws(seed)
    measures, expected = measure(case.engine()), slow.measures(case.twin())
    assert measures.keys() == expected.keys() == MEASURES.keys()
    for name, value in expected.items():
        assert measures[name] == pytest.approx(value, rel=1e-12, nan_ok=True), name


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
