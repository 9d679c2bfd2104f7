"""`workbench doctor`: what this machine has and lacks, with the command that brings it."""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from typing import Any

from workbench.cli._machine_facts import facts
from workbench.cli._optional_dependencies import OPTIONAL_DEPENDENCIES, has_card
from workbench.cli._output import add_output_arguments, say_json
from workbench.cli.commands import DONE
from workbench.number_text import bytes_said


def _arguments(parser: argparse.ArgumentParser) -> None:
    add_output_arguments(parser)


def _run(args: argparse.Namespace) -> int:
    report = examine()
    if args.json:
        say_json(report)
    else:
        print("\n".join(lines(report)))
    return DONE


def examine() -> dict[str, Any]:
    """Return the facts of this machine and, of each optional thing, whether it is here and what brings it."""
    things = [
        {"name": thing.name, "purpose": thing.purpose, "present": thing.present(), "cure": thing.cure}
        for thing in OPTIONAL_DEPENDENCIES
    ]
    return {**facts(), "card": has_card(), "things": things}


def lines(report: dict[str, Any]) -> Iterator[str]:
    """Yield the report for a person; only a command to copy may be longer than 80 columns."""
    yield from _machine(report)
    yield ""
    for thing in report["things"]:
        yield f"{'ok' if thing['present'] else 'missing':<9}{thing['name']:<19}{thing['purpose']}"
        if not thing["present"]:
            yield f"{'':<9}$ {thing['cure']}"
    yield f"{'ok' if report['card'] else 'missing':<9}{'GPU':<19}{_card_words(report['card'])}"
    missing = sum(not thing["present"] for thing in report["things"]) + (not report["card"])
    yield ""
    needless = "no sweep of generated requests needs any"
    yield f"Missing of the optional things: {missing}; {needless}." if missing else "Nothing is missing."


def _machine(report: dict[str, Any]) -> Iterator[str]:
    names = [f"{name} {number}" for name, number in report["versions"].items()]
    for label, part in (("versions", names[:4]), ("", names[4:])):
        yield f"{label:<15}{', '.join(part)}"
    cache, disk = report["compile_cache"], report["free_disk_bytes"]
    yield f"{'compile cache':<15}{cache['folder']}"
    yield f"{'':<15}{cache['state']}, {size_words(cache['bytes'])}"
    if cache["earlier"]:
        yield f"{'':<15}{len(cache['earlier'])} of other sources, {size_words(cache['earlier_bytes'])}; may be deleted"
    yield f"{'free memory':<15}{size_words(report['free_memory_bytes'])}"
    yield f"{'free disk':<15}{size_words(disk['here'])} here, {size_words(disk['cache'])} for the cache"


def _card_words(present: bool) -> str:
    return "kernels on a graphics card" if present else "no command brings a card: use a machine that has one"


def size_words(amount: int | None) -> str:
    """Return bytes in the unit that a person reads; "unknown" for None.

    >>> size_words(3_661_627_392), size_words(812), size_words(None)
    ('3.41 GiB', '812 B', 'unknown')
    """
    return "unknown" if amount is None else bytes_said(amount)


DOCTOR = _arguments, _run
