"""Grants a segment over the mean of the memory."""

from __future__ import annotations

import numpy as np
import pytest

from tests.figures.stand_ins import record, runs
from workbench.errors import InputError
from workbench.figures import figure

WEAR = figure("wear_by_segment")
LOW = record([(0, 0, 1, 0, 2), (0, 1, 2, 0, 2)], segments=4)
EVEN = record([(0, 0, 1, 0, 2), (0, 0, 1, 2, 2)], segments=4)
NO_RANGES = LOW._replace(addressed=False, layout="scattered")


def test_mean_of_the_seeds_over_the_mean_of_the_memory():
    (line,) = WEAR.data(runs({"first_fit": [LOW, EVEN]}, segments=[4])).lines
    assert line.means.mean.tolist() == [1.5, 1.5, 0.5, 0.5]
    assert line.means.high[0] == pytest.approx(1.5 + 12.706204736432095 * np.std([2, 1], ddof=1) / np.sqrt(2))


def test_policies_without_ranges_are_left_out_by_name():
    data = WEAR.data(runs({"first_fit": [LOW], "byte_counter": [NO_RANGES]}, segments=[4]))
    assert [line.name for line in data.lines] == ["first_fit"] and data.without == ("byte_counter",)
    assert WEAR.draw(data).get_supxlabel() == "one seed; no ranges: byte counter"
    with pytest.raises(InputError, match="needs grants that are ranges of segments; byte_counter has none"):
        WEAR.data(runs({"byte_counter": [NO_RANGES]}, segments=[4]))


def test_ink_and_columns():
    data = WEAR.data(runs({"first_fit": [LOW], "best_fit": [EVEN]}, segments=[4]))
    (axes,) = WEAR.draw(data).axes
    assert (axes.get_xlabel(), axes.get_ylabel()) == ("segment", "grants / mean")
    assert axes.get_xlim() == (0, 3) and len(axes.lines) == 3
    columns = data.columns()
    assert columns["segment"].tolist() == [0, 1, 2, 3] * 2
    assert columns["grants_over_mean"].tolist() == [2, 2, 0, 0, 1, 1, 1, 1]


def test_an_empty_run_wears_nothing():
    (line,) = WEAR.data(runs({"first_fit": [record([], segments=4)]}, segments=[4])).lines
    assert line.means.mean.tolist() == [0, 0, 0, 0]
