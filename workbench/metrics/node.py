"""The measures of a whole node (spec 6, section 7)."""

from __future__ import annotations

import numpy as np

from workbench.metrics.measure import Measure, declared
from workbench.metrics.statistics import over
from workbench.records.node import NodeRecord

TIMES = (
    *("memory", "channel", "compute", "issue", "walkers", "translation", "link"),
    *("malloc_lock", "malloc_service", "heap_chunk", "shoot_down"),
)
"""The parts of a group's time (spec 6, R18), in the order of `NodeRecord.times`."""
TIME_WORDS = (
    "wait for memory, from the end of the step before the kernel",
    "wait in the channel",
    "compute",
    "wait for issue and for miss registers",
    "wait for a walker",
    "other translation, and local data",
    "bytes of walks and data over links",
    "wait for the lock of a device heap",
    "service of a device heap",
    "wait for a chunk of a device heap",
    "modules stalled by shoot-downs",
)

MEASURES = declared(
    Measure("makespan_cycles", "cycles", "lower", "the last end of a step"),
    Measure("groups_per_mcycle", "groups / Mcycle", "higher", "groups that ended, over the makespan"),
    Measure(
        "group_p50_cycles",
        "cycles",
        "lower",
        "half of the groups, from the end of the step before their kernel to their own",
    ),
    Measure(
        "group_p99_cycles",
        "cycles",
        "lower",
        "all but one in a hundred groups, from the end of the step before to their own",
    ),
    Measure("groups_ended", "groups", "higher", "groups that ended"),
    Measure("groups_cancelled", "groups", "lower", "groups of refused applications that were queued"),
    Measure("applications_refused", "applications", "lower", "applications that were refused memory"),
    Measure("remote_share", "", "lower", "simulated touches of pages on other cards, of all"),
    Measure("shoot_downs", "", "lower", "unmappings that modules are told of"),
    Measure("malloc_nulls", "requests", "lower", "requests to device heaps that got nothing"),
    *(
        Measure(f"{name}_share", "", "neither", f"of all groups' time: {words}")
        for name, words in zip(TIMES, TIME_WORDS)
    ),
    Measure("heap_chunks", "chunks", "lower", "chunks that device heaps asked the pool for"),
)
"""Every measure by name."""


def measure(record: NodeRecord) -> dict[str, float]:
    """Compute every measure of a run."""
    counts, ended = record.counts, record.ended >= 0
    lasted = record.times.sum(axis=1)[ended]
    return {
        "makespan_cycles": float(record.makespan),
        "groups_per_mcycle": over(1e6 * counts["groups_ended"], record.makespan),
        "group_p50_cycles": _rank(lasted, 50),
        "group_p99_cycles": _rank(lasted, 99),
        "groups_ended": float(counts["groups_ended"]),
        "groups_cancelled": float(counts["groups_cancelled"]),
        "applications_refused": float(record.refused.sum()),
        "remote_share": over(counts["remote_touches"], counts["touches"]),
        "shoot_downs": float(counts["shoot_downs"]),
        "malloc_nulls": float(counts["nulls"]),
        **_shares(record.times[ended]),
        "heap_chunks": float(counts["chunks"]),
    }


def _shares(times: np.ndarray) -> dict[str, float]:
    """Return the share of each part in the time of all groups."""
    total = int(times.sum())
    return {f"{name}_share": over(int(times[:, place].sum()), total) for place, name in enumerate(TIMES)}


def _rank(times: np.ndarray, percent: int) -> float:
    """Return the time at rank ceil(n percent / 100) (N57); NaN of none."""
    if not times.size:
        return float("nan")
    return float(np.sort(times)[-(-percent * times.size // 100) - 1])
