"""The measures of a shared memory: completion, queue, fragmentation, wear (spec 1, section 6).

Time averages of free memory and fragmentation run over the cycles in which a request waits (spec 1, H1.3): a memory
that empties because nothing is left to do is not fragmented. It also draws grants and held cycles by segment, the
layout over time as rectangles (who held which segments from when to when), and step functions of the cycle (R33).
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from workbench.compiled import kernel
from workbench.errors import InputError
from workbench.metrics.measure import Measure, declared
from workbench.metrics.statistics import Steps, added_up, cv, gini, mean, mean_and_deviation, over, quantile
from workbench.records.shared_memory import SharedMemoryRecord
from workbench.structures.bitmaps import (
    WORD,
    all_free,
    count_runs,
    longest_run,
    mark_free,
    mark_taken,
    next_free,
    next_taken,
)

MEASURES = declared(
    Measure(
        "drain_cycles",
        "cycles",
        "lower",
        "from cycle 0 until the queue is empty and everything is released",
        compared_by="ratio",
    ),
    Measure(
        "workgroups_per_kilocycle",
        "workgroups",
        "higher",
        "workgroups over `drain_cycles` in thousands",
        compared_by="ratio",
    ),
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
        **_wear(record),
        "power_proxy_cv": cv(held_by_segment(record)) if has_ranges(record) else math.nan,
        **_waits(record),
        "attempts": float(record.attempts),
        "moved_segments": float(record.length[record.moves[:, 1]].sum()) if len(record.moves) else 0.0,
    }


CYCLES, WAITING_CYCLES, QUEUE, FREE, WAITING_FREE, WAITING_RUNS, FRAGMENTED = range(7)
EXTERNAL, CENTRE = range(2)


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


def _wear(record: SharedMemoryRecord) -> dict[str, float]:
    wear = grants_by_segment(record) if has_ranges(record) else np.zeros(record.segments, np.int64)
    if not wear.sum():
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


class Events(NamedTuple):
    """A record as the pass reads it."""

    arrival: np.ndarray
    granted_at: np.ndarray
    """int64[workgroups], the cycle of each grant, in the order of the queue."""
    grant: np.ndarray
    """int64[workgroups], cycles of the grants, in the order of `grants`."""
    grants: np.ndarray
    """int64[workgroups], rows in the order of their grants."""
    release: np.ndarray
    """int64[workgroups], cycles of the releases, in the order of `releases`."""
    releases: np.ndarray
    """int64[workgroups], rows in the order of their releases."""
    length: np.ndarray
    where: np.ndarray
    """int64[workgroups], the current first segment of each range."""
    moves: np.ndarray


class Totals(NamedTuple):
    """What the pass adds up."""

    whole: np.ndarray
    """int64[7], named by the constants above: cycles and sums over cycles."""
    real: np.ndarray
    """float64[2]: sums over the cycles with a waiting request of external fragmentation, and of the distance between
    the center of the longest free run and the middle of the memory."""


def replay(record: SharedMemoryRecord) -> Totals:
    """Add up one run, from the first arrival to the last release: exact integrals over the event times.

    The pass rebuilds the free map from the record alone. Between two events nothing changes, so every time average is a
    sum of products of whole numbers, exact whatever the number of cycles.

    Raises
    ------
    InputError
        A range of the record, of an engine of somebody's own, does not lie in the memory.
    """
    _check_ranges(record)
    totals = Totals(np.zeros(7, np.int64), np.zeros(2))
    grants, releases = record.serial.argsort(kind="stable"), record.release.argsort(kind="stable")
    events = Events(
        record.arrival,
        record.grant,
        record.grant[grants],
        grants,
        record.release[releases],
        releases,
        record.length,
        record.base.astype(np.int64),
        record.moves,
    )
    if grants.size:
        _pass(events, all_free(record.segments), record.segments, record.layout == "scattered", totals)
    return totals


def _check_ranges(record: SharedMemoryRecord) -> None:
    """Refuse ranges outside of the memory, at which compiled code would write past its arrays."""
    if record.layout == "scattered":
        return
    row, first = _outside(record.base, record.length, record.moves, record.segments)
    if row >= 0:
        last = first + int(record.length[row]) - 1
        raise InputError(
            f"the record of a run puts workgroup {row} into segments {first} to {last}, but the memory has "
            f"segments 0 to {record.segments - 1}."
        )


@kernel
def _outside(base: np.ndarray, length: np.ndarray, moves: np.ndarray, segments: int) -> tuple[int, int]:
    """Return the first workgroup that was granted or moved to a range outside of the memory, and its base; or -1."""
    for row in range(base.size):
        if base[row] < 0 or base[row] + length[row] > segments:
            return row, base[row]
    for k in range(moves.shape[0]):
        row = moves[k, 1]
        if moves[k, 3] < 0 or moves[k, 3] + length[row] > segments:
            return row, moves[k, 3]
    return -1, 0


@kernel
def _pass(events: Events, free: np.ndarray, segments: int, scattered: bool, totals: Totals) -> None:
    rows = events.grants.size
    arrived = granted = released = moved = 0
    head = taken = 0
    now = events.arrival[0]
    while released < rows:
        while released < rows and events.release[released] == now:
            row = events.releases[released]
            taken -= events.length[row]
            if not scattered:
                mark_free(free, events.where[row], events.length[row])
            released += 1
        while arrived < rows and events.arrival[arrived] == now:
            arrived += 1
        while granted < rows and events.grant[granted] == now:
            row = events.grants[granted]
            moved = _move_for(events, free, row, moved)
            taken += events.length[row]
            if not scattered:
                mark_taken(free, events.where[row], events.length[row])
            granted += 1
        while head < arrived and events.granted_at[head] <= now:
            head += 1
        following = _following(events, arrived, granted, released)
        if released < rows:
            _add(events, free, segments, taken, arrived - granted, head, following - now, totals)
        now = following


@kernel
def _following(events: Events, arrived: int, granted: int, released: int) -> int:
    rows = events.grants.size
    soonest = 1 << 62
    if arrived < rows:
        soonest = min(soonest, events.arrival[arrived])
    if granted < rows:
        soonest = min(soonest, events.grant[granted])
    if released < rows:
        soonest = min(soonest, events.release[released])
    return soonest


@kernel
def _move_for(events: Events, free: np.ndarray, row: int, moved: int) -> int:
    while moved < events.moves.shape[0] and events.moves[moved, 4] == row:
        other, old, new = events.moves[moved, 1], events.moves[moved, 2], events.moves[moved, 3]
        mark_free(free, old, events.length[other])
        mark_taken(free, new, events.length[other])
        events.where[other] = new
        moved += 1
    return moved


@kernel
def _add(
    events: Events, free: np.ndarray, segments: int, taken: int, waiting: int, head: int, cycles: int, totals: Totals
) -> None:
    whole, left = totals.whole, segments - taken
    whole[CYCLES] += cycles
    whole[QUEUE] += waiting * cycles
    whole[FREE] += left * cycles
    if waiting == 0:
        return
    whole[WAITING_CYCLES] += cycles
    whole[WAITING_FREE] += left * cycles
    whole[WAITING_RUNS] += count_runs(free) * cycles
    if left > 0:
        longest = longest_run(free)
        if longest < events.length[head] <= left:
            whole[FRAGMENTED] += cycles
        totals.real[EXTERNAL] += cycles * (1.0 - longest / left)
        totals.real[CENTRE] += cycles * abs(_start_of(free, longest) + longest / 2 - segments / 2)


@kernel
def _start_of(free: np.ndarray, longest: int) -> int:
    """Return the lowest run of free segments that is so long."""
    start = next_free(free, 0)
    while start < free.size * WORD:
        end = next_taken(free, start)
        if end - start == longest:
            return start
        start = next_free(free, end)
    return 0


def grants_by_segment(record: SharedMemoryRecord) -> np.ndarray:
    """Return the number of grants of each segment: int64[segments]; a range that compaction moves counts at its new
    place too.

    Raises
    ------
    InputError
        The grants are no ranges (scattered) or have no addresses (a byte counter's).
    """
    moved, _, new = record.moves[:, 1:4].T
    return _by_segment(record, "wear", (record.base, record.length, 1), (new, record.length[moved], 1))


def held_by_segment(record: SharedMemoryRecord) -> np.ndarray:
    """Return for how many cycles each segment was taken, int64[segments]; a range that compaction moves counts from
    then on at its new place.

    Raises
    ------
    InputError
        As `grants_by_segment`.
    """
    cycle, moved, old, new = record.moves[:, :4].T
    rest, length = record.release[moved] - cycle, record.length[moved]
    held = (record.base, record.length, record.release - record.grant)
    return _by_segment(record, "time", held, (old, length, -rest), (new, length, rest))


def _by_segment(record: SharedMemoryRecord, what: str, *ranges: tuple[np.ndarray, np.ndarray, Any]) -> np.ndarray:
    """Add up what each segment has of ranges: their first segments, lengths and amounts."""
    if not has_ranges(record):
        raise InputError(f"there is no {what} by segment: these grants are not ranges of segments.")
    changes = np.zeros(record.segments + 1, np.int64)
    for first, length, amount in ranges:
        np.add.at(changes, first, amount)
        np.add.at(changes, first + length, -amount)
    return changes[:-1].cumsum()


def has_ranges(record: SharedMemoryRecord) -> bool:
    """Return whether the grants are ranges of segments."""
    return record.layout != "scattered" and record.addressed


class Pieces(NamedTuple):
    """Rectangles of segments and cycles; one workgroup may hold several, one after the other or side by side."""

    workgroup: np.ndarray
    """int64[pieces], the row of the workgroup."""
    begin: np.ndarray
    """int64[pieces], the cycle from which the segments are held."""
    end: np.ndarray
    """int64[pieces], the cycle from which they are not, always later."""
    base: np.ndarray
    """int64[pieces], the first segment."""
    length: np.ndarray
    """int64[pieces], how many segments."""


def pieces(record: SharedMemoryRecord, until: int | None = None) -> Pieces:
    """Return the rectangles of a run, ordered by workgroup, then by cycle, then by segment.

    A workgroup that compaction moved holds one piece after the other. Scattered grants are rebuilt from their order:
    each takes the lowest free segments, and its neighboring ones are one piece.

    Parameters
    ----------
    until : int, optional
        Leave out what is granted at this cycle or later.

    Raises
    ------
    InputError
        The grants have no addresses (a byte counter's).
    """
    if not record.addressed:
        raise InputError("there is no layout: these grants have no addresses, only amounts.")
    kept = np.arange(len(record.grant)) if until is None else np.flatnonzero(record.grant < until)
    return _scattered(record, kept) if record.layout == "scattered" else _ranges(record, kept)


def _ranges(record: SharedMemoryRecord, kept: np.ndarray) -> Pieces:
    cycle, moved, _, new, _ = record.moves[np.isin(record.moves[:, 1], kept)].T
    workgroup = np.concatenate([kept, moved])
    order = np.argsort(workgroup, kind="stable")  # moves are kept in the order in which they happened
    workgroup = workgroup[order]
    begin = np.concatenate([record.grant[kept], cycle])[order]
    base = np.concatenate([record.base[kept], new])[order]
    stays = np.append(workgroup[1:] == workgroup[:-1], False)
    end = np.where(stays, np.append(begin[1:], 0), record.release[workgroup])
    lasting = end > begin
    return Pieces(*(column[lasting] for column in (workgroup, begin, end, base, record.length[workgroup])))


def _scattered(record: SharedMemoryRecord, kept: np.ndarray) -> Pieces:
    free = np.ones(record.segments, bool)
    held: dict[int, np.ndarray] = {}
    results: list[tuple[int, ...]] = []
    for is_grant, workgroup in _events(record, kept):
        if not is_grant:
            free[held[workgroup]] = True
            continue
        taken = held[workgroup] = np.flatnonzero(free)[: record.length[workgroup]]
        free[taken] = False
        span = int(record.grant[workgroup]), int(record.release[workgroup])
        runs = np.split(taken, np.flatnonzero(np.diff(taken) > 1) + 1)
        results.extend((workgroup, *span, int(run[0]), len(run)) for run in runs if span[1] > span[0])
    columns = np.array(results, np.int64).reshape(-1, 5)
    return Pieces(*columns[np.lexsort((columns[:, 3], columns[:, 0]))].T)


def _events(record: SharedMemoryRecord, kept: np.ndarray) -> list[tuple[bool, int]]:
    """Return grants and releases in their total order."""
    cycle = np.concatenate([record.grant[kept], record.release[kept]])
    is_grant = np.arange(2 * len(kept)) < len(kept)
    rank = is_grant if record.release_first else ~is_grant
    workgroup = np.concatenate([kept, kept])
    order = np.lexsort((record.serial[workgroup], rank, cycle))
    return list(zip(is_grant[order].tolist(), workgroup[order].tolist(), strict=True))


def queue_over_time(record: SharedMemoryRecord) -> Steps:
    """Return the number of workgroups that have joined the queue and are not granted yet (spec 1, R33a)."""
    one = np.ones(len(record.grant), np.int64)
    return added_up(0, (record.arrival, one), (record.grant, -one))


def free_over_time(record: SharedMemoryRecord) -> Steps:
    """Return the number of free segments (spec 1, R33b); before the first grant and after the last release all are."""
    return added_up(record.segments, (record.grant, -record.length), (record.release, record.length))
