"""The list of figures, what imports cost, and drawing all that a sweep names."""

from __future__ import annotations

import importlib
import pkgutil
import subprocess
import sys

import pytest

import workbench.figures as room
from tests.figures.stand_ins import record, runs
from workbench.errors import InputError
from workbench.figures import check, draw_all, figure, figures
from workbench.figures.registry import ANY, FIGURES, STUDY_FIGURES, OfStudy, Recipe
from workbench.mechanisms.mechanism import mechanisms


def held(kind):
    """The names of the figures of a kind that the modules of the room hold."""
    modules = [importlib.import_module(f"{room.__name__}.{one.name}") for one in pkgutil.iter_modules(room.__path__)]
    return {value.name for module in modules for value in vars(module).values() if isinstance(value, kind)}


RECORD = record([(0, 0, 4, 0, 4), (0, 1, 3, 4, 4)])


def test_every_figure_is_listed_and_every_figure_is_whole():
    assert held(Recipe) == {recipe.name for recipe in figures()} == set(FIGURES.names())
    assert held(OfStudy) == set(STUDY_FIGURES.names())
    for recipe in figures():
        engines = (ANY, *mechanisms())
        assert recipe.engine in engines and recipe.description.endswith(".")
        assert callable(recipe.data) and callable(recipe.draw)


def test_figures_of_an_engine():
    assert {recipe.engine for recipe in figures("no_such_engine")} == {ANY}
    of_any = {recipe.name for recipe in figures("no_such_engine")}
    assert of_any == {recipe.name for recipe in figures() if recipe.engine == ANY} >= {"measure_by_lever", "pareto"}
    assert {recipe.name for recipe in figures("dispatch")} > of_any
    with pytest.raises(
        InputError, match="unknown figure 'wear_by_segment'; there are dispatch_timeline, factorial_effects, fragment"
    ):
        figure("wear_by_segment", "dispatch")


def test_unknown_names_are_refused_with_the_nearest():
    with pytest.raises(InputError) as refused:
        check(["drain_difference", "drain_diference"], "shared_memory", "drain.yaml")
    assert str(refused.value).startswith(
        "drain.yaml: figures: unknown figure 'drain_diference'; there are drain_difference"
    )
    assert str(refused.value).endswith("Did you mean drain_difference?")


@pytest.mark.slow
def test_without_matplotlib_the_data_are_there_and_the_sentence_says_what_to_install():
    code = """
import sys
sys.modules["matplotlib"] = None
from tests.figures.test_registry import RECORD, figure, runs
from workbench.errors import WorkbenchError
recipe = figure("wear_by_segment")
data = recipe.data(runs({"first_fit": [RECORD]}))
try:
    recipe.draw(data)
except WorkbenchError as problem:
    print(problem)
"""
    reply = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert reply.stdout.strip() == (
        "drawing a figure needs an optional part. Install it with: pip install -e '.[figures]'."
    )


def test_choices_go_to_the_data_function_and_unknown_ones_are_refused():
    result = runs({"first_fit": [RECORD, RECORD]})
    assert figure("layout_over_time").choose(result, seed=1).seed == 1
    with pytest.raises(
        InputError, match=r"unknown choice of layout_over_time 'sed'; there are cycles, seed. Did you mean"
    ):
        figure("layout_over_time").choose(result, sed=1)
    with pytest.raises(InputError, match="unknown choice of free_over_time 'runs'; there are none"):
        figure("free_over_time").choose(result, runs=1)


@pytest.mark.slow
def test_all_figures_of_a_sweep_are_saved(tmp_path):
    result = runs({"first_fit": [RECORD], "best_fit": [RECORD]}, named=["free_over_time", "layout_over_time"])
    saved = draw_all(result, tmp_path)
    assert [path.name for path in saved] == [
        f"{name}.{kind}" for name in ("free_over_time", "layout_over_time") for kind in ("pdf", "png", "csv")
    ]
    assert all(path.stat().st_size > 100 for path in saved)


def test_one_that_cannot_be_drawn_does_not_keep_the_others_back(tmp_path):
    result = runs({"first_fit": [RECORD]}, named=["drain_difference", "free_over_time", "fragmentation_by_size"])
    with pytest.raises(InputError) as refused:
        draw_all(result, tmp_path)
    assert str(refused.value).startswith("by_hand.yaml: drain_difference compares points with a baseline")
    assert "fragmentation_by_size needs a varied number" in str(refused.value)
    assert sorted(path.name for path in tmp_path.glob("[!.]*")) == [
        f"free_over_time.{kind}" for kind in ("csv", "pdf", "png")
    ]
