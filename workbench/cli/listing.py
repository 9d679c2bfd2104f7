"""Lists of what a sweep may name, with the user's own of the files that the command names."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Sequence
from pathlib import Path
from types import ModuleType
from typing import Any

from workbench.cli.command import DONE, Command
from workbench.cli.output import say_json

Rows = Callable[[Sequence[ModuleType]], list[dict[str, Any]]]
"""From the modules of the user's files to one mapping a part."""


def listing(name: str, says: str, rows: Rows) -> Command:
    """Return the command that lists the parts of a kind."""

    def add_arguments(parser: argparse.ArgumentParser) -> None:
        parser.add_argument("files", metavar="FILE.py", nargs="*", help=f"files with {name} of your own")
        parser.add_argument("--json", action="store_true", help="print one JSON object")

    def run(given: argparse.Namespace) -> int:
        from workbench.parts import module_in_file

        lines = rows([module_in_file(file, Path(), "", name.removesuffix("s")) for file in given.files])
        if given.json:
            say_json({name: lines})
        else:
            for row in lines:
                print(_lines(row))
        return DONE

    return Command(name, says, add_arguments, run)


def _lines(row: dict[str, Any]) -> str:
    """Return a part in two lines: its name with what is short, and what it is."""
    short = [str(value) for key, value in row.items() if key not in ("name", "description", "built_in") and value]
    return f"{row['name']} ({', '.join([*short, *([] if row['built_in'] else ['yours'])])})\n    {row['description']}"
