"""`workbench notebook NOTEBOOK`: run a notebook once, or over the points of a sweep."""

from __future__ import annotations

import argparse
import sys
from typing import TYPE_CHECKING

from workbench.cli.command import DONE, SOME_FAILED, Command
from workbench.cli.output import say_json
from workbench.cli.sweep_arguments import levers_of

if TYPE_CHECKING:
    from workbench.experiments.notebooks.execute import NotebookRun


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("notebook", metavar="NOTEBOOK", help="a notebook with a cell tagged 'parameters'")
    parser.add_argument("--sweep", metavar="SWEEP", help="a sweep whose varied levers become the parameters")
    parser.add_argument("--set", action="append", default=[], metavar="NAME=VALUE", help="a parameter, or an override")
    parser.add_argument("--out", metavar="DIR", help="where the outputs go (default: results/notebooks/NAME)")
    parser.add_argument("--html", action="store_true", help="make a report for a browser too: DIR/report/index.html")
    parser.add_argument("--json", action="store_true", help="print one JSON object")


def run(given: argparse.Namespace) -> int:
    from workbench.experiments.notebooks import run_notebook

    watch = None if given.json else _say
    batch = run_notebook(given.notebook, given.sweep, levers_of(given.set), given.out, watch, given.html)
    if given.json:
        say_json({"folder": batch.folder, "notebooks": batch.table.to_dict("records")})
    else:
        for failed in batch.failures:
            where = f", cell {failed.cell}" if failed.cell else ""
            print(f"failed: {failed.output.name}{where}: {failed.error}")
        print(f"{len(batch.runs)} notebooks, {len(batch.failures)} failed, in {batch.folder}")
    return SOME_FAILED if batch.failures else DONE


def _say(run: NotebookRun) -> None:
    print(f"{run.status}: {run.output.name} ({run.seconds:.1f} s)", file=sys.stderr, flush=True)


COMMAND = Command("notebook", "Run a notebook once, or over the points of a sweep.", add_arguments, run)
