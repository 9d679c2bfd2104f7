"""Figures of the engine `malloc`: data by hand from a small sweep, and ink."""

from __future__ import annotations

import numpy as np
import pytest

import workbench as wb
from workbench.errors import InputError
from workbench.figures import figure
from workbench.figures._speed_up import break_even

SWEEP = {
    "engine": "malloc",
    "machine": "h100",
    "workload": {"synthetic": "random_mallocs", "active_by": "warp", "threads": 64, "active": {"vary": [0.03125, 0.5]}},
    "policy": {"serve": {"vary": ["per_thread", "warp_aggregated"]}},
    "baseline": {"serve": "per_thread"},
    "seeds": 2,
    "measures": ["makespan_cycles", "failure_rate"],
}


@pytest.fixture(scope="module")
def runs():
    return wb.run(SWEEP, workers=1)


def test_speed_up_is_the_baseline_over_the_other_and_passes_one_at_the_break_even(runs):
    """One lane of each of two warps: 800 cycles against 20 + 800 + 20; sixteen: 32 x 400 against the same."""
    data = figure("speed_up").data(runs.runs if hasattr(runs, "runs") else runs)
    (line,) = data.lines
    assert line.x.tolist() == [0.03125, 0.5]
    assert line.means.mean == pytest.approx([800 / 840, 12800 / 840])
    assert 0.03125 < line.more["break_even"] < 0.05
    columns = data.columns()
    assert {len(column) for column in columns.values()} == {2}
    drawn = figure("speed_up").draw(data._replace(y_label="makespan time: baseline over this"))
    (axes,) = drawn.axes
    drawn.canvas.draw()
    name = axes.yaxis.label.get_window_extent()
    assert name.height <= axes.bbox.height  # a longer one was cut off at the top


def test_where_both_are_as_fast():
    x = np.array([1.0, 2.0, 4.0])
    assert break_even(x, np.array([0.5, 1.0, 2.0])) == 2.0
    assert break_even(x, np.array([0.5, 0.5, 2.0])) == pytest.approx(8**0.5)
    assert np.isnan(break_even(x, np.array([2.0, 3.0, 4.0])))


def test_a_measure_that_is_not_compared_by_ratios_is_refused(runs):
    with pytest.raises(InputError, match=r"speed_up needs a measure that is compared by ratios.*Got failure_rate"):
        runs.figure("speed_up", measure="failure_rate")
    (line,) = figure("speed_up").data(runs.runs if hasattr(runs, "runs") else runs, "threads_per_kilocycle").lines
    assert line.means.mean == pytest.approx([800 / 840, 12800 / 840])  # of which more is better


def test_what_is_held_over_time(runs):
    data = runs.figure_data("held_over_time")
    assert len(data.lines) == 4
    for curve in data.lines:
        assert (np.diff(curve.means.mean) >= 0).all()
        assert curve.means.mean[-1] > 0
    assert len(figure("held_over_time").draw(data).axes) == 2
