"""`workbench verify PAPER`: compute every number of a bundle from its runs, and do a sample of the runs again."""

from __future__ import annotations

import argparse

from workbench.cli.command import DONE, SOME_FAILED, Command
from workbench.cli.output import say_json
from workbench.cli.sweep_arguments import whole

MOST_LINES = 200
"""Of differences that are printed."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("bundle", metavar="PAPER", help="a folder that `workbench export` wrote")
    parser.add_argument("--runs", type=_runs, default=20, metavar="N", help="how many runs are done again, or `all`")
    parser.add_argument("--sample", type=int, dest="runs", help=argparse.SUPPRESS)  # until 0.4; 0 = all
    parser.add_argument("--no-figures", action="store_true", help="simulate no run for figures and draw no picture")
    parser.add_argument("--json", action="store_true", help="print one JSON object")


def _runs(text: str) -> int:
    return 0 if text == "all" else whole(text)


def run(given: argparse.Namespace) -> int:
    from workbench.export.verify import verify

    report = verify(given.bundle, sample=given.runs, figures=not given.no_figures)
    if given.json:
        nested = {name: [one._asdict() for one in getattr(report, name)] for name in ("differences", "changes")}
        say_json({**report._asdict(), **nested, "lines": report.lines})
        return DONE if report.same else SOME_FAILED
    for line in report.lines[:MOST_LINES]:
        print(line)
    if len(report.lines) > MOST_LINES:
        print(f"... and {len(report.lines) - MOST_LINES} more lines (--json has all)")
    for name, why in report.by_digest.items():
        print(f"{name}: compared by digest only, for {why}")
    for note in report.notes:
        print(note)
    print(report.sentence)
    return DONE if report.same else SOME_FAILED


COMMAND = Command("verify", "Compute a bundle's numbers from its runs, and do some runs again.", add_arguments, run)
