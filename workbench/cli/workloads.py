"""`workbench workloads [FILE.py]...`: every generator and every regime, and which engine it serves."""

from __future__ import annotations

from collections.abc import Sequence
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


COMMAND = listing("workloads", "Every workload that can be named in a sweep.", rows)
