"""Where an open loop of translation is saturated: then means say how long the trace is, not what a policy does."""

from __future__ import annotations

import math
from statistics import fmean
from typing import Any

from workbench.experiments.plan import PlannedPoint
from workbench.experiments.run_set import RunSet

MEASURE = "drain_share"
MOST = 0.2
"""Share of the makespan after the last access's cycle in the trace, above which a point is called saturated."""


def saturation_notes(runs: RunSet) -> list[str]:
    """Return one sentence a point whose accesses come faster than they are served; none where all is well.

    Only an open loop can be saturated: warps that wait for their translations slow down instead.

    Examples
    --------
    >>> from workbench.api import run
    >>> saturation_notes(run({"engine": "shared_memory", "workload": "bimodal", "measures": ["drain_cycles"]}))
    []
    """
    if MEASURE not in runs.plan.sweep.mechanism.measures:
        return []
    shares = [(runs.label(point), _share(runs, point)) for point in runs.points if _is_open(point)]
    return [_sentence(label, share) for label, share in shares if share > MOST]


def _is_open(point: PlannedPoint) -> bool:
    """Return whether a point's accesses are issued at their cycles, however many are under way."""
    options: Any = point.setup.options
    return bool(options.cores_issue.warps() == 0)


def _share(runs: RunSet, point: PlannedPoint) -> float:
    """Return the measure averaged over the seeds, 0 where no run has it."""
    known = [share for share in runs.values(point, MEASURE).values() if math.isfinite(share)]
    return fmean(known) if known else 0.0


def _sentence(label: str, share: float) -> str:
    return (
        f"{label}: saturated. Accesses come faster than they are served ({share:.0%} of the makespan passes after the "
        "last has come), so mean latencies tell the length of the trace; space the accesses out, or let warps wait "
        "(options: cores_issue)."
    )
