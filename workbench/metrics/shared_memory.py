"""The measures of a shared memory: completion, queue, fragmentation, wear (spec 1, section 6).

Time averages of free memory and fragmentation run over the cycles in which a request waits (spec 1, H1.3): a memory
that empties because nothing is left to do is not fragmented.
"""

from __future__ import annotations

import math

import numpy as np

from workbench.metrics.measure import Measure, declared
from workbench.metrics.shared_memory_replay import (
    CENTRE,
    CYCLES,
    EXTERNAL,
    FRAGMENTED,
    FREE,
    QUEUE,
    WAITING_CYCLES,
    WAITING_FREE,
    WAITING_RUNS,
    Totals,
    replay,
)
from workbench.metrics.shared_memory_wear import has_ranges, held_by_segment
from workbench.metrics.statistics import cv, gini, mean, mean_and_deviation, over, quantile
from workbench.records.shared_memory import SharedMemoryRecord

MEASURES = declared(
    Measure("drain_cycles", "cycles", "lower", "from cycle 0 until the queue is empty and everything is released"),
    Measure("workgroups_per_kilocycle", "workgroups", "higher", "workgroups over `drain_cycles` in thousands"),
    Measure("mean_queue", "workgroups", "lower", "waiting requests, averaged over the whole run"),
    Measure("mean_free_segments", "segments", "lower", "free segments while a request waits, averaged over time"),
    Measure(
        "mean_external_fragmentation",
        "",
        "lower",
        "1 - longest free run / free segments while a request waits, averaged",
    ),
    Measure("mean_free_runs", "runs", "lower", "separate runs of free segments while a request waits, averaged"),
    Measure(
        "longest_run_off_middle",
        "segments",
        "lower",
        "distance of the longest free run's centre from the middle while a request waits, averaged",
    ),
    Measure(
        "blocked_though_enough_cycles",
        "cycles",
        "lower",
        "cycles in which the head waits, refused before, although enough segments are free in total: no run that the "
        "policy may take is long enough, or its next try has not come (slow retries, several requests a cycle)",
    ),
    Measure(
        "blocked_though_enough_rate",
        "",
        "lower",
        "of the cycles in which a request waits, the share counted by `blocked_though_enough_cycles`",
    ),
    Measure(
        "blocked_by_fragmentation_cycles",
        "cycles",
        "lower",
        "cycles in which the head waits, enough segments are free in total, and no free run is long enough for it; "
        "waiting for the next try is no such cycle",
    ),
    Measure(
        "blocked_by_fragmentation_rate",
        "",
        "lower",
        "of the cycles in which a request waits, the share counted by `blocked_by_fragmentation_cycles`",
    ),
    Measure("wear_cv", "", "lower", "grants a segment: standard deviation over mean"),
    Measure("wear_gini", "", "lower", "grants a segment: Gini coefficient"),
    Measure("wear_max_over_min", "", "lower", "grants a segment: most over fewest"),
    Measure("wear_low_over_high", "", "neither", "grants in the lower half of the memory over those in the upper half"),
    Measure(
        "low_end_share", "", "neither", "share of grants nearer to the low end than to the high end; a tie counts half"
    ),
    Measure(
        "power_proxy_cv",
        "",
        "lower",
        "proxy for power balance, as no power is simulated: cycles that each segment is held, standard deviation over "
        "mean over the segments, as if a held segment drew the same power under every workgroup; no watts, and nothing "
        "about the banks over which words are interleaved",
    ),
    Measure("first_try_rate", "", "higher", "share of workgroups granted at their first attempt"),
    Measure("wait_mean_cycles", "cycles", "lower", "from a workgroup's arrival to its grant, averaged"),
    Measure("wait_p99_cycles", "cycles", "lower", "from a workgroup's arrival to its grant, 99th percentile"),
    Measure("utilisation", "", "higher", "taken segments over all segments, averaged over the whole run"),
    Measure("attempts", "cycles", "lower", "cycles in which the allocator tried, polls of a waiting head included"),
    Measure("moved_segments", "segments", "lower", "segments copied by compaction"),
)
"""Every measure by name."""


def measure(record: SharedMemoryRecord) -> dict[str, float]:
    """Compute every measure of a run; one that is not defined for it (wear without addresses) is NaN."""
    totals, drained = replay(record), int(record.release.max(initial=0))
    return {
        "drain_cycles": float(drained),
        "workgroups_per_kilocycle": over(1000 * len(record.grant), drained),
        **_averages(record, totals),
        **_blocking(record, totals),
        **_wear(record, totals.wear[:-1].cumsum()),
        "power_proxy_cv": cv(held_by_segment(record)) if has_ranges(record) else math.nan,
        **_waits(record),
        "attempts": float(record.attempts),
        "moved_segments": float(record.length[record.moves[:, 1]].sum()) if len(record.moves) else 0.0,
    }


def _averages(record: SharedMemoryRecord, totals: Totals) -> dict[str, float]:
    whole, cycles = totals.whole, totals.whole[WAITING_CYCLES]
    shaped = cycles if record.layout != "scattered" else 0
    return {
        "mean_queue": over(whole[QUEUE], whole[CYCLES]),
        "mean_free_segments": over(whole[WAITING_FREE], cycles),
        "mean_external_fragmentation": over(totals.real[EXTERNAL], shaped),
        "mean_free_runs": over(whole[WAITING_RUNS], shaped),
        "longest_run_off_middle": over(totals.real[CENTRE], shaped),
        "utilisation": 1 - over(whole[FREE], float(whole[CYCLES]) * record.segments),
    }


def _blocking(record: SharedMemoryRecord, totals: Totals) -> dict[str, float]:
    return {
        "blocked_though_enough_cycles": float(record.blocked_cycles),
        "blocked_though_enough_rate": over(record.blocked_cycles, totals.whole[WAITING_CYCLES]),
        "blocked_by_fragmentation_cycles": float(totals.whole[FRAGMENTED]),
        "blocked_by_fragmentation_rate": over(totals.whole[FRAGMENTED], totals.whole[WAITING_CYCLES]),
    }


def _wear(record: SharedMemoryRecord, wear: np.ndarray) -> dict[str, float]:
    if not has_ranges(record) or not wear.sum():
        wear = np.full(len(wear), np.nan)
    half, least = len(wear) // 2, wear.min()
    (middle, deviation), high = mean_and_deviation(wear), wear[-half:].sum()
    return {
        "wear_cv": deviation / middle,
        "wear_gini": gini(wear),
        "wear_max_over_min": float(wear.max() / least) if least else math.inf,
        "wear_low_over_high": float(wear[:half].sum() / high) if high else math.inf,
        "low_end_share": _low_end_share(record),
    }


def _low_end_share(record: SharedMemoryRecord) -> float:
    if record.layout == "scattered":
        return math.nan
    below, above = record.base, record.segments - record.length - record.base
    lower, ties = np.count_nonzero(below < above), np.count_nonzero(below == above)
    return over(lower + 0.5 * ties, len(below))


def _waits(record: SharedMemoryRecord) -> dict[str, float]:
    if not len(record.grant):
        return dict.fromkeys(("first_try_rate", "wait_mean_cycles", "wait_p99_cycles"), math.nan)
    wait = record.grant - record.arrival
    return {
        "first_try_rate": 1 - mean(record.refused),
        "wait_mean_cycles": mean(wait),
        "wait_p99_cycles": quantile(wait, 0.99),
    }
