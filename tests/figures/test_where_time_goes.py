"""Where the time of a group goes: bars that sum to the mean group's time, all of a panel in percent of the first."""

from __future__ import annotations

import numpy as np
import pytest

from workbench.errors import InputError
from workbench.experiments.plan import make_plan
from workbench.experiments.results import Results
from workbench.experiments.sweep import read_sweep
from workbench.figures import figure
from workbench.figures._where_time_goes import PARTS
from workbench.metrics.node import TIMES
from workbench.runs.row import Row

WHERE = figure("where_time_goes", "node")
SWEEP = {
    "engine": "node",
    "machine": {"cards": 1, "modules": 1},
    "workload": {"regime": {"vary": ["training", "gather"]}},
    "policy": {"serve": {"vary": ["per_thread", "warp_aggregated"]}},
    "seeds": 3,
    "measures": ["group_mean_cycles"],
}
CYCLES = {("training", "per_thread"): 400, ("training", "warp_aggregated"): 100, ("gather", "per_thread"): 50}
"""Of compute, by family and way to serve; 50 for the rest. Every other part has 10, and seed k has k more of issue."""


def drawn(without=()):
    plan, rows = make_plan(read_sweep(SWEEP)), []
    for run in plan.runs():
        names = run.point.coordinates["workload.regime"], run.point.setup.policies["serve"].name
        values = {f"group_mean_{name}_cycles": 10.0 for name in TIMES}
        values["group_mean_compute_cycles"] = float(CYCLES.get(names, 50))
        values["group_mean_issue_cycles"] += run.seed
        failed = names in without
        rows.append(
            Row(run.id, run.point.id, run.seed, "failed" if failed else "done", "", 0.0, {} if failed else values)
        )
    return Results(plan, rows)


def test_every_part_has_a_place():
    assert set(PARTS) == set(TIMES)


def test_bars_are_means_of_the_parts_in_percent_of_the_first():
    data = WHERE.data(drawn())
    assert [title.split()[-1] for title in data.titles] == ["training", "gather"]
    assert [(bar.panel, bar.name, bar.n) for bar in data.bars] == [
        (place, name, 3) for place in (0, 1) for name in ("per_thread", "warp_aggregated")
    ]
    first, other = data.bars[:2]
    place = {name: k for k, name in enumerate(PARTS)}
    assert first.cycles[place["compute"]] == 400 and first.cycles[place["issue"]] == pytest.approx(11)
    whole = 400 + 11 + 9 * 10
    assert first.cycles.sum() == pytest.approx(whole) and first.percent.sum() == pytest.approx(100)
    assert other.percent.sum() == pytest.approx(100 * (whole - 300) / whole)


def test_the_table_has_a_row_a_bar_and_part():
    columns = WHERE.data(drawn()).columns()
    assert {len(column) for column in columns.values()} == {4 * len(PARTS)}
    assert [*columns["part"][: len(PARTS)]] == [*PARTS]


def test_it_is_drawn_with_a_rectangle_a_bar_and_part(tmp_path):
    sheet = WHERE.draw(WHERE.data(drawn()))
    widths = [sum(patch.get_width() for patch in axes.patches) for axes in sheet.axes]
    assert [len(axes.patches) for axes in sheet.axes] == [2 * len(PARTS)] * 2
    assert np.isfinite(widths).all() and sheet.axes[0].get_xlim()[1] > 100
    sheet.savefig(tmp_path / "w.png", dpi=40)


def test_a_bar_without_a_finished_run_is_a_sentence():
    with pytest.raises(InputError, match="where_time_goes needs a finished run of every point"):
        WHERE.data(drawn(without=[("gather", "per_thread")]))
