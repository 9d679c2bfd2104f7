"""`workbench workloads [NAME | FILE.py]...`: every generator and regime and which engine it serves, or one in full."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import ModuleType
from typing import Any

from workbench.cli.listing import listing


def rows(modules: Sequence[ModuleType]) -> list[dict[str, Any]]:
    """Return one mapping a generator or regime; those of the user's files joined as the files were executed."""
    from workbench.workloads.synthetic.generators import Generator
    from workbench.workloads.synthetic.regimes import regimes
    from workbench.workloads.workload import KINDS

    generators = [
        {
            "name": part.name,
            "kind": "generator",
            "gives": kind,
            "description": part.description,
            "built_in": part.built_in,
        }
        for part in Generator.members.parts()
        for kind in KINDS
        if Generator.members[part.name].gives(kind)
    ]
    return generators + [
        _row(one.name, "regime", kind, one.says, True) for kind in KINDS for one in regimes(kind).values()
    ]


def _row(name: str, kind: str, gives: str, description: str, built_in: bool) -> dict[str, Any]:
    return {"name": name, "kind": kind, "gives": gives, "description": description, "built_in": built_in}


def details(row: Mapping[str, Any]) -> dict[str, Any]:
    """Return the levers of a generator, or the source and the values of a regime."""
    from workbench.cli.lever_words import default, values
    from workbench.workloads.synthetic.generators import Generator
    from workbench.workloads.synthetic.regimes import regimes

    if row["kind"] == "regime":
        one = regimes(row["gives"])[row["name"]]
        return {"source": [one.source], "stands_for": [one.workload.short()], "in_a_sweep": [f"workload: {one.name}"]}
    levers = Generator.members.find(row["name"]).levers.values()
    lines = [
        f"{one.name}: {values(one)}{f' ({one.unit})' if one.unit else ''}, {_default(default(one))}: {one.description}"
        for one in levers
    ]
    return {"levers": lines, "in_a_sweep": [f"workload: {{synthetic: {row['name']}}}"]}


def _default(text: str) -> str:
    return f"default {text}" if text else "must be given"


COMMAND = listing("workloads", "Every workload that can be named in a sweep.", rows, details)
