"""Figures: data first, then ink. One file a figure; `figure("drain_difference")` is the pair of functions.

>>> drain = figure("drain_difference")
>>> drain.draw(drain.data(results))                                        # doctest: +SKIP
"""

from __future__ import annotations

import importlib
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING

from workbench.errors import InputError, at, unknown_name
from workbench.figures.calculation import Calculation
from workbench.figures.of_study import OfStudy
from workbench.figures.recipe import Recipe

if TYPE_CHECKING:
    from workbench.experiments.run_set import RunSet
    from workbench.studies.tuning.results import StudyResults

_FILES = (
    "remaining_over_time",
    "free_over_time",
    "drain_difference",
    "layout_over_time",
    "wear_by_segment",
    "fragmentation_by_size",
    "measure_by_lever",
    "saving_by_policy",
    "where_it_holds",
    "sensitivities",
    "interactions",
    "pareto",
    "dispatch_timeline",
    "waits_by_priority",
    "unit_spread_over_rounds",
    "power_over_modules",
    "temperature_over_time",
    "served_by",
    "latency_distribution",
    "network_load",
    "sharing_degrees",
    "core_affinity",
    "speed_up",
    "held_over_time",
    "memory_by_card",
    "reserved_over_requests",
    "lending_graph",
    "region_layout",
    "reading_over_bound",
)
"""Every figure: the file `workbench/figures/NAME.py` holds its `FIGURE`."""

_CALCULATED = ("probe_success", "probe_accuracy_against_gates", "malloc_on_card")
"""Every figure that needs no runs; its file holds its `FIGURE` too."""

_OF_STUDIES = ("study_front", "hypervolume_history", "lever_importances")
"""Every figure of a tuning study; its file holds its `FIGURE` too."""


def figure(name: str, engine: str | None = None, where: str = "") -> Recipe:
    """The figure of a name.

    Raises
    ------
    InputError
        There is none of that name, or it does not serve the engine.

    Examples
    --------
    >>> figure("wear_by_segment").says
    'How often each segment is granted, over the mean of the memory.'
    """
    known = [recipe.name for recipe in figures(engine)]
    if name not in known:
        raise unknown_name(where, "figure", name, known)
    return _recipe(name)


def figures(engine: str | None = None) -> list[Recipe]:
    """Every figure, or those that can be drawn of an engine's runs."""
    return [recipe for recipe in map(_recipe, _FILES) if engine is None or recipe.serves(engine)]


def check(names: Iterable[str], engine: str, where: str = "") -> None:
    """Refuse names of figures that there are not, before anything is run.

    Raises
    ------
    InputError
        As `figure`; the sentence says where the name stands.
    """
    for name in names:
        figure(name, engine, at(where, "figures"))


def draw_all(runs: RunSet, folder: Path) -> list[Path]:
    """Draw every figure that a sweep names, and save each as PDF, PNG and CSV.

    Raises
    ------
    InputError
        A figure cannot be drawn of these runs; all others have been saved.
    StoreError
        A file cannot be written.
    """
    from workbench.figures.save import save

    saved: list[Path] = []
    refused: list[str] = []
    for name in runs.plan.sweep.figures:
        recipe = figure(name, runs.plan.sweep.mechanism.engine.name, at(runs.plan.sweep.where, "figures"))
        try:
            data = recipe.data(runs)
        except InputError as problem:
            refused.append(str(problem))
            continue
        saved.extend(save(recipe.draw(data), data, folder, name))
    if refused:
        raise InputError(at(runs.plan.sweep.where, " ".join(refused)))
    return saved


def study_figures() -> dict[str, OfStudy]:
    """Every figure of a tuning study, by name.

    Examples
    --------
    >>> list(study_figures())
    ['pareto', 'hypervolume_history', 'lever_importances']
    >>> study_figures()["hypervolume_history"].figure(found)                   # doctest: +SKIP
    """
    files = [importlib.import_module(f"workbench.figures.{file}").FIGURE for file in _OF_STUDIES]
    return {recipe.name: recipe for recipe in files}


def draw_study(found: StudyResults, folder: Path) -> list[Path]:
    """Save every figure of a tuning study that has something to show, as PDF, PNG and CSV.

    Raises
    ------
    StoreError
        A file cannot be written.
    """
    return [path for recipe in study_figures().values() for path in recipe.save(found, folder)]


def calculated(name: str) -> Calculation:
    """The figure of a name among those that need no runs.

    Raises
    ------
    InputError
        There is none of that name; or it is drawn of runs, and the sentence says how.

    Examples
    --------
    >>> calculated("probe_success").figure(demands=range(1, 7))                # doctest: +SKIP
    >>> calculated("probe_success").says
    'How likely every module refuses a demand, by probe and occupancy, calculated and drawn at random.'
    """
    if name in _FILES:
        raise InputError(f"figure {name} is drawn of runs: workbench.run(SWEEP).figure({name!r}).")
    if name not in _CALCULATED:
        raise unknown_name("", "calculated figure", name, _CALCULATED)
    found: Calculation = importlib.import_module(f"workbench.figures.{name}").FIGURE
    return found


def calculations() -> list[Calculation]:
    """Every figure that needs no runs."""
    return [calculated(name) for name in _CALCULATED]


def _recipe(name: str) -> Recipe:
    recipe: Recipe = importlib.import_module(f"workbench.figures.{name}").FIGURE
    return recipe


__all__ = [
    "Calculation",
    "OfStudy",
    "Recipe",
    "calculated",
    "calculations",
    "check",
    "draw_all",
    "draw_study",
    "figure",
    "figures",
    "study_figures",
]
