"""What figures of any engine show when no measure is chosen."""

from __future__ import annotations

import pytest

import workbench as wb
from tests.toy_engine import SWEEP, toy_engine
from workbench.errors import InputError
from workbench.figures import figure


@pytest.fixture(autouse=True)
def _toy():
    with toy_engine():
        yield


def results(*measures):
    vary = {"policy": {"placement": {"vary": ["first_fit", "best_fit"]}}, "baseline": {"placement": "first_fit"}}
    return wb.run({**SWEEP, **vary, "options": {"count": {"vary": [10, 20]}}, "measures": [*measures]}, workers=0)


def test_an_engine_without_the_usual_measures_shows_those_of_its_sweep():
    result = results("wait_p99_cycles[2]", "utilisation")
    assert figure("fragmentation_by_size").data(result).y_label == "p99 wait, priority 2 (cycles)"
    assert "p99 wait, priority 2" in figure("saving_by_policy").data(result).label
    pareto = figure("pareto").data(result)
    assert (pareto.x.name, pareto.y.name) == ("wait_p99_cycles[2]", "utilisation")


def test_what_is_chosen_counts_and_one_measure_serves_both_sides():
    result = results("utilisation")
    assert figure("fragmentation_by_size").choose(result, measure="splits").y_label == "splits (groups)"
    assert figure("pareto").data(result).y.name == "utilisation"
    with pytest.raises(InputError, match="unknown measure 'drain_cycles'"):
        figure("saving_by_policy").choose(result, measure="drain_cycles")
