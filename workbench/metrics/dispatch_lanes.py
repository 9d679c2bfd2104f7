"""Where on a unit do the waves of a dispatch run? Each takes the lowest place that is free, as wave slots are given."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from workbench.compiled import kernel
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
    """Return the places of some dispatches on the units that they send waves to.

    Parameters
    ----------
    kept : int64[some]
        Which dispatches, increasing; the others take no place.
    one_each : bool
        Whether a dispatch takes one place on a unit, however many waves run there, instead of one a wave.
    """
    wanted = record.sent[kept].astype(np.int64)
    if one_each:
        wanted = np.minimum(wanted, 1)
    request = Asked(kept.astype(np.int64), record.module[kept].astype(np.int64), wanted, record.cycle[kept])
    places = Lanes(*np.empty((3, int(wanted.sum())), np.int64))
    most = 1 + int(wanted.max(initial=0))
    while not _place(request, releases(record)[kept], np.zeros((record.modules, record.units, most), np.int64), places):
        most *= 2
    return places


class Asked(NamedTuple):
    """What looks for places, one row a dispatch, in the order of their cycles."""

    dispatch: np.ndarray
    """int64[some]."""
    module: np.ndarray
    """int64[some]."""
    places: np.ndarray
    """int64[some, units], how many each wants on each unit."""
    begin: np.ndarray
    """int64[some], the cycle from which it takes them."""


@kernel
def _place(request: Asked, end: np.ndarray, free_from: np.ndarray, places: Lanes) -> bool:
    """Give every dispatch its places; False where a unit has too few.

    `free_from` holds the cycle from which each place is free: int64[modules, units, places].
    """
    row = 0
    for k in range(request.dispatch.size):
        module = request.module[k]
        for unit in range(request.places.shape[1]):
            lane = 0
            for _ in range(request.places[k, unit]):
                while lane < free_from.shape[2] and free_from[module, unit, lane] > request.begin[k]:
                    lane += 1
                if lane == free_from.shape[2]:
                    return False
                free_from[module, unit, lane] = end[k]
                places.dispatch[row] = request.dispatch[k]
                places.unit[row] = unit
                places.lane[row] = lane
                row += 1
                lane += 1
    return True


def within(record: DispatchRecord, cycles: tuple[int, int] | None) -> np.ndarray:
    """Return the dispatches that run at least partly from one cycle to another, increasing: int64[some]; None = all."""
    if cycles is None:
        return np.arange(len(record.group))
    return np.flatnonzero((record.cycle < cycles[1]) & (releases(record) > cycles[0]))
