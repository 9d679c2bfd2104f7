"""How much memory is held over time, and how much of it for nothing (spec 2, V14, H2.7, H2.10, E3)."""

from __future__ import annotations

import math

import numpy as np

from workbench.records.malloc import MallocRecord, given_up


def memory_measures(record: MallocRecord) -> dict[str, float]:
    """Waste within blocks, the most that is granted, and the most that is given up and not back."""
    held = held_over_time(record)
    ends = (record.base + record.granules) * record.granule_bytes
    return {
        "internal_fragmentation": internal_fragmentation(record),
        "peak_heap_bytes": float(held[1].max(initial=0)),
        "peak_extent_bytes": float(ends.max(initial=0)),
        "held_by_partly_freed_bytes": float(partly_freed_over_time(record)[1].max(initial=0)),
    }


def internal_fragmentation(record: MallocRecord) -> float:
    """Bytes granted that no thread asked for, over bytes granted; NaN where nothing was."""
    granted = int(record.granules.sum()) * record.granule_bytes
    asked = int(record.asked[record.block >= 0].sum())
    return 1 - asked / granted if granted else math.nan


def held_over_time(record: MallocRecord) -> tuple[np.ndarray, np.ndarray]:
    """The cycles at which the bytes granted change, and how many are granted from each on."""
    back = record.returned >= 0
    size = record.granules * record.granule_bytes
    return _running((record.granted, size), (record.returned[back], -size[back]))


def partly_freed_over_time(record: MallocRecord) -> tuple[np.ndarray, np.ndarray]:
    """The cycles at which the bytes of given-up pieces in blocks that are still held change, and how many there are."""
    until = given_up(record)
    gone = until >= 0
    back = record.returned[record.block[gone]]
    size = record.size[gone]
    return _running((until[gone], size), (back[back >= 0], -size[back >= 0]))


def _running(*changes: tuple[np.ndarray, np.ndarray]) -> tuple[np.ndarray, np.ndarray]:
    """The sum of changes after each cycle that has one."""
    cycle = np.concatenate([at for at, _ in changes])
    change = np.concatenate([amount for _, amount in changes])
    order = np.argsort(cycle, kind="stable")
    total = np.cumsum(change[order])
    last = np.flatnonzero(np.diff(cycle[order], append=-1))
    return cycle[order][last], total[last]
