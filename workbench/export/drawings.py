"""The figures of a bundle: PDF with its numbers as CSV, PGF where there is a TeX, and caption and alt text for each."""

from __future__ import annotations

import functools
import subprocess
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from workbench.errors import InputError
from workbench.experiments.run_set import RunSet
from workbench.export.alt_text import alt_text
from workbench.export.escape import escape
from workbench.export.templates import render
from workbench.figures import figure
from workbench.figures.recipe import Recipe
from workbench.figures.save import as_csv, save

if TYPE_CHECKING:
    from workbench.figures.ink import Format

FIGURES = "figures"
MOST_PGF_BYTES = 500_000
"""TeX runs out of memory on a larger one; the PDF is there."""


class Drawing:
    """One figure of a bundle, drawn when it is first looked at.

    Parameters
    ----------
    data
        What is drawn; None where it was not computed.
    wanted : Format, optional
        The venue's; left out, as figures of results are drawn.
    """

    def __init__(self, recipe: Recipe, data: Any, wanted: Format | None = None) -> None:
        self.recipe = recipe
        self.data = data
        self._format = wanted

    @property
    def name(self) -> str:
        """Return the name of its files."""
        return self.recipe.name

    @property
    def csv(self) -> str:
        """Return what is drawn, as the text of its CSV file."""
        return as_csv(self.data.columns())

    @functools.cached_property
    def sheet(self) -> Any:
        """Return the drawn figure, the same one every time."""
        return self.drawn()

    def drawn(self) -> Any:
        """Return the figure drawn anew.

        Its layout is measured each time that it is saved, from where the last time left it: what is to have the same
        bytes however often others were saved before it takes a figure of its own.
        """
        from workbench.figures.ink import Format, formatted

        with formatted(self._format or Format()):
            return self.recipe.draw(self.data)

    @property
    def caption(self) -> str:
        """Return what one sees in it and what that rests on."""
        note = str(getattr(self.sheet, "note", "")).replace("\n", "; ").rstrip(".")
        return self.recipe.description + (f" {note[:1].upper()}{note[1:]}." if note else "")

    @property
    def alt(self) -> str:
        """Return what it shows, for a reader who does not see it."""
        return alt_text(self.recipe.description, self.sheet, self.data.columns())

    def texts(self, columns: int) -> dict[str, str]:
        """Return the texts that follow from its data, by their paths in a bundle: CSV, alt text, and TeX's part."""
        inside = render(
            "figure.tex", figure=self.name, caption=escape(self.caption), alt=escape(self.alt), wide=columns == 2
        )
        stem = f"{FIGURES}/{self.name}"
        return {f"{stem}.csv": self.csv, f"{stem}.txt": f"{self.alt}\n", f"{stem}.tex": inside}


def recipe_of(runs: RunSet, name: str) -> Recipe:
    """Return the figure of a name that serves the engine of some runs."""
    return figure(name, runs.plan.sweep.mechanism.engine.name)


def drawings(runs: RunSet, wanted: Format | None = None) -> tuple[list[Drawing], dict[str, str]]:
    """Return the figures that the sweep names, and why any of them cannot be drawn of these runs."""
    drawn, refused = [], {}
    for name in runs.plan.sweep.figures:
        recipe = recipe_of(runs, name)
        try:
            drawn.append(Drawing(recipe, recipe.data(runs), wanted))
        except InputError as problem:
            refused[name] = str(problem)
    return drawn, refused


def write_figures(drawn: Sequence[Drawing], folder: Path) -> list[str]:
    """Draw every figure into the folder `figures` of a bundle: PDF, CSV, and PGF where there is a TeX.

    Returns
    -------
    list of str
        A sentence a PGF file that is missing, with the reason.
    """
    missing = []
    for one in drawn:
        for path in save(one.sheet, one.data, folder / FIGURES, one.name):
            if path.suffix == ".png":
                path.unlink()
        why = write_pgf(one.drawn(), folder / FIGURES / f"{one.name}.pgf")
        missing += [f"{FIGURES}/{one.name}.pgf: {why}"] if why else []
    return missing


def write_pgf(sheet: Any, path: Path) -> str:
    """Write a figure as TeX draws it in the letters of the paper; return why not where that cannot be."""
    from workbench.figures.ink import TEX_SYSTEMS, tex_system

    if tex_system() is None:
        systems = ", ".join(TEX_SYSTEMS)
        return (
            f"no TeX is installed to measure its letters (one of {systems}; Debian: texlive-xetex); the PDF is there."
        )
    try:
        sheet.savefig(path, format="pgf")
    except (RuntimeError, ValueError, subprocess.SubprocessError, OSError) as problem:
        # a TeX that lacks a package, or a name with a letter that Matplotlib does not escape: the PDF is there
        path.unlink(missing_ok=True)
        first = next(iter(str(problem).splitlines()), type(problem).__name__)
        return f"{tex_system()} could not measure its letters ({first[:120]}); the PDF is there."
    if path.stat().st_size > MOST_PGF_BYTES:
        path.unlink()
        return f"it would have more than {MOST_PGF_BYTES} bytes, at which TeX runs out of memory; the PDF is there."
    return ""
