"""`workbench presets [NAME]`: machine presets, each figure with its source."""

from __future__ import annotations

import argparse

from workbench.cli.command import DONE, Command
from workbench.cli.output import add_table_arguments, say_json, say_notes, say_table


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("name", metavar="NAME", nargs="?", help="one preset, with the source of each figure")
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    add_table_arguments(parser)


def run(given: argparse.Namespace) -> int:
    import pandas as pd

    from workbench.machine import presets_table, unreadable_presets

    rows, problems = presets_table(given.name), [] if given.name else unreadable_presets()
    if given.json:
        say_json({"preset": given.name, "figures": rows} if given.name else {"presets": rows, "unreadable": problems})
    else:
        say_table(pd.DataFrame(rows), given.wide, given.csv)
        say_notes([f"not listed: {problem}" for problem in problems])
    return DONE


COMMAND = Command("presets", "Machine presets with the source of each figure.", add_arguments, run)
