"""`workbench export DIR --to PAPER`: tables, figures and numbers for a paper, each traceable to its runs."""

from __future__ import annotations

import argparse

from workbench.cli.command import DONE, Command


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("folder", metavar="DIR", help="a results folder")
    parser.add_argument("--to", required=True, metavar="PAPER", help="the folder of the bundle")
    parser.add_argument("--style", choices=("ieee", "acm"), default="ieee", help="column width and fonts")


def run(given: argparse.Namespace) -> int:
    from workbench.api import open_results
    from workbench.export.manifest import read_manifest

    bundle = open_results(given.folder).export(given.to, style=given.style)
    for need in read_manifest(bundle)["needs"]:
        print(f"not in the bundle: {need}")
    print(f"bundle: {bundle}")
    return DONE


COMMAND = Command("export", "Write a bundle for a paper from a results folder.", add_arguments, run)
