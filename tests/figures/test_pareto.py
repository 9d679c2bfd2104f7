"""Two measures against each other, the front, and the names beside the points."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.figures.stand_ins import runs
from workbench.errors import InputError
from workbench.figures import figure
from workbench.figures._pareto import Pareto, cloud_of, on_front
from workbench.figures.estimates import without_limits
from workbench.metrics.shared_memory import MEASURES

PARETO = figure("pareto")
BOTH = MEASURES["drain_cycles"], MEASURES["mean_external_fragmentation"]
POINTS = {"first_fit": (10, 0.4), "best_fit": (9, 0.5), "worst_fit": (11, 0.6), "next_fit": (9, 0.5)}


def two(points=POINTS, seeds=1):
    return {
        name: [{"drain_cycles": float(x) + k, "mean_external_fragmentation": y} for k in range(seeds)]
        for name, (x, y) in points.items()
    }


def shown(points):
    return runs(points, measures=["low_end_share", "drain_cycles", "mean_external_fragmentation"])


def test_means_intervals_and_the_front():
    (panel,) = PARETO.data(shown(two(seeds=2))).panels
    assert panel.names == tuple(POINTS)
    assert panel.front.tolist() == [True, True, False, True]
    assert panel.x.mean.tolist() == [10.5, 9.5, 11.5, 9.5]
    assert panel.x.low[0] == pytest.approx(10.5 - 12.706204736432095 / 2)
    assert panel.y.mean.tolist() == [0.4, 0.5, 0.6, 0.5]
    assert np.isnan([panel.y.low, panel.y.high]).all(), "equal values bound nothing of what was not seen"
    assert panel.n.tolist() == [2, 2, 2, 2]


@given(st.lists(st.tuples(st.integers(0, 5), st.integers(0, 5)), min_size=1, max_size=20))
def test_the_front_is_what_no_other_beats(points):
    x, y = np.array(points, float).T
    beaten = [any(a <= c and b <= d and (a, b) != (c, d) for a, b in points) for c, d in points]
    assert on_front(x, y).tolist() == [not b for b in beaten]


def pareto_of(names, x, y, measures) -> Pareto:
    """The data of the figure from plain arrays, as of the trials of a study: one value each and no interval."""
    sides = [without_limits(np.asarray(values, float)) for values in (x, y)]
    return Pareto(*measures, (cloud_of("", names, np.zeros(len(names), int), sides, measures),))


def test_more_can_be_better():
    measures = MEASURES["utilisation"], MEASURES["drain_cycles"]
    data = pareto_of(["a", "b", "c"], np.array([0.5, 0.9, 0.9]), np.array([10, 20, 30]), measures)
    assert data.panels[0].front.tolist() == [True, True, False]
    assert data.panels[0].n.tolist() == [0, 0, 0] and np.isnan(data.panels[0].x.low).all()
    assert PARETO.draw(data).get_supxlabel() == ""


def test_points_without_one_of_the_measures_are_left_out_by_name():
    data = PARETO.data(shown(two({"first_fit": (10, 0.4), "byte_counter": (8, float("nan"))})))
    assert data.panels[0].names == ("first_fit",) and data.panels[0].without == ("byte_counter",)
    assert PARETO.draw(data).get_supxlabel() == "one seed; not defined: byte counter"
    with pytest.raises(
        InputError, match="both drain_cycles and mean_external_fragmentation are defined; there is none"
    ):
        PARETO.data(shown(two({"byte_counter": (8, float("nan"))})))


def test_measures_that_have_no_better_side_or_do_not_exist():
    with pytest.raises(InputError, match="wear_low_over_high is neither"):
        PARETO.data(shown(two()), x="wear_low_over_high")
    with pytest.raises(InputError, match="unknown measure 'speed'"):
        PARETO.data(shown(two()), y="speed")


def texts_of(drawn):
    drawn.draw_without_rendering()
    return [
        (text.get_text(), text.get_window_extent()) for axes in drawn.axes for text in axes.texts if text.get_text()
    ]


def overlapping(texts):
    return [(a, b) for (a, one), (b, other) in itertools.combinations(texts, 2) if one.overlaps(other)]


def test_ink_names_every_point_without_overlaps():
    drawn = PARETO.draw(PARETO.data(shown(two(seeds=3))))
    (axes,) = drawn.axes
    assert (axes.get_xlabel(), axes.get_ylabel()) == ("drain time (cycles)", "mean external fragmentation")
    texts = texts_of(drawn)
    assert {name for name, _ in texts} == {"first fit", "best fit", "worst fit", "next fit"}
    assert not overlapping(texts)
    steps = axes.lines[0]
    assert steps.get_drawstyle() == "steps-post" and list(steps.get_xdata()) == [10, 10, 11]


@pytest.mark.slow
def test_names_without_room_become_numbers_with_a_key():
    crowd = {f"size_segregated_ends(threshold={k})": (100, 0.4 + k / 1000) for k in range(1, 15)}
    drawn = PARETO.draw(PARETO.data(shown(two(crowd))))
    assert {name for name, _ in texts_of(drawn)} == {str(k) for k in range(1, 15)}
    key = [text.get_text() for text in drawn.legends[0].get_texts()]
    assert key[2] == "3  size segregated ends (threshold=3)" and len(key) == 14


def test_of_many_points_only_the_front_is_named_and_only_where_there_is_room():
    rng = np.random.default_rng(0)
    x, y = rng.random((2, 300))
    drawn = PARETO.draw(data := pareto_of([f"trial {k}" for k in range(300)], x, y, BOTH))
    texts = texts_of(drawn)
    front = {f"trial {k}" for k in np.flatnonzero(data.panels[0].front)}
    assert texts and {name for name, _ in texts} <= front
    assert not overlapping(texts) and not drawn.legends


def test_columns_are_what_is_drawn():
    columns = PARETO.data(shown(two())).columns()
    assert columns["point"].tolist() == list(POINTS) and columns["drain_cycles"].tolist() == [10, 9, 11, 9]
    assert columns["on_front"].tolist() == [True, True, False, True]
