"""Rows that an earlier version of the workbench kept, shown under the points of a plan of today.

A run id holds digests of the package's code, so ids change with a version. A row belongs to a point of today if the two
are the same in all but such digests. These rows are shown; they are never counted as runs that need not be done.
"""

from __future__ import annotations

import importlib.metadata
import json
from collections import Counter
from typing import Any

from workbench.digests import canonical
from workbench.experiments.plan import Plan
from workbench.experiments.store import Store
from workbench.runs.row import Row
from workbench.runs.run import run_id

_PACKAGE = "gpu-policy-workbench"
_DIGESTS = ("code", "format", "python", "streams")
"""The keys of an identity under which digests and versions stand."""
_ADDED: dict[str, Any] = {
    "barriers_a_module": 0,
    "dies": [],
    "admission": {"open_to_all": {}},
    "die": {"any_die": {}},
    "concurrency": "full_overlap",
    "pending_depth": 0,
    "spread": False,
    "progress": {"constant": {}},
}
"""Levers and slots that an earlier version did not have, with the values at which a run is as it was then."""


def earlier_rows(plan: Plan, store: Store) -> list[Row]:
    """Return the rows of a plan that an earlier version kept, under the ids of today; of several the one kept last.

    Their measures are as they were kept. Two points that differ in code alone have no rows.
    """
    today = _by_levers((point.id, point.setup.identity()) for point in plan.points)
    points = {old: today[key] for key, old in _by_levers(store.identities().items()).items() if key in today}
    origins, wanted, measured = store.origins(), {*plan.ids}, plan.sweep.measured_by().text
    rows: dict[str, tuple[float, Row]] = {}
    for kept in store.kept():
        point = points.get(kept.point)
        name = run_id(point, kept.seed) if point else ""
        if name in wanted and version_of(origins.get(kept.origin, "")) != _version():
            at = kept.at or 0.0
            if name not in rows or rows[name][0] <= at:
                row = kept.row(origins)
                rows[name] = at, row._replace(id=name, point=point or "", measured=measured)
    return [row for _, row in rows.values()]


def earlier_sentence(rows: list[Row], sweep: object, folder: object) -> str:
    """Return the sentence that says which version kept rows, and how to have them simulated by this one."""
    versions = ", ".join(sorted({version_of(row.origin) for row in rows}))
    return (
        f"{len(rows)} rows are of workbench {versions}, and this is {_version()}, which names runs otherwise; "
        f"simulate them again with: workbench run {sweep} --out {folder}"
    )


def version_of(origin: str) -> str:
    """Return the version of the workbench that an origin names, "unknown" if it names none.

    >>> version_of('{"packages":{"gpu-policy-workbench":"0.5.0"}}'), version_of("")
    ('0.5.0', 'unknown')
    """
    facts = json.loads(origin) if origin else {}
    return str(facts.get("packages", {}).get(_PACKAGE, "unknown"))


def _version() -> str:
    return importlib.metadata.version(_PACKAGE)


def _by_levers(identities: Any) -> dict[str, str]:
    """Return the point of each identity without digests and added levers; two points of one identity are left out."""
    texts = [(point, canonical(_without_digests(identity))) for point, identity in identities]
    times = Counter(text for _, text in texts)
    return {text: point for point, text in texts if times[text] == 1}


def _without_digests(value: Any) -> Any:
    if isinstance(value, dict):
        kept = {key: _without_digests(inner) for key, inner in value.items() if key not in _DIGESTS}
        return {key: inner for key, inner in kept.items() if key not in _ADDED or inner != _ADDED[key]}
    return [_without_digests(inner) for inner in value] if isinstance(value, (list, tuple)) else value
