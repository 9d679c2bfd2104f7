"""`workbench figure [NAME]`: figures of theory, which follow from their choices alone and need no runs."""

from __future__ import annotations

import argparse
from pathlib import Path

from workbench.cli.command import DONE, Command
from workbench.cli.output import say_json, say_table


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("name", metavar="NAME", nargs="?", help="which one (default: list them all)")
    parser.add_argument("--to", metavar="DIR", default="figures", help="where it is written (default: figures)")
    parser.add_argument("--json", action="store_true", help="print one JSON object")


def run(given: argparse.Namespace) -> int:
    if given.name is None:
        _list(given.json)
        return DONE
    from workbench.figures import calculated

    saved = calculated(given.name).save(Path(given.to))
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


COMMAND = Command("figure", "Figures of theory, calculated without runs.", add_arguments, run)
