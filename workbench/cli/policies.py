"""`workbench policies [QUESTION]`: every policy, its levers, its source."""

from __future__ import annotations

import argparse
from collections.abc import Mapping
from typing import Any

from workbench.cli.command import DONE, Command
from workbench.cli.fit import say_lines
from workbench.cli.output import say_json


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("question", metavar="QUESTION", nargs="?", help="such as placement")
    parser.add_argument("--json", action="store_true", help="print one JSON object")


def run(given: argparse.Namespace) -> int:
    from workbench.policies.catalogue import policy_rows, question_row

    rows = policy_rows(given.question)
    question = question_row(given.question) if given.question else None
    if given.json:
        say_json({"policies": rows, **({"question": question} if question else {})})
        return DONE
    if question:
        _say_question(question)
    for row in rows:
        levers = ", ".join(f"{name}={schema.get('default')}" for name, schema in row["levers"].items())
        say_lines([f"{row['question']}: {row['name']}({levers})", f"    {row['says']}"])
        if row["references"]:
            say_lines([f"    [{row['references']}]"])
    return DONE


def _say_question(question: Mapping[str, Any]) -> None:
    """Print what a new policy derives from, what its answer sees and returns."""
    say_lines([f"a new one: workbench new-policy {question['question']} NAME, derived from {question['base']}"])
    if question["sees"]:
        print("its answer takes one view, def answer(see):")
    say_lines(f"    {line}" for line in question["sees"])
    say_lines(f"it may define {name}(see), told of {', '.join(fields)}" for name, fields in question["tells"].items())
    print()


COMMAND = Command("policies", "Every policy that can be named in a sweep.", add_arguments, run)
