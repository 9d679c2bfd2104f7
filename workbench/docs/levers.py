"""Levers as tables: what each may be, what it is by default, in which unit, and what it means."""

from __future__ import annotations

from workbench.cli import listings
from workbench.docs.page import address, table
from workbench.docs.prose import escaped, prose
from workbench.levers import Lever, Spec


def lever_table(cls: type[Spec], here: str) -> str:
    """Return the levers of a class, a row each; empty where it has none."""
    rows = [
        [
            f"[`{one.name}`]({address(here, f'reference/levers/{one.name}')})",
            values(one),
            default(one),
            one.unit or "",
            prose(one.description, here, cls.__module__),
        ]
        for one in cls.levers.values()
    ]
    return table(["lever", "values", "default", "unit", "meaning"], rows) if rows else ""


def values(one: Lever) -> str:
    """Return what a lever may be, as Markdown: choices as code.

    >>> values(Lever("tie", "choice", "low", choices=("low", "high")))
    '`low`, `high`'
    """
    if one.kind == "choice":
        return ", ".join(f"`{choice}`" for choice in one.choices)
    return escaped(listings.values_of_lever(one))


def default(one: Lever) -> str:
    """Return the default of a lever as it is written in a sweep, as Markdown."""
    return f"`{listings.default_of_lever(one)}`" if not one.required else "must be given"
