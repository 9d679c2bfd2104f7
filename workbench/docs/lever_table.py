"""Levers on pages: what each means, what it may be, its unit and its default."""

from __future__ import annotations

from workbench.cli.lever_words import default_of_lever, values_of_lever
from workbench.docs.markdown import anchor, escaped, ref, table
from workbench.docs.spec_links import prose
from workbench.levers import Lever, Spec
from workbench.workloads.group_file import BetweenRow, GroupRow

LEVER_FACTS = ("meaning", "values; default")


def lever_table(cls: type[Spec], within: str) -> str:
    """Return the levers of a class, a row each with the anchor `within.lever`; empty where it has none."""
    rows = [
        [
            f"{anchor(f'{within}.{one.name}')}{ref(f'`{one.name}`', f'reference/levers#{one.name}')}",
            *lever_facts(cls, one),
        ]
        for one in cls.levers.values()
    ]
    return table(["lever", *LEVER_FACTS], rows) if rows else ""


def group_file_table() -> str:
    """Return the columns of a group file, those that every file has first."""
    always = [[f"`{name}`", *lever_facts(GroupRow, one)] for name, one in GroupRow.levers.items()]
    optional = [
        [f"`{name}`", prose(one.description), f"{lever_values(one)}; may be left out"]
        for name, one in BetweenRow.levers.items()
    ]
    return table(["column", *LEVER_FACTS], [*always, *optional])


def lever_facts(cls: type[Spec], one: Lever) -> list[str]:
    """Return the meaning of a lever of a class, and what it may be with its unit and default, as Markdown."""
    default = "must be given" if one.required else f"default `{default_of_lever(one)}`"
    unit = f" ({one.unit})" if one.unit else ""
    return [prose(one.description, cls.__module__), f"{lever_values(one)}{unit}; {default}"]


def lever_values(one: Lever) -> str:
    """Return the domain of a lever, as Markdown: choices as code.

    >>> lever_values(Lever("tie", "choice", "low", choices=("low", "high")))
    '`low`, `high`'
    """
    if one.kind == "choice":
        return ", ".join(f"`{choice}`" for choice in one.choices)
    return escaped(values_of_lever(one))
