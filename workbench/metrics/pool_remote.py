"""How far away borrowed memory lies: the reading of it over its paths, at every moment of a run (spec 5, section 7)."""

from __future__ import annotations

import math

import numpy as np

from workbench.metrics.pool_regions import freed_at
from workbench.records.pool import PoolRecord, borrowed


def borrowed_reading_mean_ns(record: PoolRecord) -> float:
    """How long reading every borrowed byte once over its path would take, averaged over the run; NaN for one moment.

    A region counts with the bytes that were asked for over the narrowest link of its path, from when it was asked for
    until its free was asked for (or the last request), so that it weighs the same under every policy. Times the run's
    length it is the sum over borrowed regions of bytes x time / bandwidth.

    References
    ----------
    spec 5, E14 (report remote-access time) and section 7 (offline optimum), whose bound this is held against.
    """
    if record.time.size < 2 or record.time[-1] == record.time[0]:
        return math.nan
    rows = np.flatnonzero(borrowed(record))
    reading = record.asked[rows] / record.gbps[record.card[rows], record.borrower[rows]]
    until = np.append(record.time, record.time[-1])[freed_at(record)[rows]]
    return float(reading @ (until - record.time[rows])) / float(record.time[-1] - record.time[0])
