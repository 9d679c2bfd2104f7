"""A dispatcher's record as the passes over it read it, and what a dispatch takes."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from workbench.compiled import kernel
from workbench.records.dispatch import DispatchRecord


class Rows(NamedTuple):
    """Columns of a record; those of groups are as long as there are groups, the others as there are dispatches."""

    arrival: np.ndarray
    channel: np.ndarray
    waves: np.ndarray
    duration: np.ndarray
    demand: np.ndarray
    of_unit: np.ndarray
    """bool[resources]."""
    group: np.ndarray
    cycle: np.ndarray
    module: np.ndarray
    sent: np.ndarray
    level: np.ndarray
    shared_out: np.ndarray


def rows(record: DispatchRecord) -> Rows:
    """Return the columns of a record."""
    return Rows(*(getattr(record, name) for name in Rows._fields))


def releases(record: DispatchRecord) -> np.ndarray:
    """Return when each dispatch gives back what it took: int64[dispatches]."""
    return record.cycle + record.duration[record.group]


def makespan(record: DispatchRecord) -> int:
    """Return the cycle of the last release, 0 without groups."""
    return int(releases(record).max(initial=0))


def amounts(record: DispatchRecord) -> np.ndarray:
    """Return the blocks of each resource that each dispatch asked for: int64[dispatches, resources]."""
    blocks = np.zeros((len(record.group), len(record.resources)), np.int64)
    _set_amounts(rows(record), blocks)
    return blocks


@kernel
def _set_amounts(rows: Rows, blocks: np.ndarray) -> None:
    for dispatch in range(blocks.shape[0]):
        for resource in range(blocks.shape[1]):
            blocks[dispatch, resource] = taken(rows, dispatch, resource)


@kernel
def waves_of(rows: Rows, dispatch: int) -> int:
    """Return the waves of a dispatch."""
    total = 0
    for unit in range(rows.sent.shape[1]):
        total += rows.sent[dispatch, unit]
    return total


@kernel
def taken(rows: Rows, dispatch: int, resource: int) -> int:
    """Return the blocks of a resource that a dispatch asked for, in all units of its module.

    A placement that rounds up takes more: what it adds serves nobody, and is not counted as use.
    """
    group = rows.group[dispatch]
    need = rows.demand[group, resource]
    if rows.of_unit[resource]:
        return need * waves_of(rows, dispatch)
    if rows.shared_out[dispatch]:
        return -(-need * waves_of(rows, dispatch) // rows.waves[group])
    return need
