"""A measure against a varied number."""

from __future__ import annotations

import numpy as np
import pytest

from tests.figures.stand_ins import runs
from workbench.errors import InputError
from workbench.figures import figure

TREND = figure("fragmentation_by_size")


def fragmented(**values):
    return {p: [{"mean_external_fragmentation": v, "drain_cycles": 9.0} for v in seeds] for p, seeds in values.items()}


def by_size(result, sizes):
    """The same runs, each size with values of its own: its number is added."""
    for row in result.rows.values():
        size = int(row.point.rsplit("-", 1)[1])
        row.measures["mean_external_fragmentation"] += sizes.index(size)
    return result


def test_means_at_each_value_of_the_lever():
    holders = by_size(runs(fragmented(first_fit=[0.25, 0.75], best_fit=[0.5, 0.5]), segments=[32, 8]), [8, 32])
    data = TREND.data(holders)
    assert (data.x, data.titles) == ("machine.segments", ("",))
    first, best = data.lines
    assert (first.name, first.x.tolist(), first.means.mean.tolist()) == ("first_fit", [8, 32], [0.5, 1.5])
    assert first.means.high[0] == pytest.approx(0.5 + 12.706204736432095 * 0.25)
    assert best.means.mean.tolist() == [0.5, 1.5]
    assert np.isnan([best.means.low, best.means.high]).all(), "equal values bound nothing of what was not seen"
    assert data.x_label == "segments (segments)"


def test_any_measure():
    data = TREND.data(runs(fragmented(first_fit=[0.5]), segments=[8, 16]), measure="drain_cycles")
    assert data.y_label == "drain time (cycles)" and data.lines[0].means.mean.tolist() == [9, 9]


def test_a_policy_without_the_lever_is_the_same_everywhere():
    sweep = fragmented(
        **{"first_fit": [0.1], "size_segregated_ends(threshold=4)": [0.2], "size_segregated_ends(threshold=9)": [0.3]}
    )
    result = runs(sweep)
    path = "policy.placement.size_segregated_ends.threshold"
    for point in result.points[1:]:
        point.coordinates[path] = point.setup.policies["placement"].threshold
    data = TREND.data(result)
    flat, varied = data.lines
    assert (flat.name, flat.x.tolist(), flat.means.mean.tolist()) == ("first_fit", [4, 9], [0.1, 0.1])
    assert (varied.name, varied.x.tolist(), varied.means.mean.tolist()) == ("size_segregated_ends", [4, 9], [0.2, 0.3])
    assert data.x_label == "threshold (segments)"


def test_where_the_measure_is_not_defined_a_policy_is_left_out_by_name():
    data = TREND.data(runs(fragmented(first_fit=[0.5], byte_counter=[float("nan")]), segments=[8, 16]))
    assert [line.name for line in data.lines] == ["first_fit"] and data.without == ("byte_counter",)
    assert TREND.draw(data).get_supxlabel() == "one seed; not defined: byte counter"
    with pytest.raises(
        InputError, match="mean_external_fragmentation, which is not defined for byte_counter, segments 8"
    ):
        TREND.data(runs(fragmented(byte_counter=[float("nan")]), segments=[8, 16]))


def test_no_number_or_more_than_one():
    with pytest.raises(InputError, match="needs a varied number for its axis, and this sweep varies none"):
        TREND.data(runs(fragmented(first_fit=[0.5], best_fit=[0.5])))
    result = runs(fragmented(first_fit=[0.5]), segments=[8, 16])
    for place, point in enumerate(result.points):
        point.coordinates["options.latency_cycles"] = place
    with pytest.raises(
        InputError, match=r"none was named\. Choose lever= from machine\.segments, options\.latency_cycles"
    ):
        TREND.data(result)
    with pytest.raises(InputError, match="'count' is not one of them"):
        TREND.data(result, lever="count")


def test_ink():
    drawn = TREND.draw(TREND.data(runs(fragmented(first_fit=[0.5], best_fit=[0.4]), segments=[8, 16, 64])))
    (axes,) = drawn.axes
    assert (axes.get_xlabel(), axes.get_ylabel()) == ("segments (segments)", "mean external fragmentation")
    assert axes.get_xscale() == "log" and [t.get_text() for t in axes.get_xticklabels()] == ["8", "16", "64"]
    assert [list(line.get_ydata()) for line in axes.lines] == [[0.5] * 3, [0.4] * 3]
    narrow = TREND.draw(TREND.data(runs(fragmented(first_fit=[0.5]), segments=[8, 16])))
    assert narrow.axes[0].get_xscale() == "linear"


def test_columns_are_what_is_drawn():
    columns = TREND.data(runs(fragmented(first_fit=[0.25, 0.75]), segments=[8, 16])).columns()
    assert columns["machine.segments"].tolist() == [8, 16] and columns["seeds"].tolist() == [2, 2]
    assert columns["mean_mean_external_fragmentation"].tolist() == [0.5, 0.5]
