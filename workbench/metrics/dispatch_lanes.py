"""Where on a unit do the waves of a dispatch run? Each takes the lowest place that is free, as wave slots are given."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from workbench.metrics.dispatch_rows import releases
from workbench.records.dispatch import DispatchRecord


class Lanes(NamedTuple):
    """Places that dispatches take on units, one a row; two that are taken at a time never share one."""

    dispatch: np.ndarray
    """int64[places], increasing."""
    unit: np.ndarray
    """int64[places], of the dispatch's module."""
    lane: np.ndarray
    """int64[places], from 0."""


def lanes(record: DispatchRecord, kept: np.ndarray, one_each: bool = False) -> Lanes:
    """The places of some dispatches on the units that they send waves to.

    Parameters
    ----------
    kept : int64[some]
        Which dispatches, increasing; the others take no place.
    one_each : bool
        Whether a dispatch takes one place on a unit, however many waves run there, instead of one a wave.
    """
    free_from: dict[tuple[int, int], list[int]] = {}
    found: list[tuple[int, int, int]] = []
    ends = releases(record)
    for dispatch in kept.tolist():
        module, begin, end = int(record.module[dispatch]), int(record.cycle[dispatch]), int(ends[dispatch])
        for unit, waves in enumerate(record.sent[dispatch].tolist()):
            taken = free_from.setdefault((module, unit), [])
            for lane in _lowest(taken, begin, min(waves, 1) if one_each else waves):
                taken[lane] = end
                found.append((dispatch, unit, lane))
    return Lanes(*np.array(found, np.int64).reshape(-1, 3).T)


def _lowest(free_from: list[int], cycle: int, count: int) -> list[int]:
    """So many lanes that are free at a cycle, new ones where there are too few.

    >>> _lowest([5, 3, 9], 5, 3)
    [0, 1, 3]
    """
    found = [lane for lane, end in enumerate(free_from) if end <= cycle][:count]
    new = range(len(free_from), len(free_from) + count - len(found))
    free_from.extend(0 for _ in new)
    return [*found, *new]


def within(record: DispatchRecord, cycles: tuple[int, int] | None) -> np.ndarray:
    """The dispatches that run at least partly from one cycle to another, increasing: int64[some]; None = all."""
    if cycles is None:
        return np.arange(len(record.group))
    return np.flatnonzero((record.cycle < cycles[1]) & (releases(record) > cycles[0]))
