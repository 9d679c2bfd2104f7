"""Where the rows of a table come from: the sweep as resolved, and the origins of its rows, in plain types."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

from workbench.digests import canonical, digest
from workbench.experiments.needed_packages import PACKAGES, needed_packages
from workbench.experiments.results_folder import PROVENANCE

if TYPE_CHECKING:
    from workbench.experiments.plan import Plan
    from workbench.experiments.results import Results


COORDINATES, OWN_MEASURES = "coordinates", "own_measures"
"""The keys from which a folder is shown without the code of its sweep."""


def provenance(runs: Results) -> dict[str, Any]:
    """Return the origin of a table for a reader, in plain types.

    It is derived from the rows alone: a process that finds every row kept leaves it as it is, to the byte.
    """
    plan = runs.plan
    return {
        "sweep": plan.sweep.name,
        "sweep_digest": digest(canonical(plain(plan.sweep.config))),
        "points": {point.id: point.setup.identity() for point in plan.points},
        COORDINATES: [
            {"id": point.id, "baseline": point.baseline, "coordinates": without_folders(point.coordinates)}
            for point in plan.points
        ],
        **({OWN_MEASURES: own} if (own := own_measures(plan)) else {}),
        **({PACKAGES: packages} if (packages := needed_packages(plan)) else {}),
        "engine_revision": plan.sweep.mechanism.engine.revision,
        "seeds": plan.sweep.seeds,
        **({"planned": plan.sweep.planned} if plan.sweep.planned is not None else {}),
        "runs": len(plan),
        "rows": len(runs.rows),
        "origins": [origin.plain() for origin in runs.origins],
    }


def kept_provenance(folder: Path) -> dict[str, Any]:
    """Return the provenance that a run left in a folder, nothing where there is none that can be read."""
    try:
        before = json.loads((folder / PROVENANCE).read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError):
        return {}
    return before if isinstance(before, dict) else {}


def own_measures(plan: Plan) -> dict[str, dict[str, Any]]:
    """Return the declarations of the user's measures."""
    declared = [one.declared for one in plan.sweep.user_measures.values() if not one.built_in]
    return {one.name: one.facts() for one in declared}


def without_folders(coordinates: dict[str, Any]) -> dict[str, Any]:
    """Return coordinates in plain types, with every file by its name alone: where it lies says nothing about a run.

    >>> without_folders({"policy.placement./home/me/mine.py:Fit.reach": 3, "workload.file": "/data/a.csv"})
    {'policy.placement.mine.py:Fit.reach': 3, 'workload.file': 'a.csv'}
    """
    return {_file_alone(path): _file_alone(plain(value)) for path, value in coordinates.items()}


def _file_alone(text: Any) -> Any:
    return re.sub(r"(?:(?<=^)|(?<=[\s.=(,#]))/(?:[^\s/]+/)*(?=[^\s/])", "", text) if isinstance(text, str) else text


def plain(value: Any) -> Any:
    """Return a value in types that JSON knows; what it does not know is written as Python shows it."""
    if isinstance(value, dict):
        return {str(key): plain(inner) for key, inner in value.items()}
    if isinstance(value, (list, tuple)):
        return [plain(inner) for inner in value]
    return value if isinstance(value, (str, int, float, bool, type(None))) else repr(value)
