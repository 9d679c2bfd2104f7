"""Queue and free memory over time: the numbers, then the ink."""

from __future__ import annotations

import numpy as np
import pytest

from tests.figures.stand_ins import record, runs
from workbench.errors import InputError
from workbench.figures import figure
from workbench.figures.panels import MOST_LINES, MOST_PANELS
from workbench.figures.run_curves import PLACES

QUICK = record([(0, 0, 4, 0, 4), (0, 1, 3, 4, 4)])
SLOW = record([(0, 0, 4, 0, 4), (0, 4, 6, 0, 4)])
REMAINING, FREE = figure("remaining_over_time"), figure("free_over_time")
T_OF_ONE_DEGREE = 12.706204736432095


def test_one_run_is_its_own_steps_without_a_band():
    (curve,) = FREE.data(runs({"first_fit": [QUICK]})).lines
    assert curve.x.tolist() == [0, 1, 2, 3, 4]
    assert curve.means.mean.tolist() == [4, 0, 0, 4, 8]
    assert np.isnan(curve.means.low).all() and np.isnan(curve.means.high).all()
    (curve,) = REMAINING.data(runs({"first_fit": [QUICK]})).lines
    assert curve.means.mean.tolist() == [1, 0, 0, 0, 0]


def test_means_over_the_seeds_with_their_interval():
    (curve,) = REMAINING.data(runs({"first_fit": [QUICK, SLOW]})).lines
    assert (curve.n, curve.name) == (2, "first_fit")
    assert curve.x.tolist() == [0, 1, 2, 3, 4, 5, 6]
    assert curve.means.mean.tolist() == [1, 0.5, 0.5, 0.5, 0, 0, 0]
    half = T_OF_ONE_DEGREE * np.std([0, 1], ddof=1) / np.sqrt(2)
    assert curve.means.high[1] == pytest.approx(0.5 + half)
    assert curve.means.low[1] == pytest.approx(0.5 - half)
    assert curve.means.low[0] == curve.means.high[0] == 1


def test_a_run_that_is_over_stays_free_until_the_slowest_ends():
    data = FREE.data(runs({"first_fit": [SLOW], "best_fit": [QUICK]}))
    slow, quick = data.lines
    assert slow.x.tolist() == quick.x.tolist() == [0, 1, 2, 3, 4, 5, 6]
    assert quick.means.mean.tolist() == [4, 0, 0, 4, 8, 8, 8]


def test_a_long_run_is_sampled_at_true_values():
    rng = np.random.default_rng(3)
    grant = np.sort(rng.integers(0, 90_000, 500))
    long = record([(0, int(t), int(t) + 7, 0, 1) for t in grant], segments=4096)
    (curve,) = REMAINING.data(runs({"first_fit": [long]}, segments=[4096])).lines
    assert len(curve.x) == PLACES
    assert (curve.x[0], curve.x[-1]) == (0, int(grant[-1]) + 7)
    assert curve.means.mean.tolist() == [int((grant > t).sum()) for t in curve.x]


def test_the_baseline_comes_first_and_a_name_looks_the_same_in_every_panel():
    result = runs({"best_fit": [QUICK], "first_fit": [SLOW]}, baseline="first_fit", segments=[8, 16])
    data = REMAINING.data(result)
    assert data.titles == ("segments = 8", "segments = 16")
    assert [(c.panel, c.name, c.style) for c in data.lines] == [
        (0, "best_fit", 1),
        (0, "first_fit", 0),
        (1, "best_fit", 1),
        (1, "first_fit", 0),
    ]


def test_columns_are_what_is_drawn():
    columns = FREE.data(runs({"first_fit": [QUICK], "best_fit": [SLOW]})).columns()
    assert list(columns) == ["setting", "line", "runs", "time_cycles", "mean_segments", "low_segments", "high_segments"]
    assert {len(column) for column in columns.values()} == {14}
    assert columns["line"].tolist() == ["first_fit"] * 7 + ["best_fit"] * 7


def test_ink():
    drawn = REMAINING.draw(REMAINING.data(runs({"first_fit": [QUICK, SLOW], "best_fit": [QUICK, QUICK]})))
    (axes,) = drawn.axes
    assert axes.get_xlabel() == "time (cycles)"
    assert axes.get_ylabel() == "workgroups left in the queue"
    assert len(axes.lines) == 2 and len(axes.collections) == 2
    assert len({line.get_marker() for line in axes.lines}) == len({line.get_color() for line in axes.lines}) == 2
    assert [text.get_text() for text in drawn.legends[0].get_texts()] == ["first fit", "best fit"]
    assert axes.get_ylim()[0] == 0
    assert drawn.get_supxlabel() == "mean of 2 seeds with its pointwise 95 % interval"


def test_long_times_are_in_thousands_of_cycles():
    long = record([(0, 0, 40_000, 0, 1)])
    drawn = FREE.draw(FREE.data(runs({"first_fit": [long]})))
    drawn.draw_without_rendering()
    assert drawn.axes[0].get_xlabel() == "time (thousand cycles)"
    assert "40" in [label.get_text() for label in drawn.axes[0].get_xticklabels()]


def test_lines_say_their_number_of_seeds_where_it_differs():
    result = runs({"first_fit": [QUICK, SLOW], "best_fit": [QUICK, SLOW]}, failed=[("best_fit", 1)])
    drawn = REMAINING.draw(REMAINING.data(result))
    assert [text.get_text() for text in drawn.legends[0].get_texts()] == ["first fit (n = 2)", "best fit (n = 1)"]


def test_a_point_without_a_finished_run_is_named_with_its_reason():
    result = runs({"first_fit": [QUICK], "best_fit": [QUICK]}, failed=[("best_fit", 0)])
    with pytest.raises(InputError) as refused:
        REMAINING.data(result)
    assert str(refused.value) == (
        "remaining_over_time needs a finished run of every point; best_fit has none: "
        "1 failed, the first: best_fit broke at cycle 3."
    )


def test_more_than_can_be_told_apart_is_refused():
    with pytest.raises(InputError, match=f"needs 9 panels for this sweep; a page holds {MOST_PANELS}"):
        REMAINING.data(runs({"first_fit": [QUICK]}, segments=range(8, 17)))
    many = {f"size_segregated_ends(threshold={k})": [QUICK] for k in range(1, MOST_LINES + 1)}
    assert len(REMAINING.data(runs(many)).lines) == MOST_LINES
    with pytest.raises(InputError, match="needs 13 lines in a panel; only 12 can be told apart"):
        REMAINING.data(runs({**many, "first_fit": [QUICK]}))
