"""What a shared memory's record says over time: exact step functions of the cycle (spec 1, R33)."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from workbench.records.shared_memory import SharedMemoryRecord


class Steps(NamedTuple):
    """A quantity that changes at whole cycles and stays as it is between them.

    >>> steps = Steps(before=4, cycle=np.array([2, 5]), value=np.array([1, 3]))
    >>> steps.at(np.array([0, 2, 4, 5, 99]))
    array([4, 1, 1, 3, 3])
    """

    before: int
    """The value until the first change."""
    cycle: np.ndarray
    """int64[changes], strictly increasing: the cycles with an event."""
    value: np.ndarray
    """int64[changes], the value from each of these cycles until the next, every event of the cycle applied."""

    def at(self, cycles: np.ndarray) -> np.ndarray:
        """The value at each cycle: int64[cycles]; nothing is interpolated."""
        return np.concatenate([[self.before], self.value])[np.searchsorted(self.cycle, cycles, side="right")]


def queue_over_time(record: SharedMemoryRecord) -> Steps:
    """How many workgroups have joined the queue and are not granted yet (spec 1, R33a)."""
    one = np.ones(len(record.grant), np.int64)
    return _steps(0, (record.arrival, one), (record.grant, -one))


def free_over_time(record: SharedMemoryRecord) -> Steps:
    """How many segments are free (spec 1, R33b); before the first grant and after the last release all are."""
    return _steps(record.segments, (record.grant, -record.length), (record.release, record.length))


def _steps(before: int, *changes: tuple[np.ndarray, np.ndarray]) -> Steps:
    cycles = np.concatenate([cycle for cycle, _ in changes])
    order = np.argsort(cycles, kind="stable")
    ordered = cycles[order]
    values = before + np.concatenate([change for _, change in changes])[order].cumsum()
    last = np.flatnonzero(np.diff(ordered, append=np.iinfo(np.int64).max))
    return Steps(before, ordered[last], values[last])
