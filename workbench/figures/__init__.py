"""Figures: data first, then ink. `figure("drain_difference")` is the pair of functions that makes one.

>>> import workbench as wb
>>> results = wb.run({"engine": "shared_memory", "workload": {"regime": "large_uniform"}, "seeds": 3,
...                   "policy": {"placement": {"vary": ["first_fit", "nearest_boundary"]}},
...                   "baseline": {"placement": "first_fit"}}, workers=0)
>>> drain = figure("drain_difference")
>>> len(drain.draw(drain.data(results)).axes)
1
"""

from __future__ import annotations

import functools
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from workbench.errors import InputError, at, unknown_name, wrong_value
from workbench.figures.registry import CALCULATIONS, FIGURES, STUDY_FIGURES, Calculation, OfStudy, Recipe
from workbench.parts import entered_by_file

if TYPE_CHECKING:
    from workbench.experiments.results import Results
    from workbench.tuning.results import StudyResults


def figure(name: str, engine: str | None = None, where: str = "") -> Recipe:
    """Return the figure of a name; of `FILE.py:NAME` the one that the file makes.

    Raises
    ------
    InputError
        There is none of that name, or it does not serve the engine.

    Examples
    --------
    >>> figure("wear_by_segment").description
    'How often each segment is granted, over the mean of the memory.'
    """
    name = entered_by_file(name, Path(), where, "figure")
    if FIGURES.has(name):
        recipe = FIGURES.find(name, where)
        if engine is None or recipe.serves(engine):
            return recipe
    elif CALCULATIONS.has(name):
        raise InputError(at(where, f"{name} is a figure of theory, drawn of no runs: workbench figure {name}."))
    raise unknown_name(where, "figure", name, [recipe.name for recipe in figures(engine)])


def figures(engine: str | None = None) -> list[Recipe]:
    """Return every figure, or those that can be drawn of an engine's runs."""
    return [recipe for recipe in FIGURES.all().values() if engine is None or recipe.serves(engine)]


def check(names: Iterable[str], engine: str, where: str = "") -> None:
    """Refuse names of figures that there are not, before anything is run.

    Raises
    ------
    InputError
        As `figure`; the sentence says where the name stands.
    """
    for name in names:
        figure(name, engine, at(where, "figures"))


def draw_all(runs: Results, folder: Path) -> list[Path]:
    """Draw every figure that a sweep names, and save each as PDF, PNG and CSV; one that would come out as it lies there
    is not drawn again.

    Raises
    ------
    InputError
        A figure cannot be drawn of these runs; all others have been saved.
    StoreError
        A file cannot be written.
    """
    saved: list[Path] = []
    refused: list[str] = []
    for name in runs.plan.sweep.figures:
        recipe = figure(name, runs.plan.sweep.mechanism.engine.name, at(runs.plan.sweep.where, "figures"))
        try:
            saved.extend(draw_one(recipe, runs, folder))
        except InputError as problem:
            refused.append(str(problem))
    if refused:
        raise InputError(at(runs.plan.sweep.where, " ".join(refused)))
    return saved


def draw_one(
    recipe: Recipe, runs: Results, folder: Path, choices: Mapping[str, Any] | None = None, width: float | None = None
) -> list[Path]:
    """Save a figure of some runs as PDF, PNG and CSV, unless it lies there as it would come out.

    Parameters
    ----------
    choices : mapping, optional
        What its data function takes, such as `measure`.
    width : float, optional
        Inches; that of a paper's column if None.

    Raises
    ------
    InputError
        It cannot be drawn of these runs, or has no such choice.
    StoreError
        A file cannot be written.
    """
    from workbench.figures._cache import Folder, digest_of_runs, figure_digest
    from workbench.figures.figure_files import save

    chosen = dict(choices or {})

    def drawn() -> list[Path]:
        from workbench.figures.plot_style import Format, formatted

        data = recipe.choose(runs, **chosen)
        with formatted(Format() if width is None else Format(width=width)):
            return save(recipe.draw(data), data, folder, recipe.name)

    digest = figure_digest(digest_of_runs(runs), (recipe.data, recipe.draw), {**chosen, "(width)": width})
    return Folder(folder).drawn(recipe.name, digest, drawn)


def study_figures() -> dict[str, OfStudy]:
    """Return every figure of a tuning study, by name.

    Examples
    --------
    >>> list(study_figures())
    ['pareto', 'hypervolume_history', 'lever_importances']
    """
    return STUDY_FIGURES.all()


def draw_study(results: StudyResults, folder: Path) -> list[Path]:
    """Save every figure of a tuning study that has something to show, as PDF, PNG and CSV; one that would come out as
    it lies there is not drawn again.

    Raises
    ------
    StoreError
        A file cannot be written.
    """
    from workbench.figures._cache import Folder, digest_of_study, figure_digest

    kept, of_study = Folder(folder), digest_of_study(results)
    return [
        path
        for name, recipe in study_figures().items()
        for path in kept.drawn(
            name, figure_digest(of_study, (recipe.data, recipe.draw)), functools.partial(recipe.save, results, folder)
        )
    ]


def calculated(name: str) -> Calculation:
    """Return the figure of a name among those that need no runs.

    Raises
    ------
    InputError
        There is none of that name; or it is drawn of runs, and the sentence says how.

    Examples
    --------
    >>> len(calculated("probe_success").figure(demands=[4, 5], free=[0.5], machines=0).axes)
    1
    >>> calculated("probe_success").description
    'How likely every module refuses a demand, by probe and occupancy, calculated and drawn at random.'
    """
    name = entered_by_file(name, Path(), "", "figure")
    if FIGURES.has(name) and not CALCULATIONS.has(name):
        raise InputError(f"figure {name} is drawn of runs: workbench figure {name} DIR, run(SWEEP).figure({name!r}).")
    return CALCULATIONS.find(name)


def calculations() -> list[Calculation]:
    """Return every figure that needs no runs."""
    return [*CALCULATIONS.all().values()]


def add_figure(recipe: Recipe) -> Recipe:
    """Enter a figure of runs, which it does by itself when it is made; made again, the later one counts.

    Parameters
    ----------
    recipe : Recipe
        Its name, the engine that it shows (or `any`), a sentence, its data function and its draw function.

    Raises
    ------
    InputError
        It is no such thing, or the workbench has another figure of that name.

    Examples
    --------
    >>> add_figure("my_figure")
    Traceback (most recent call last):
    workbench.errors.InputError: a figure must be a Recipe(name, engine, description, data, draw). Got 'my_figure'.
    """
    if not isinstance(recipe, Recipe):
        raise wrong_value("", "a figure", "must be a Recipe(name, engine, description, data, draw)", recipe)
    return FIGURES.joined(recipe)
