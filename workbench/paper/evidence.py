"""What the paper rests on: two sweeps, and a survey of recorded kernels where the public traces are here."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

from workbench.api import Results, run
from workbench.studies.residency import Survey, public_traces, survey
from workbench.workloads.catalogue import available

SERVING_TRACE = "rocprofv3_mi355x_part1"
RULES = (
    "first_fit",
    "unsorted_free_list",
    "byte_counter",
    "worst_fit",
    "best_fit",
    "ring_buffer",
    "nearest_boundary",
)
_SERVING: dict[str, Any] = {
    "question": "Does the rule matter on the shared-memory requests of a real serving trace?",
    "engine": "shared_memory",
    "machine": "mi350x",
    "workload": {"trace": SERVING_TRACE, "unit": -1, "arrival": "all_at_once", "longest_us": 200, "count": 600},
    "policy": {"placement": {"vary": list(RULES)}},
    "baseline": {"placement": "first_fit"},
    "measures": ["drain_cycles", "mean_external_fragmentation", "blocked_by_fragmentation_rate"],
    "figures": ["remaining_over_time"],
}
_IN_ITS_PLACE: dict[str, Any] = {
    **_SERVING,
    "question": "Does the rule matter on synthetic requests of a serving run's kind: many small, few large?",
    "machine": {"segments": 128},
    "workload": {
        "synthetic": "random_workgroups",
        "count": 300,
        "size": {"bimodal": {"small_share": 0.7, "small": [1, 4], "large": [16, 102]}},
        "duration": {"uniform": [1, 100]},
    },
}
"""Stands for the serving trace where that is not on this machine; the paper then says so."""


class Evidence(NamedTuple):
    """What the paper rests on."""

    placement: Results
    """The six rules and the source document's on synthetic workloads."""
    serving: Results
    """The same on a serving trace, or on what stands for it."""
    real: bool
    """Whether `serving` is of the real trace."""
    residency: Survey | None
    """Of all public traces of kernels; None where none is on this machine."""


def gathered(
    sweep: str | Path | Mapping[str, Any],
    seeds: int = 200,
    out: str | Path | None = None,
    workers: int | None = None,
    units: int = 10,
) -> Evidence:
    """Run what the paper needs and `out` does not hold yet.

    Parameters
    ----------
    sweep : path or mapping
        The sweep of the six rules on synthetic workloads, `sweeps/placement/six_open_gpus.yaml`.
    seeds : int
        Paired runs a point; of the serving trace each is another compute unit's share.
    out : path, optional
        A folder that keeps every row; without one the rows live in memory.
    workers : int, optional
        As `run` takes it.
    units : int
        Runs a rule and trace in the survey of residency.

    Raises
    ------
    InputError
        There is no such sweep, or it is not valid.
    """
    real, traces = available(SERVING_TRACE), public_traces()
    serving: Mapping[str, Any] = _SERVING if real else _IN_ITS_PLACE
    folder = None if out is None else Path(out)
    placement = run(sweep, _inside(folder, "placement"), seeds=seeds, workers=workers)
    served = run(serving, _inside(folder, "serving" if real else "synthetic"), seeds=seeds, workers=workers)
    return Evidence(placement, served, real, survey(traces, units=units) if traces else None)


def _inside(folder: Path | None, name: str) -> Path | None:
    return None if folder is None else folder / name
