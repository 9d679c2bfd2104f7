"""`workbench verify PAPER`: run a sample of the runs behind a bundle again and compare bit by bit."""

from __future__ import annotations

import argparse

from workbench.cli.command import DONE, SOME_FAILED, Command
from workbench.cli.output import say_json


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("bundle", metavar="PAPER", help="a folder that `workbench export` wrote")
    parser.add_argument("--sample", type=int, default=20, metavar="N", help="how many runs (0 = all)")
    parser.add_argument("--json", action="store_true", help="print one JSON object")


def run(given: argparse.Namespace) -> int:
    from workbench.export.verify import verify

    report = verify(given.bundle, sample=given.sample)
    if given.json:
        say_json(report._asdict())
    else:
        print(report.sentence)
    return DONE if report.same else SOME_FAILED


COMMAND = Command("verify", "Run a sample of a bundle's runs again and compare bit by bit.", add_arguments, run)
