"""The measures of a heap: time, tries, atomics, traffic, waste, and whether pieces are apart (spec 2, section 6).

Cycles count from 0. A measure that is not defined for a run (the latency where no request was served) is NaN. Over
time: the bytes held, and held for nothing (spec 2, V14, H2.7, H2.10, E3), and the threads that wait. Pieces are looked
at for overlaps, and for ends beyond their block (spec 2, R20, E1, H2.6).
"""

from __future__ import annotations

import math

import numpy as np

from workbench.compiled import kernel
from workbench.metrics.measure import Measure, declared
from workbench.metrics.statistics import Steps, added_up, cv, mean, over, quantile
from workbench.records.malloc import UNASKED, MallocRecord, given_up

WARP = 32
"""Threads in a row whose waiting is added up."""

_LATENCY = "from a thread's call until it has its address"

MEASURES = declared(
    Measure(
        "makespan_cycles",
        "cycles",
        "lower",
        "from cycle 0 until the last thread has its address or a refusal",
        compared_by="ratio",
    ),
    Measure(
        "latency_mean_cycles", "cycles", "lower", f"{_LATENCY}, averaged over those that got one", compared_by="ratio"
    ),
    Measure("latency_p99_cycles", "cycles", "lower", f"{_LATENCY}, 99th percentile", compared_by="ratio"),
    Measure(
        "threads_per_kilocycle",
        "threads",
        "higher",
        "threads that got memory, over the makespan in thousands",
        compared_by="ratio",
    ),
    Measure("lock_acquisitions", "times", "lower", "how often a lock was taken"),
    Measure("lock_attempts", "tries", "lower", "tries to take a lock, those in vain included"),
    Measure("lock_failures", "tries", "lower", "tries in vain: to take a lock, or to change a word that another did"),
    Measure("lock_failures_per_thread", "tries", "lower", "tries in vain over the threads that called"),
    Measure("heap_atomics", "operations", "lower", "atomic operations on the heap to allocate"),
    Measure(
        "heap_atomics_per_thread",
        "operations",
        "lower",
        "atomic operations on the heap to allocate, over the threads that called",
    ),
    Measure("instructions", "instructions", "lower", "of all tries, heap operations, sums over lanes and divisions"),
    Measure("metadata_transactions", "transactions", "lower", "reads and writes of locks, bitmaps, counters, headers"),
    Measure(
        "metadata_transactions_per_thread",
        "transactions",
        "lower",
        "reads and writes of metadata over the threads that called",
    ),
    Measure("failures", "threads", "lower", "threads that asked for memory and got none"),
    Measure("failure_rate", "", "lower", "threads that got no memory, as a share of those that called"),
    Measure("internal_fragmentation", "", "lower", "bytes that the heap gave and nobody asked for, over all it gave"),
    Measure(
        "fragmentation",
        "",
        "lower",
        "of the bytes of granted blocks, summed over time, the share that no thread has as it asked for them: "
        "rounding, headers, and pieces given up in blocks that the heap has not back; no holes between blocks",
    ),
    Measure("peak_heap_bytes", "bytes", "lower", "the most bytes that were granted at a time", compared_by="ratio"),
    Measure(
        "peak_extent_bytes",
        "bytes",
        "lower",
        "from the heap's first byte to the last that was ever granted",
        compared_by="ratio",
    ),
    Measure(
        "held_by_partly_freed_bytes",
        "bytes",
        "lower",
        "the most bytes at a time of pieces that were given up in blocks that the heap has not back",
    ),
    Measure(
        "power_proxy_cv",
        "",
        "lower",
        "proxy for power balance, as no power is simulated: cycles for which calls wait, summed over each 32 threads "
        "in a row (a warp), standard deviation over mean over the warps that called, as if a waiting thread polled "
        "with the same power everywhere; no watts, and nothing about caches or what else a warp does",
    ),
    Measure("overlap_bytes", "bytes", "lower", "bytes of pieces that lie in another piece of their block"),
    Measure("out_of_bounds_bytes", "bytes", "lower", "bytes of pieces beyond the end of their block"),
)


def measure(record: MallocRecord) -> dict[str, float]:
    """Compute every measure of a record, by name."""
    failed = int(((record.block < 0) & (record.request != -1)).sum())
    return {
        **_time(record),
        **_tries(record),
        "instructions": float(instructions(record)),
        **_per_thread(record, "metadata_transactions", transactions(record)),
        "failures": float(failed),
        "failure_rate": over(failed, len(record.arrival)),
        **memory_measures(record),
        "power_proxy_cv": cv(waiting_by_warp(record)),
        **piece_measures(record),
    }


def instructions(record: MallocRecord) -> int:
    """Count the instructions of all tries, heap operations, sums over the lanes, and divisions (spec 2, H2.4)."""
    work, vain = record.work, record.tried_in_vain
    operations = record.heap_atomics - (0 if record.locked else vain)
    divided = len(np.unique(record.owner))
    requests = len(record.leader)
    return work.tries * _attempts(record) + work.heap * operations + work.steps * requests + work.split * divided


def transactions(record: MallocRecord) -> int:
    """Count the reads and writes of the heap's metadata (spec 2, H2.9).

    Every try and every release of a lock, every look at it by who waits, every atomic operation, every word of a
    bitmap; of frees the count-down of a block with several pieces, and the return itself; a header of each block.
    """
    lock = _attempts(record) + record.acquisitions if record.locked else 0
    pieces = np.bincount(record.block[record.block >= 0], minlength=len(record.base))
    shared = (record.free_at >= 0) & (record.block >= 0)
    counted = int((pieces[record.block[shared]] > 1).sum())
    frees = counted + int((record.returned >= 0).sum())
    headers = len(record.base) if record.header_bytes else 0
    return lock + record.rereads + record.heap_atomics + record.words + frees + headers


def latencies(record: MallocRecord) -> np.ndarray:
    """Return the cycles from each call to its address: int64[threads that got one]."""
    got = record.block >= 0
    return record.ready[record.request[got]] - record.arrival[got]


def waiting_by_warp(record: MallocRecord) -> np.ndarray:
    """Return the cycles from a call to its address or refusal, summed over the calls of each warp that called:
    float64[warps], by thread number."""
    waited = np.zeros(len(record.arrival), np.int64)
    served = record.request >= 0
    waited[served] = record.ready[record.request[served]] - record.arrival[served]
    called = record.request != UNASKED
    _, warp = np.unique(record.thread[called] // WARP, return_inverse=True)
    return np.bincount(warp, weights=waited[called])


def _attempts(record: MallocRecord) -> int:
    return record.acquisitions + record.tried_in_vain


def _time(record: MallocRecord) -> dict[str, float]:
    latency, last = latencies(record), int(record.ready.max(initial=0))
    return {
        "makespan_cycles": float(last),
        "latency_mean_cycles": mean(latency),
        "latency_p99_cycles": quantile(latency, 0.99),
        "threads_per_kilocycle": over(1000 * len(latency), last),
    }


def _tries(record: MallocRecord) -> dict[str, float]:
    return {
        "lock_acquisitions": float(record.acquisitions),
        "lock_attempts": float(_attempts(record) if record.locked else 0),
        **_per_thread(record, "lock_failures", record.tried_in_vain),
        **_per_thread(record, "heap_atomics", record.heap_atomics),
    }


def _per_thread(record: MallocRecord, name: str, count: int) -> dict[str, float]:
    threads = len(record.arrival)
    return {name: float(count), f"{name}_per_thread": over(count, threads)}


def memory_measures(record: MallocRecord) -> dict[str, float]:
    """Compute the waste within blocks, the most that is granted, and the most that is given up and not back."""
    ends = (record.base + record.granules) * record.granule_bytes
    return {
        "internal_fragmentation": internal_fragmentation(record),
        "fragmentation": fragmentation(record),
        "peak_heap_bytes": float(held_over_time(record).value.max(initial=0)),
        "peak_extent_bytes": float(ends.max(initial=0)),
        "held_by_partly_freed_bytes": float(partly_freed_over_time(record).value.max(initial=0)),
    }


def internal_fragmentation(record: MallocRecord) -> float:
    """Compute the bytes granted that no thread asked for, over bytes granted; NaN where nothing was."""
    granted = int(record.granules.sum()) * record.granule_bytes
    requested = int(record.asked[record.block >= 0].sum())
    return 1 - requested / granted if granted else math.nan


def fragmentation(record: MallocRecord) -> float:
    """Compute the share of the granted bytes, summed over time, that no thread has as it asked for them; NaN of none.

    A piece counts from its block's grant until it is given up, a block until the heap has it back, both at the latest
    until the last event of the run.
    """
    got = record.block >= 0
    block, until = record.block[got], given_up(record)[got]
    end = max(int(one.max(initial=0)) for one in (record.ready, record.granted, record.returned, until))
    lasts = np.where(record.returned >= 0, record.returned, end) - record.granted
    had = np.where(until >= 0, until, end) - record.granted[block]
    held = float((record.granules * record.granule_bytes).astype(float) @ lasts)
    return 1 - float(record.asked[got].astype(float) @ had) / held if held else math.nan


def held_over_time(record: MallocRecord) -> Steps:
    """Return the bytes that are granted."""
    back = record.returned >= 0
    size = record.granules * record.granule_bytes
    return added_up(0, (record.granted, size), (record.returned[back], -size[back]))


def partly_freed_over_time(record: MallocRecord) -> Steps:
    """Return the bytes of pieces that were given up and whose block is still held."""
    until = given_up(record)
    gone = until >= 0
    back = record.returned[record.block[gone]]
    size = record.size[gone]
    return added_up(0, (until[gone], size), (back[back >= 0], -size[back >= 0]))


def piece_measures(record: MallocRecord) -> dict[str, float]:
    """Compute the bytes of pieces that lie in another one, and beyond the end of their block."""
    got = np.flatnonzero(record.block >= 0)
    block = record.block[got].astype(np.int64)
    start = record.offset[got] - record.origin[block]
    same = block[1:] == block[:-1]
    if not ((block[1:] > block[:-1]) | (same & (start[1:] >= start[:-1]))).all():
        order = np.lexsort((start, block))
        got, block, start = got[order], block[order], start[order]
    ends = record.bytes - record.header_bytes
    overlap, outside = _count(block, start, record.size[got], ends, np.zeros(2, np.int64))
    return {"overlap_bytes": float(overlap), "out_of_bounds_bytes": float(outside)}


@kernel
def _count(
    block: np.ndarray, start: np.ndarray, size: np.ndarray, ends: np.ndarray, counts: np.ndarray
) -> tuple[int, int]:
    """Walk the pieces by block and start; `reach` is where those before them in the block end."""
    reach = np.int64(0)
    for k in range(block.size):
        end = start[k] + size[k]
        if k == 0 or block[k] != block[k - 1]:
            reach = start[k]
        counts[0] += max(min(end, reach) - start[k], 0)
        counts[1] += max(end - max(start[k], ends[block[k]]), 0)
        reach = max(reach, end)
    return counts[0], counts[1]


SHARES = np.arange(0, 101, 5)
"""Per cent of all threads that got memory."""


def waiting_over_time(record: MallocRecord) -> Steps:
    """Count over time the threads that have called and have neither an address nor a refusal."""
    asks = record.request >= 0
    came, ready = record.arrival[asks], record.ready[record.request[asks]]
    ones = np.ones(len(came), np.int64)
    return added_up(0, (came, ones), (ready, -ones))


def latency_by_share(record: MallocRecord) -> np.ndarray:
    """Return the latency that so many per cent of the threads do not exceed: float64[21], NaN where no thread got
    memory."""
    latency = latencies(record)
    return np.percentile(latency, SHARES) if len(latency) else np.full(len(SHARES), np.nan)
