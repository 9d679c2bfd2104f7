"""`workbench figures [NAME | FILE.py]...`: every figure and what it is drawn of, or one with its choices."""

from __future__ import annotations

import inspect
from collections.abc import Mapping, Sequence
from types import ModuleType
from typing import Any

from workbench.cli.listing import listing


def rows(modules: Sequence[ModuleType]) -> list[dict[str, Any]]:
    """Return one mapping a figure; those of the user's files joined as the files were executed."""
    from workbench.figures.known import CALCULATIONS, FIGURES, STUDY_FIGURES

    kinds = (("runs", FIGURES), ("a study", STUDY_FIGURES), ("nothing but its choices", CALCULATIONS))
    return [
        {
            "name": part.name,
            "drawn_of": drawn_of,
            "engine": getattr(known[part.name], "engine", ""),
            "description": part.description,
            "built_in": part.built_in,
        }
        for drawn_of, known in kinds
        for part in known.parts()
    ]


def details(row: Mapping[str, Any]) -> dict[str, Any]:
    """Return the choices of a figure with their defaults, and how it is asked for."""
    from workbench.figures.known import CALCULATIONS, FIGURES, STUDY_FIGURES

    known: Any = {"runs": FIGURES, "a study": STUDY_FIGURES}.get(row["drawn_of"], CALCULATIONS)
    parameters = inspect.signature(known.find(row["name"]).data).parameters.values()
    choices = [f"{one.name}={one.default!r}" for one in parameters if one.default is not inspect.Parameter.empty]
    if known is FIGURES:
        return {"choices": choices, "in_a_sweep": [f"figures: [{row['name']}]"]}
    if known is CALCULATIONS and CALCULATIONS.find(row["name"]).example:
        return {"choices": choices, "in_python": CALCULATIONS.find(row["name"]).example.splitlines()}
    command = f"workbench figure {row['name']}" if known is CALCULATIONS else "workbench tune STUDY.yaml"
    return {"choices": choices, "in_a_terminal": [command]}


COMMAND = listing("figures", "Every figure, and what it is drawn of.", rows, details)
