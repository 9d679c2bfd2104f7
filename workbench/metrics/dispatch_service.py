"""How evenly are the channels served that compete at one priority? (spec 3, H3.3)

At a dispatch the channels compete whose next group had arrived and is dispatched under the same priority in the end.
Each of them is owed an equal share of the dispatch. What a channel got less what it was owed is its lag; while all
compete all the time, lags differ between channels as their counts of services do.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from workbench.compiled import kernel
from workbench.metrics.dispatch_rows import Rows, rows
from workbench.metrics.statistics import over
from workbench.records.dispatch import DispatchRecord

CONTESTED, GAP = range(2)
NOBODY = -1


class Service(NamedTuple):
    """What the pass remembers and adds up."""

    following: np.ndarray
    """int64[dispatches], the next dispatch of the same channel, -1 = none."""
    head: np.ndarray
    """int64[channels], the next dispatch of each."""
    lag: np.ndarray
    """float64[channels, levels], dispatches that each got at each priority, less what it was owed."""
    picks: np.ndarray
    """int64[levels], dispatches at each priority so far."""
    since: np.ndarray
    """int64[channels], the pick after which each has waited at that priority all the time, -1 = it has not."""
    whole: np.ndarray
    """int64[2]: contested dispatches, the largest gap."""
    real: np.ndarray
    """float64[1]: the sum of the variances of the lags after contested dispatches."""


def service_measures(record: DispatchRecord) -> dict[str, float]:
    """Compute the variance of services over competing channels, averaged over the dispatches that two or more compete
    for, and the largest gap: dispatches at a priority from one of a waiting channel to its next, that one counted."""
    levels = int(record.level.max(initial=0)) + 1
    service = Service(
        np.full(len(record.group), NOBODY),
        np.full(record.channels, NOBODY),
        np.zeros((record.channels, levels)),
        np.zeros(levels, np.int64),
        np.full(record.channels, NOBODY),
        np.zeros(2, np.int64),
        np.zeros(1),
    )
    _pass(rows(record), service)
    contested = int(service.whole[CONTESTED])
    return {
        "service_variance": over(service.real[0], contested),
        "service_gap_max": float(service.whole[GAP]) if service.whole[GAP] else math.nan,
    }


@kernel
def _pass(rows: Rows, service: Service) -> None:
    for dispatch in range(rows.group.size - 1, -1, -1):
        channel = rows.channel[rows.group[dispatch]]
        service.following[dispatch] = service.head[channel]
        service.head[channel] = dispatch
    for dispatch in range(rows.group.size):
        channel, level = rows.channel[rows.group[dispatch]], rows.level[dispatch]
        service.picks[level] += 1
        if service.since[channel] != NOBODY:
            service.whole[GAP] = max(service.whole[GAP], service.picks[level] - service.since[channel])
        _share_out(rows, service, dispatch, channel, level)
        following = service.following[dispatch]
        service.head[channel] = following
        waits = following != NOBODY and _competes(rows, following, rows.cycle[dispatch], level)
        service.since[channel] = service.picks[level] if waits else NOBODY


@kernel
def _competes(rows: Rows, dispatch: int, cycle: int, level: int) -> bool:
    return rows.level[dispatch] == level and rows.arrival[rows.group[dispatch]] <= cycle


@kernel
def _share_out(rows: Rows, service: Service, dispatch: int, served: int, level: int) -> None:
    cycle, competing = rows.cycle[dispatch], 0
    for channel in range(service.head.size):
        head = service.head[channel]
        competing += head != NOBODY and _competes(rows, head, cycle, level)
    if competing < 2:
        return
    service.lag[served, level] += 1.0
    whole = squares = 0.0
    for channel in range(service.head.size):
        head = service.head[channel]
        if head != NOBODY and _competes(rows, head, cycle, level):
            service.lag[channel, level] -= 1.0 / competing
            whole += service.lag[channel, level]
            squares += service.lag[channel, level] ** 2
    service.whole[CONTESTED] += 1
    service.real[0] += squares / competing - (whole / competing) ** 2
