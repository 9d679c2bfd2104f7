"""`workbench figures [FILE.py]...`: every figure, and what it is drawn of."""

from __future__ import annotations

from collections.abc import Sequence
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


COMMAND = listing("figures", "Every figure, and what it is drawn of.", rows)
