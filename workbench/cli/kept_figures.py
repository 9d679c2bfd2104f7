"""Figures of kept results: which, of which points, how wide, with which choices, and where they are written."""

from __future__ import annotations

import argparse
import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

from workbench.cli.command import DONE
from workbench.cli.output import say_json
from workbench.cli.sweep_arguments import levers_of
from workbench.errors import InputError, wrong_value

if TYPE_CHECKING:
    from workbench.api import Results

ONLY = "only points of this value of a lever, best_fit or segments=64, and their baselines; may be repeated"
TO = "a folder (default: figures/ of DIR, figures/chosen/ with --only, --choose or --width)"
UNITS = {"in": 1.0, "cm": 1 / 2.54, "mm": 1 / 25.4, "pt": 1 / 72.27}
"""Inches of one."""
NARROWEST, WIDEST = 1.0, 40.0
"""Inches."""


def add_figure_arguments(parser: argparse.ArgumentParser) -> None:
    """Add --width and --choose to a parser."""
    parser.add_argument("--width", metavar="WIDTH", help="of a figure, such as 88mm or 7in (default: 3.4in)")
    parser.add_argument(
        "--choose",
        metavar="NAME=VALUE",
        action="append",
        default=[],
        help="a choice of a figure, such as measure=drain_cycles (workbench figures NAME lists them)",
    )


def refuse_figure_arguments(given: argparse.Namespace) -> None:
    """Refuse what is said of a figure where none is drawn."""
    if given.width is not None or given.choose:
        raise InputError("--width and --choose go together with a figure: workbench results DIR --figure NAME.")


def draw_kept(results: Results, names: list[str], given: argparse.Namespace) -> int:
    """Draw figures of kept results and say where they are; all are refused before any is drawn where one is unknown."""
    from workbench.figures import draw_one

    chosen, width = levers_of(given.choose), None if given.width is None else inches(given.width)
    recipes = [_recipe(name, results) for name in names]
    of_all = not (given.only or chosen or width)
    results = results.only(*given.only) if given.only else results
    folder = Path(given.to) if given.to else _usual(results) / ("" if of_all else "chosen")
    saved = [path for recipe in recipes for path in draw_one(recipe, results, folder, chosen, width)]
    if given.json:
        say_json({"figures": [str(path) for path in saved]})
    else:
        print("\n".join(f"figure: {path}" for path in saved))
    return DONE


def _usual(results: Results) -> Path:
    assert results.folder is not None
    return results.folder / "figures"


def _recipe(name: str, results: Results) -> Any:
    """Return the figure of a name that serves these runs."""
    from workbench.figures import figure
    from workbench.figures.known import CALCULATIONS, FIGURES, STUDY_FIGURES

    if name not in FIGURES.names():
        if name in CALCULATIONS.names():
            raise InputError(f"figure {name} needs no runs: workbench figure {name}.")
        if name in STUDY_FIGURES.names():
            raise InputError(f"figure {name} is drawn when a study is tuned: workbench tune STUDY.")
    return figure(name, results.plan.sweep.mechanism.engine.name)


def inches(text: str) -> float:
    """Return a width in inches.

    >>> round(inches("88mm"), 3), inches("7in")
    (3.465, 7.0)
    """
    matched = re.fullmatch(r"([0-9]+(?:\.[0-9]+)?) *([a-z]+)", text)
    width = float(matched[1]) * UNITS.get(matched[2], 0.0) if matched else 0.0
    if not NARROWEST <= width <= WIDEST:
        raise wrong_value("", "--width", f"must be from {NARROWEST:g}in to {WIDEST:g}in, as 88mm, 18cm, 7in", text)
    return width
