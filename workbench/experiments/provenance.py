"""Where the rows of a table come from: the sweep as resolved, and the origins of its rows, in plain types."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from workbench.digests import canonical, digest

if TYPE_CHECKING:
    from workbench.experiments.run_set import RunSet


def provenance(runs: RunSet) -> dict[str, Any]:
    """Return what a reader needs to know where a table came from, in plain types.

    It is derived from the rows alone: a process that finds every row kept leaves it as it is, to the byte.
    """
    plan = runs.plan
    return {
        "sweep": plan.sweep.name,
        "sweep_digest": digest(canonical(_plain(plan.sweep.config))),
        "points": {point.id: point.setup.identity() for point in plan.points},
        "engine_revision": plan.sweep.mechanism.engine.revision,
        "seeds": plan.sweep.seeds,
        **({"looks": list(plan.sweep.looks)} if plan.sweep.looks else {}),
        "runs": len(plan),
        "rows": len(runs.rows),
        "origins": [origin.plain() for origin in runs.origins],
    }


def _plain(value: Any) -> Any:
    if isinstance(value, dict):
        return {str(key): _plain(inner) for key, inner in value.items()}
    if isinstance(value, (list, tuple)):
        return [_plain(inner) for inner in value]
    return value if isinstance(value, (str, int, float, bool, type(None))) else repr(value)
