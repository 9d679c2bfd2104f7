"""`workbench doctor`: what this installation is made of, what is compiled, what room there is, and what is missing."""

from __future__ import annotations

import argparse

from workbench.cli.command import DONE, Command
from workbench.cli.output import say_json


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--json", action="store_true", help="print one JSON object")


def run(given: argparse.Namespace) -> int:
    from workbench.cli.doctor_checks import checks

    rows = checks()
    if given.json:
        say_json({"checks": [row._asdict() for row in rows]})
        return DONE
    for row in rows:
        print(f"{'ok' if row.there else '--':<3} {row.name:<18} {row.state}")
    missing = [row for row in rows if not row.there]
    if missing:
        print("\nNot here; everything else works without:")
    for row in missing:
        print(f"  {row.name}, for {row.used_for}:\n      {row.cure}")
    return DONE


COMMAND = Command("doctor", "Versions, what is compiled, free room, and what this machine lacks.", add_arguments, run)
