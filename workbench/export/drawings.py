"""The figures of a bundle: PDF with its numbers as CSV, PGF where there is a TeX, caption and alt text for each.

The alt text is made from what is drawn: axes, panels, names, and between which numbers the values lie.

"""

from __future__ import annotations

import functools
import re
import subprocess
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from workbench.errors import InputError
from workbench.experiments.results import Results
from workbench.export.tex import escape, render
from workbench.figures import figure
from workbench.figures.figure_files import Column, as_csv, save
from workbench.figures.labels import words
from workbench.figures.registry import Recipe
from workbench.number_text import FIGURE, number

if TYPE_CHECKING:
    from workbench.figures.plot_style import Format


FIGURES = "figures"
MOST_PGF_BYTES = 500_000
"""TeX runs out of memory on a larger one; the PDF is there."""


class Drawing:
    """One figure of a bundle, drawn when it is first looked at.

    Parameters
    ----------
    data
        What is drawn; None where it was not computed.
    venue_format : Format, optional
        The venue's; left out, as figures of results are drawn.
    """

    def __init__(self, recipe: Recipe, data: Any, venue_format: Format | None = None) -> None:
        self.recipe = recipe
        self.data = data
        self._format = venue_format

    @property
    def name(self) -> str:
        """Return the name of its files."""
        return self.recipe.name

    @property
    def csv(self) -> str:
        """Return the data of the drawing, as the text of its CSV file."""
        return as_csv(self.data.columns())

    @functools.cached_property
    def sheet(self) -> Any:
        """Return the drawn figure, the same one every time."""
        return self.drawn()

    def drawn(self) -> Any:
        """Return the figure drawn again.

        Its layout is measured each time that it is saved, from where the last time left it: what is to have the same
        bytes however often others were saved before it takes a figure of its own.
        """
        from workbench.figures.plot_style import Format, formatted

        with formatted(self._format or Format()):
            return self.recipe.draw(self.data)

    @property
    def caption(self) -> str:
        """Return the caption: what one sees in it and what that rests on."""
        note = str(getattr(self.sheet, "note", "")).replace("\n", "; ").rstrip(".")
        return self._description + (f" {note[:1].upper()}{note[1:]}." if note else "")

    @property
    def _description(self) -> str:
        """Return the caption of the data; where they have none, the description of the figure."""
        return str(getattr(self.data, "caption", "")) or self.recipe.description

    @property
    def alt(self) -> str:
        """Return the content in words, for a reader who does not see it."""
        return alt_text(self._description, self.sheet, self.data.columns())

    def texts(self, columns: int) -> dict[str, str]:
        """Return the texts that follow from its data, by their paths in a bundle: CSV, alt text, and TeX's part."""
        inside = render(
            "figure.tex", figure=self.name, caption=escape(self.caption), alt=escape(self.alt), wide=columns == 2
        )
        stem = f"{FIGURES}/{self.name}"
        return {f"{stem}.csv": self.csv, f"{stem}.txt": f"{self.alt}\n", f"{stem}.tex": inside}


def recipe_of(runs: Results, name: str) -> Recipe:
    """Return the figure of a name that serves the engine of some runs."""
    return figure(name, runs.plan.sweep.mechanism.engine.name)


def drawings(runs: Results, venue_format: Format | None = None) -> tuple[list[Drawing], dict[str, str]]:
    """Return the figures that the sweep names, and why any of them cannot be drawn of these runs."""
    drawn, refused = [], {}
    for name in runs.plan.sweep.figures:
        recipe = recipe_of(runs, name)
        try:
            drawn.append(Drawing(recipe, recipe.data(runs), venue_format))
        except InputError as problem:
            refused[name] = str(problem)
    return drawn, refused


def write_figures(drawn: Sequence[Drawing], folder: Path) -> list[str]:
    """Draw every figure into the folder `figures` of a bundle: PDF, CSV, and PGF where there is a TeX.

    Returns
    -------
    list of str
        A sentence a reason, with the PGF files that are missing for it.
    """
    missing: dict[str, list[str]] = {}
    for one in drawn:
        save(one.sheet, one.data, folder / FIGURES, one.name, ["pdf"])
        why = write_pgf(one.drawn, folder / FIGURES / f"{one.name}.pgf")
        if why:
            missing.setdefault(why, []).append(f"{FIGURES}/{one.name}.pgf")
    return [f"{', '.join(names)}: {why}" for why, names in missing.items()]


def write_pgf(draw: Callable[[], Any], path: Path) -> str:
    """Write a figure, drawn where there is a TeX, as that draws it in the letters of the paper; return why not."""
    from workbench.figures.plot_style import TEX_SYSTEMS, tex_system

    if tex_system() is None:
        systems = ", ".join(TEX_SYSTEMS)
        return f"no TeX is installed to measure letters (one of {systems}; Debian: texlive-xetex); the PDF is there."
    sheet = draw()
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


_MOST_NAMES = 12
_MOST_RANGES = 6
_END = re.compile(r"^(low|high)|_(low|high)$")
"""Columns that are the limits of an interval."""


def alt_text(description: str, sheet: Any, columns: Mapping[str, Column]) -> str:
    """Return the content of a figure, in sentences, for a reader who does not see it.

    Parameters
    ----------
    description : str
        What one sees, in a sentence.
    sheet : matplotlib Figure
        The drawn figure, whose axes, titles and legends are read.
    columns : mapping
        Exactly what is drawn.
    """
    panels = [axes for axes in sheet.axes if axes.axison]
    parts = [description.rstrip(".") + "."]
    parts += [_axes(panels)] if panels else []
    parts += list(_ranges(columns))
    return " ".join(" ".join(part.split()) for part in parts if part)


def _axes(panels: list[Any]) -> str:
    titles = list(dict.fromkeys(filter(None, (one.get_title(loc="left") or one.get_title() for one in panels))))
    across = next(filter(None, (one.get_xlabel() for one in reversed(panels))), "")
    upward = next(filter(None, (one.get_ylabel() for one in panels)), "")
    sides = [f"horizontally {across}" if across else "", f"vertically {upward}" if upward else ""]
    drawn = ", ".join(filter(None, sides))
    count = f"{len(panels)} panels" if len(panels) > 1 else "One panel"
    named = f" ({_listed(titles)})" if titles else ""
    return f"{count}{named}{f': {drawn}' if drawn else ''}."


def _ranges(columns: Mapping[str, Column]) -> Iterator[str]:
    """Yield a sentence a column: the names that it tells apart, or its least and largest number."""
    count = 0
    for name, column in columns.items():
        values = np.asarray(column)
        if values.dtype.kind in "US" or values.dtype == object:
            different = list(dict.fromkeys(words(str(value)) for value in values.tolist() if str(value)))
            if len(different) > 1 and name != "setting":  # titles of panels say it
                yield f"{words(name).capitalize()}: {_listed(different)}."
        elif values.dtype.kind in "fiu" and count < _MOST_RANGES and not _END.search(name):
            known = values[np.isfinite(values)] if values.dtype.kind == "f" else values
            if known.size and known.min() < known.max():
                count += 1
                least, most = (number(float(end), style=FIGURE) for end in (known.min(), known.max()))
                yield f"{words(name).capitalize()} from {least} to {most}."


def _listed(names: list[str]) -> str:
    more = f" and {len(names) - _MOST_NAMES} more" if len(names) > _MOST_NAMES else ""
    return "; ".join(" ".join(name.split()) for name in names[:_MOST_NAMES]) + more
