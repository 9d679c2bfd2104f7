"""`workbench blame SWEEP`: how much less a measure is without each kind of delay."""

from __future__ import annotations

import argparse
from pathlib import Path

from workbench.cli.command import DONE, SOME_FAILED, Command
from workbench.cli.output import add_table_arguments, say_json, say_table
from workbench.cli.progress import Bar
from workbench.cli.run import default_folder
from workbench.cli.sweep_arguments import add_sweep_arguments, add_worker_arguments, executor_of, overrides


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.description = "Run a sweep of the engine node, then again without each kind of delay, with the same seeds."
    add_sweep_arguments(parser)
    parser.add_argument(
        "--measure", metavar="NAME", default="group_p99_cycles", help="what is looked at (default: group_p99_cycles)"
    )
    parser.add_argument("--parts", metavar="PART", nargs="+", help="kinds of delay (default: all)")
    parser.add_argument(
        "--out", metavar="DIR", help="the results folder (default: results/ and the sweep's, with -blame)"
    )
    add_worker_arguments(parser)
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    add_table_arguments(parser)


def run(given: argparse.Namespace) -> int:
    from workbench.api import blame

    folder = Path(given.out) if given.out else _own_folder(default_folder(given.sweep))
    result = blame(
        given.sweep,
        folder,
        measure=given.measure,
        parts=given.parts,
        set=overrides(given),
        workers=given.workers,
        executor=executor_of(given),
        progress=Bar(quiet=given.json),
    )
    if given.json:
        say_json({"folder": str(folder), "runs": len(result.results.rows), "blame": result.table.to_dict("records")})
    else:
        say_table(result.table, given.wide, given.csv)
        print(f"{len(result.results.rows)} runs in {result.results.seconds:.1f} s, kept in {folder}")
    return SOME_FAILED if result.results.failures else DONE


def _own_folder(folder: Path) -> Path:
    """Return a folder beside that of the sweep's own runs."""
    return folder.with_name(f"{folder.name}-blame")


COMMAND = Command("blame", "How much less a measure is without each kind of delay.", add_arguments, run)
