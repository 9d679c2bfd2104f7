"""The figures of a bundle: PDF with its numbers as CSV, and PGF where there is a TeX to measure its letters."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path
from typing import NamedTuple

from workbench.errors import InputError
from workbench.experiments.run_set import RunSet
from workbench.export.escape import escape
from workbench.figures import figure
from workbench.figures.save import save

FIGURES = "figures"
MOST_PGF_BYTES = 500_000
"""TeX runs out of memory on a larger one; the PDF is there."""


class Drawing(NamedTuple):
    """One figure of a bundle."""

    name: str
    caption: str
    """In TeX."""


def write_figures(runs: RunSet, folder: Path) -> tuple[list[Drawing], dict[str, str]]:
    """Draw the figures that the sweep names; return them, and why any other cannot be drawn of these runs."""
    drawn, refused = [], {}
    for name in runs.plan.sweep.figures:
        recipe = figure(name, runs.plan.sweep.mechanism.engine.name)
        try:
            data = recipe.data(runs)
        except InputError as problem:
            refused[name] = str(problem)
            continue
        ink = recipe.draw(data)
        for path in save(ink, data, folder / FIGURES, name):
            if path.suffix == ".png":
                path.unlink()
        _write_pgf(ink, folder / FIGURES / f"{name}.pgf")
        drawn.append(Drawing(name, escape(recipe.says)))
    return drawn, refused


def _write_pgf(ink: object, path: Path) -> None:
    """The figure as TeX draws it in the letters of the paper; it takes a TeX even to write one."""
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
