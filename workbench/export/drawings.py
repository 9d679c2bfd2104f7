"""The figures of a bundle: PDF with its numbers as CSV, and PGF where there is a TeX to measure its letters."""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

from workbench.errors import InputError
from workbench.experiments.run_set import RunSet
from workbench.export.escape import escape
from workbench.figures import figure
from workbench.figures.recipe import Recipe
from workbench.figures.save import as_csv, save

FIGURES = "figures"
MOST_PGF_BYTES = 500_000
"""TeX runs out of memory on a larger one; the PDF is there."""


class Drawing(NamedTuple):
    """One figure of a bundle, before it is drawn."""

    recipe: Recipe
    data: Any
    """What is drawn; None where it was not computed."""

    @property
    def name(self) -> str:
        """Return the name of its files."""
        return self.recipe.name

    @property
    def caption(self) -> str:
        """Return what one sees in it, in TeX."""
        return escape(self.recipe.description)

    @property
    def csv(self) -> str:
        """Return what is drawn, as the text of its CSV file."""
        return as_csv(self.data.columns())


def recipe_of(runs: RunSet, name: str) -> Recipe:
    """Return the figure of a name that serves the engine of some runs."""
    return figure(name, runs.plan.sweep.mechanism.engine.name)


def drawings(runs: RunSet) -> tuple[list[Drawing], dict[str, str]]:
    """Return the figures that the sweep names, and why any of them cannot be drawn of these runs."""
    drawn, refused = [], {}
    for name in runs.plan.sweep.figures:
        recipe = recipe_of(runs, name)
        try:
            drawn.append(Drawing(recipe, recipe.data(runs)))
        except InputError as problem:
            refused[name] = str(problem)
    return drawn, refused


def write_figures(drawn: Sequence[Drawing], folder: Path) -> None:
    """Draw every figure into the folder `figures` of a bundle: PDF, CSV, and PGF where there is a TeX."""
    for one in drawn:
        ink = one.recipe.draw(one.data)
        for path in save(ink, one.data, folder / FIGURES, one.name):
            if path.suffix == ".png":
                path.unlink()
        write_pgf(ink, folder / FIGURES / f"{one.name}.pgf")


def write_pgf(ink: object, path: Path) -> None:
    """Write a figure as TeX draws it in the letters of the paper, where there is a TeX and the file is small enough."""
    if shutil.which("xelatex") is None:
        return
    try:
        ink.savefig(path, format="pgf")  # type: ignore[attr-defined]
    except (RuntimeError, ValueError, subprocess.SubprocessError, OSError):
        # a TeX that lacks a package, or a name with a letter that Matplotlib does not escape: the PDF is there
        path.unlink(missing_ok=True)
        return
    if path.stat().st_size > MOST_PGF_BYTES:
        path.unlink()
