"""Lists of what a sweep may name, or what is known of one, with the user's own of the files that the command names."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from types import ModuleType
from typing import Any

from workbench.cli.command import DONE, Command
from workbench.cli.fit import say_lines
from workbench.cli.output import say_json
from workbench.errors import InputError, nearest_name, unknown_name

Rows = Callable[[Sequence[ModuleType]], list[dict[str, Any]]]
"""From the modules of the user's files to one mapping a part."""
Details = Callable[[Mapping[str, Any]], dict[str, Any]]
"""From the row of a part to what else is known of it: a value, or a list of lines."""


def nothing_more(row: Mapping[str, Any]) -> dict[str, Any]:
    """Return no details."""
    return {}


def listing(
    name: str, says: str, rows: Rows, details: Details = nothing_more, named_by: Sequence[str] = ("name",)
) -> Command:
    """Return the command that lists the parts of a kind, or shows those of a name.

    Parameters
    ----------
    name, says : str
        The command, and what its help says.
    rows : function
        What there is, with the user's own.
    details : function
        What else is known of one part.
    named_by : sequence of str
        The columns that a name may stand in.
    """

    def add_arguments(parser: argparse.ArgumentParser) -> None:
        parser.add_argument(
            "parts", metavar="NAME | FILE.py", nargs="*", help=f"one of them in full; files with {name} of your own"
        )
        parser.add_argument("--json", action="store_true", help="print one JSON object")

    def run(given: argparse.Namespace) -> int:
        lines, names = _given(given.parts, rows, name.removesuffix("s"))
        if names:
            lines = [{**row, **details(row)} for row in _chosen(lines, names, named_by, name.removesuffix("s"))]
        if given.json:
            say_json({name: lines})
        else:
            say_lines(_lines(row) for row in lines)
        return DONE

    return Command(name, says, add_arguments, run)


def _given(parts: Sequence[str], rows: Rows, kind: str) -> tuple[list[dict[str, Any]], list[str]]:
    """Return all rows, those of the files that were named included, and the names."""
    from workbench.parts import module_in_file

    files = [part for part in parts if part.endswith(".py")]
    every = rows([module_in_file(file, Path(), "", kind) for file in files])
    return every, [part for part in parts if part not in files]


def _chosen(
    rows: Sequence[dict[str, Any]], names: Iterable[str], named_by: Sequence[str], kind: str
) -> list[dict[str, Any]]:
    """Return the rows of some names.

    Raises
    ------
    InputError
        There is none of a name.
    """
    result: list[dict[str, Any]] = []
    for name in names:
        chosen = next((c for c in named_by if any(row[c] == name for row in rows)), None)
        if chosen is None:
            raise _unknown(kind, name, {str(row[column]) for column in named_by for row in rows})
        result += [row for row in rows if row[chosen] == name]
    return result


def _unknown(kind: str, name: str, known: set[str]) -> InputError:
    """Return the sentence about a name that there is not; of many names it shows the nearest alone."""
    if len(known) <= MOST_NAMES:
        return unknown_name("", kind, name, known)
    guess = nearest_name(name, sorted(known))
    cure = f" Did you mean {guess}?" if guess else ""
    return InputError(f"unknown {kind} {name!r}; `workbench {kind}s` lists all {len(known)}.{cure}")


MOST_NAMES = 40
_IN_FRONT = ("name", "description", "built_in")


def _lines(row: dict[str, Any]) -> str:
    """Return a part in two lines, its name with what is short, and what it is; below them its details."""
    plain = {key: value for key, value in row.items() if not isinstance(value, (list, dict))}
    short = [str(value) for key, value in plain.items() if key not in _IN_FRONT and value]
    head = f"{row['name']} ({', '.join([*short, *([] if row['built_in'] else ['yours'])])})"
    return "\n".join([head, f"    {row['description']}", *_details(row)])


def _details(row: Mapping[str, Any]) -> list[str]:
    lines = []
    for key, value in row.items():
        if isinstance(value, list) and value:
            lines += [f"    {key.replace('_', ' ')}:", *(f"        {line}" for line in value)]
    return lines
