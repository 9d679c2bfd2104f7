"""`workbench export DIR --to PAPER`: tables, figures and numbers for a paper, each traceable to its runs."""

from __future__ import annotations

import argparse

from workbench.cli.command import DONE, Command


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("folder", metavar="DIR", help="a results folder")
    parser.add_argument("--to", required=True, metavar="PAPER", help="the folder of the bundle")
    parser.add_argument("--style", choices=("ieee", "acm", "usenix"), default="ieee", help="column width and fonts")
    parser.add_argument("--columns", type=int, choices=(1, 2), default=1, help="how many columns a figure is wide")
    parser.add_argument("--measures", nargs="+", metavar="NAME", help="which tables and numbers (default: the sweep's)")
    parser.add_argument("--figures", nargs="*", metavar="NAME", help="which figures (default: the sweep's)")


def run(given: argparse.Namespace) -> int:
    from workbench.api import open_results
    from workbench.export.manifest import read_manifest

    chosen = {"columns": given.columns, "measures": given.measures, "figures": given.figures}
    results = open_results(given.folder)
    bundle = results.export(given.to, style=given.style, **chosen)
    for need in read_manifest(bundle)["needs"]:
        print(f"not in the bundle: {need}")
    for sentence in results.checked.sentences:
        print(sentence)
    print(f"bundle: {bundle}")
    return DONE


COMMAND = Command("export", "Write a bundle for a paper from a results folder.", add_arguments, run)
