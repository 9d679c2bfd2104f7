"""`workbench policies [QUESTION]`: every policy, its levers, its source."""

from __future__ import annotations

import argparse

from workbench.cli.command import DONE, Command
from workbench.cli.output import say_json


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("question", metavar="QUESTION", nargs="?", help="such as placement")
    parser.add_argument("--json", action="store_true", help="print one JSON object")


def run(given: argparse.Namespace) -> int:
    from workbench.policies.catalogue import policy_rows

    rows = policy_rows(given.question)
    if given.json:
        say_json({"policies": rows})
        return DONE
    for row in rows:
        levers = ", ".join(f"{name}={schema.get('default')}" for name, schema in row["levers"].items())
        print(f"{row['question']}: {row['name']}({levers})\n    {row['says']}")
        if row["references"]:
            print(f"    [{row['references']}]")
    return DONE


COMMAND = Command("policies", "Every policy that can be named in a sweep.", add_arguments, run)
