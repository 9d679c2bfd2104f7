"""`workbench figure [NAME [DIR]]`: figures of theory, which need no runs, and those of the runs of a folder."""

from __future__ import annotations

import argparse
from pathlib import Path

from workbench.cli.command import DONE, Command
from workbench.cli.kept_figures import ONLY, TO, add_figure_arguments, draw_kept, inches
from workbench.cli.output import say_json, say_table
from workbench.cli.sweep_arguments import levers_of


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("name", metavar="NAME", nargs="?", help="which one (default: list those of theory)")
    parser.add_argument("folder", metavar="DIR", nargs="?", help="a results folder, of whose runs it is drawn")
    parser.add_argument("--only", metavar="WORD", action="append", default=[], help=ONLY)
    add_figure_arguments(parser)
    parser.add_argument("--to", metavar="DIR", help=f"where it is written: figures; with a results folder {TO}")
    parser.add_argument("--json", action="store_true", help="print one JSON object")


def run(given: argparse.Namespace) -> int:
    if given.name is None:
        _list(given.json)
        return DONE
    if given.folder is not None:
        from workbench.api import open_results

        return draw_kept(open_results(given.folder), [given.name], given)
    from workbench.figures import calculated
    from workbench.figures.ink import Format, formatted

    with formatted(Format() if given.width is None else Format(width=inches(given.width))):
        saved = calculated(given.name).save(Path(given.to or "figures"), **levers_of(given.choose))
    if given.json:
        say_json({"figure": given.name, "files": [str(path) for path in saved]})
    else:
        print("\n".join(f"figure: {path}" for path in saved))
    return DONE


def _list(as_json: bool) -> None:
    import pandas as pd

    from workbench.figures import calculations

    rows = [{"figure": one.name, "says": one.description} for one in calculations()]
    if as_json:
        say_json({"figures": rows})
    else:
        say_table(pd.DataFrame(rows))


COMMAND = Command("figure", "Figures of theory, or of the runs of a results folder.", add_arguments, run)
