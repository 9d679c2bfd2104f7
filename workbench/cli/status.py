"""`workbench status DIR`: how a sweep is doing that runs elsewhere, or was stopped."""

from __future__ import annotations

import argparse

from workbench.cli.command import DONE, Command
from workbench.cli.fit import say_lines
from workbench.cli.output import say_json


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("folder", metavar="DIR", help="a results folder")
    parser.add_argument("--json", action="store_true", help="print one JSON object")


def run(given: argparse.Namespace) -> int:
    from workbench.experiments.progress import status

    state = status(given.folder)
    if given.json:
        say_json(state._asdict())
    else:
        say_lines([state.sentence])
    return DONE


COMMAND = Command("status", "How far a sweep is that runs elsewhere, and whether its driver lives.", add_arguments, run)
