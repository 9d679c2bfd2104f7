"""Slow twins of the measures of a heap: every byte of every piece, every cycle that has an event. Shares no code."""

from __future__ import annotations

import itertools
import math
import statistics


def measures(record) -> dict[str, float]:
    rows = range(len(record.arrival))
    got = [row for row in rows if record.block[row] >= 0]
    blocks = range(len(record.base))
    latency = sorted(int(record.ready[record.request[row]] - record.arrival[row]) for row in got)
    last = max(map(int, record.ready), default=0)
    until = {
        r: max(int(record.free_at[r]), int(record.ready[record.request[r]])) for r in got if record.free_at[r] >= 0
    }
    tries = record.acquisitions + record.tried_in_vain
    result = {
        "makespan_cycles": last,
        "latency_mean_cycles": sum(latency) / len(latency) if latency else math.nan,
        "latency_p99_cycles": latency[math.ceil(0.99 * len(latency)) - 1] if latency else math.nan,
        "threads_per_kilocycle": 1000 * len(got) / last if last else math.nan,
        "lock_acquisitions": record.acquisitions,
        "lock_attempts": tries if record.locked else 0,
        "lock_failures": record.tried_in_vain,
        "heap_atomics": record.heap_atomics,
        "failures": sum(record.block[row] < 0 and record.request[row] != -1 for row in rows),
        "instructions": _instructions(record, tries),
        "metadata_transactions": _transactions(record, tries, until),
    }
    for name in ("lock_failures", "heap_atomics", "metadata_transactions"):
        result[f"{name}_per_thread"] = result[name] / len(rows) if rows else math.nan
    result["failure_rate"] = result["failures"] / len(rows) if rows else math.nan
    granted = [int(record.granules[b]) * record.granule_bytes for b in blocks]
    requested = sum(int(record.asked[row]) for row in got)
    result["internal_fragmentation"] = 1 - requested / sum(granted) if granted else math.nan
    result["peak_extent_bytes"] = max(
        (int(record.base[b] + record.granules[b]) * record.granule_bytes for b in blocks), default=0
    )
    result["fragmentation"] = _fragmentation(record, got, until, granted)
    result["power_proxy_cv"] = _unevenness(record)
    times = {int(t) for t in record.granted} | set(until.values())
    held = partly = 0
    for now in times:
        live = [b for b in blocks if record.granted[b] <= now and not 0 <= record.returned[b] <= now]
        held = max(held, sum(granted[b] for b in live))
        partly = max(
            partly, sum(int(record.size[r]) for r, at in until.items() if at <= now and record.block[r] in live)
        )
    result |= {"peak_heap_bytes": held, "held_by_partly_freed_bytes": partly}
    overlap = outside = 0
    for block in blocks:
        seen: list[int] = []
        for row in (row for row in got if record.block[row] == block):
            first = int(record.offset[row] - record.origin[block])
            seen += range(first, first + int(record.size[row]))
        overlap += len(seen) - len(set(seen))
        outside += sum(byte >= record.bytes[block] - record.header_bytes for byte in seen)
    return {**result, "overlap_bytes": overlap, "out_of_bounds_bytes": outside}


def _fragmentation(record, got: list[int], until: dict[int, int], granted: list[int]) -> float:
    """From each event to the next: bytes of blocks that are held, and of pieces in them that somebody has."""
    back = {block: int(at) for block, at in enumerate(record.returned) if at >= 0}
    times = sorted({*map(int, record.granted), *map(int, record.ready), *until.values(), *back.values()})
    held = used = 0
    for now, following in itertools.pairwise(times):
        live = {b for b in range(len(granted)) if record.granted[b] <= now and now < back.get(b, times[-1])}
        had = [row for row in got if record.block[row] in live and now < until.get(row, times[-1])]
        held += sum(granted[b] for b in live) * (following - now)
        used += sum(int(record.asked[row]) for row in had) * (following - now)
    return 1 - used / held if held else math.nan


def _unevenness(record) -> float:
    waits: dict[int, int] = {}
    for row, thread in enumerate(record.thread.tolist()):
        request = int(record.request[row])
        if request != -2:
            waited = int(record.ready[request] - record.arrival[row]) if request >= 0 else 0
            waits[thread // 32] = waits.get(thread // 32, 0) + waited
    return statistics.pstdev(waits.values()) / statistics.mean(waits.values()) if sum(waits.values()) else math.nan


def _instructions(record, tries: int) -> int:
    operations = record.heap_atomics if record.locked else record.heap_atomics - record.tried_in_vain
    divided = len({int(owner) for owner in record.owner})
    work = record.work
    return work.tries * tries + work.heap * operations + work.steps * len(record.leader) + work.split * divided


def _transactions(record, tries: int, until: dict[int, int]) -> int:
    total = record.rereads + record.heap_atomics + record.words
    total += tries + record.acquisitions if record.locked else 0
    pieces = [int(b) for b in record.block if b >= 0]
    total += sum(pieces.count(int(record.block[row])) > 1 for row in until)
    total += sum(at >= 0 for at in record.returned)
    return total + (len(record.base) if record.header_bytes else 0)
