"""How much memory is held over time, and how much of it for nothing (spec 2, V14, H2.7, H2.10, E3)."""

from __future__ import annotations

import math

import numpy as np

from workbench.metrics.steps import Steps, added_up
from workbench.records.malloc import MallocRecord, given_up


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
