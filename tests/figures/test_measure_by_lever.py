"""The first measure that a sweep shows, against a varied number."""

from __future__ import annotations

import pytest

from tests.figures.stand_ins import runs
from tests.figures.test_fragmentation_by_size import fragmented
from workbench.errors import InputError
from workbench.export.drawings import Drawing
from workbench.figures import figure

BY_LEVER = figure("measure_by_lever")
GIVEN = fragmented(first_fit=[0.25, 0.75])


def test_the_first_measure_with_a_better_side_unless_one_is_named():
    result = runs(GIVEN, segments=[8, 32], measures=["low_end_share", "drain_cycles", "mean_external_fragmentation"])
    assert BY_LEVER.data(result).y[0] == "mean_drain_cycles"
    data = BY_LEVER.data(result, measure="mean_external_fragmentation")
    assert (data.x, data.lines[0].means.mean.tolist()) == ("machine.segments", [0.5, 0.5])
    assert BY_LEVER.draw(data).axes[0].get_ylabel() == "mean external fragmentation"


@pytest.mark.parametrize("name", ["measure_by_lever", "fragmentation_by_size"])
def test_what_cannot_be_drawn_is_refused_in_the_name_of_the_figure_that_was_asked_for(name):
    with pytest.raises(InputError, match=f"^{name} needs a varied number for its axis"):
        figure(name).data(runs(GIVEN))
    with pytest.raises(InputError, match=f"^{name} needs wear_gini, which is not defined"):
        figure(name).data(runs(GIVEN, segments=[8, 32], measures=["wear_gini"]), measure="wear_gini")


def test_the_caption_names_the_measure_the_lever_and_the_policies():
    drawing = Drawing(BY_LEVER, BY_LEVER.data(runs(GIVEN, segments=[8, 32], measures=["drain_cycles"])))
    start = "Drain time (cycles) against segments (segments): first fit. "
    assert drawing.caption.startswith(start) and "95 % interval" in drawing.caption
    assert drawing.alt.startswith(start)


def test_the_only_measure_is_shown():
    result = runs(GIVEN, segments=[8, 32], measures=["drain_cycles"])
    assert BY_LEVER.data(result).y[0] == "mean_drain_cycles"


@pytest.mark.parametrize("axes", [{}, {"x": "drain_cycles"}, {"y": "mean_external_fragmentation"}])
def test_a_front_takes_the_first_two(axes):
    displayed = ["drain_cycles", "low_end_share", "mean_external_fragmentation"]
    data = figure("pareto").data(runs(GIVEN, measures=displayed), **axes)
    assert (data.x.name, data.y.name) == ("drain_cycles", "mean_external_fragmentation")
