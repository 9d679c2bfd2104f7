"""What a measure depends on, and which levers act together: what is drawn, and that it is there to be seen."""

from __future__ import annotations

import numpy as np
import pytest
from matplotlib.colors import to_rgb

import workbench as wb
from tests.explain.sensitivity.known import known_engine, study
from workbench.errors import InputError
from workbench.figures import figure
from workbench.palette import LIGHT

BARS, PAIRS = figure("sensitivities"), figure("interactions")
TWO = {"placement": {"vary": ["first_fit", "best_fit"]}}


@pytest.fixture(autouse=True, scope="module")
def _entered():
    with known_engine():
        yield


@pytest.fixture(scope="module")
def sobol():
    return wb.run(study(policy=TWO, design={"saltelli": {"base": 64, "seed": 1}}), workers=1)


@pytest.fixture(scope="module")
def morris():
    return wb.run(study(design={"morris": {"trajectories": 6}}, seeds=2), workers=1)


@pytest.mark.slow
def test_the_levers_of_each_way_fall_by_what_is_drawn_full(sobol):
    data = BARS.data(sobol)
    assert [panel.way for panel in data.panels] == ["first_fit", "best_fit"]
    assert [panel.names for panel in data.panels] == [("x1", "x2", "x3"), ("x1", "x2", "x3")]
    for panel, one in zip(data.panels, sobol.sensitivity().analyses, strict=True):
        order = np.argsort(-one.estimates.total.value, kind="stable")
        assert panel.whole.mean.tolist() == one.estimates.total.value[order].tolist()
        assert panel.part.low.tolist() == one.estimates.first.low[order].tolist()
    assert data.label == "share of the variance of y"
    assert (data.panels[0].rows, data.panels[0].seeds) == (512, 1)


def test_levers_that_matter_more_come_first():
    runs = wb.run(study(design={"morris": {"trajectories": 6}}), workers=1)
    (panel,) = BARS.data(runs, measure="line").panels
    assert panel.names == ("x2", "x1", "x3")


def test_effects_have_the_unit_of_the_measure_and_their_spread_no_interval(morris):
    data = BARS.data(morris, measure="line")
    assert (data.label, data.whole, data.part) == ("effect on line (units)", "mean size", "spread")
    assert np.isnan(data.panels[0].part.low).all() and not np.isnan(data.panels[0].whole.low).any()
    assert list(data.columns())[:5] == ["way", "lever", "mean_size", "mean_size_low", "mean_size_high"]


@pytest.mark.slow
def test_ink_two_dots_and_two_intervals_a_lever(sobol):
    data = BARS.data(sobol)
    drawn = BARS.draw(data)
    assert len(drawn.axes) == 2
    for axes, panel in zip(drawn.axes, data.panels, strict=True):
        lines_whole, whole, lines_part, part = axes.collections
        assert whole.get_offsets()[:, 0].tolist() == panel.whole.mean.tolist()
        assert part.get_offsets()[:, 0].tolist() == panel.part.mean.tolist()
        for lines, means in ((lines_whole, panel.whole), (lines_part, panel.part)):
            ends = [(path.vertices[0, 0], path.vertices[-1, 0]) for path in lines.get_paths()]
            assert ends == list(zip(means.low, means.high, strict=True))
        rows = dict(zip(axes.get_yticks(), (text.get_text() for text in axes.get_yticklabels()), strict=True))
        assert [rows[row] for row in (2, 1, 0)] == list(panel.names)
    assert drawn.axes[-1].get_xlabel() == "share of the variance of y"
    assert [text.get_text() for text in drawn.legends[0].get_texts()] == ["total", "first order"]
    assert drawn.get_supxlabel() == "512 points, one seed; 95 % intervals"


def test_ink_of_effects_says_how_many_seeds(morris):
    drawn = BARS.draw(BARS.data(morris))
    assert drawn.get_supxlabel() == "24 points, mean of 2 seeds; 95 % intervals"
    assert drawn.axes[0].get_xlabel() == "effect on y (units)"


@pytest.mark.slow
def test_shares_of_levers_on_the_diagonal_and_of_pairs_beside_it(sobol):
    data = PAIRS.data(sobol)
    for panel, one in zip(data.panels, sobol.sensitivity().analyses, strict=True):
        assert panel.names == ("x1", "x2", "x3")  # in the order of the sweep, as a map needs
        assert np.diag(panel.value).tolist() == one.estimates.first.value.tolist()
        assert panel.value[2, 0] == panel.value[0, 2] == one.estimates.second.value[0, 2]
        assert (panel.low < panel.high).all()
    columns = data.columns()
    assert {len(column) for column in columns.values()} == {12}
    assert (columns["lever"][1], columns["with"][1]) == ("x2", "x1")
    assert columns["share_of_variance"][1] == data.panels[0].value[1, 0]


def test_ink_a_number_a_cell_grey_where_it_may_be_zero(sobol):
    data = PAIRS.data(sobol)
    drawn = PAIRS.draw(data)
    for axes, panel in zip(drawn.axes, data.panels, strict=True):
        numbers = [text for text in axes.texts if text.get_text()]
        cells = [(i, j) for i in range(3) for j in range(i + 1)]
        assert [text.get_position() for text in numbers] == [(j, i) for i, j in cells]
        for text, cell in zip(numbers, cells, strict=True):
            assert float(text.get_text().replace("\N{MINUS SIGN}", "-")) == pytest.approx(panel.value[cell], abs=0.005)
            assert to_rgb(text.get_color()) == to_rgb(LIGHT.ink if panel.low[cell] > 0 else LIGHT.quiet)
        (image,) = axes.images
        assert image.get_array().mask.tolist() == np.triu(np.ones((3, 3), bool), 1).tolist()
        assert [text.get_text() for text in axes.get_yticklabels()] == ["x1  1", "x2  2", "x3  3"]
    assert "share of the variance of y; on the diagonal alone" in " ".join(drawn.get_supxlabel().split())
    assert "512 points, one seed; gray: 95 % interval holds zero" in drawn.get_supxlabel()


def test_the_gain_is_named(sobol):
    config = study(policy=TWO, baseline={"placement": "first_fit"}, design={"saltelli": {"base": 8}})
    runs = wb.run(config, workers=1)
    assert {recipe.data(runs, of="gain").label for recipe in (BARS, PAIRS)} == {
        "share of the variance of the gain in y"
    }


@pytest.mark.parametrize(
    ("recipe", "said", "sentence"),
    [
        (BARS, study(design={"sobol": 8}), "sweep: sensitivity needs design: {saltelli: {base: 64}} (Sobol's indices)"),
        (
            PAIRS,
            study(design={"morris": 2}),
            "interactions needs interactions of pairs, which this sweep's design has not;",
        ),
        (
            PAIRS,
            study(design={"saltelli": {"base": 8, "second_order": False}}),
            "interactions needs interactions of pairs, which this sweep's design has not;",
        ),
    ],
)
def test_what_cannot_be_drawn_is_one_sentence(recipe, said, sentence):
    with pytest.raises(InputError) as refused:
        recipe.data(wb.run(said, workers=1))
    assert sentence in str(refused.value)
    assert "\n" not in str(refused.value)
