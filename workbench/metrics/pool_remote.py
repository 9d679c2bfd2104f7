"""How far away borrowed memory lies: the reading of it over its paths, at every moment of a run (spec 5, section 7)."""

from __future__ import annotations

import math

import numpy as np

from workbench.records.pool import PoolRecord
from workbench.records.pool_stays import remote, stays_of


def borrowed_reading_mean_ns(record: PoolRecord) -> float:
    """Compute how long reading every borrowed byte once over its path would take, averaged over the run; NaN for one
    moment.

    A region counts with the bytes that were asked for over the narrowest link of its path, on each card from the
    request that brought it there to the one that took it away (or the last), by the `clock` of requests, so that it
    weighs the same under every policy that lets nobody wait. Times the run's length it is the sum over borrowed regions
    of bytes x time / bandwidth.

    References
    ----------
    spec 5, E14 (report remote-access time) and section 7 (offline optimum), whose bound this is held against.
    """
    time = clock(record)
    if time.size < 2 or time[-1] == time[0]:
        return math.nan
    stays = stays_of(record)
    away = remote(record, stays)
    region, moment = stays.region[away], np.append(time, time[-1])
    reading = record.asked[region] / record.gbps[stays.card[away], record.borrower[region]]
    lasts = moment[stays.last[away]] - moment[stays.first[away]]
    return float(reading @ lasts) / float(time[-1] - time[0])


def clock(record: PoolRecord) -> np.ndarray:
    """Return when each request was sent, or the latest before it, int64[requests], nanoseconds: one that waited counts
    from then on.

    What the service itself takes is left out, which differs from policy to policy.
    """
    latest: np.ndarray = np.maximum.accumulate(record.time)
    return latest
