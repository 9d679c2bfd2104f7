"""What a pool was asked for, apart from what any policy made of it: the common ground of every bound."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from workbench.metrics.pool import clock
from workbench.records.pool import PoolRecord, freed_at, granted


class Demand(NamedTuple):
    """Regions that are asked for, and the cards on which they may lie."""

    time: np.ndarray
    """int64[requests], nanoseconds of each request, by `clock`; never decreasing."""
    begin: np.ndarray
    """int64[regions], the request that asks for each."""
    end: np.ndarray
    """int64[regions], the request that frees it; as many as there are requests where none does."""
    size: np.ndarray
    """int64[regions], bytes."""
    borrower: np.ndarray
    """int64[regions], the card on which its application runs."""
    capacity: np.ndarray
    """int64[cards], bytes that applications can have of each."""
    gbps: np.ndarray
    """float64[cards, cards], of the path from the card where a region lies to its application's; 0 = no path, infinite
    to itself."""
    lends: np.ndarray
    """bool[cards], whether a card's memory may hold regions of other cards' applications."""

    @property
    def lasts(self) -> np.ndarray:
        """Return the nanoseconds from each request to the next, during which nothing comes or goes: int64[requests]."""
        return np.diff(self.time, append=self.time[-1:])

    @property
    def allowed(self) -> np.ndarray:
        """Return whether an application of the column's card may have memory of the row's: bool[cards, cards]."""
        own = np.eye(len(self.capacity), dtype=bool)
        return (own | (self.lends[:, None] & (self.gbps > 0))) & (self.capacity > 0)[:, None]


def demand_of(record: PoolRecord, lends: np.ndarray | None = None, granted_only: bool = False) -> Demand:
    """Return the requests of a run: every allocation, also those that were refused.

    Parameters
    ----------
    lends : bool[cards], optional
        Which cards may lend; all of them if None.
    granted_only : bool
        Only what the run's policy granted: a bound of this holds for that policy even though it refused something.

    Examples
    --------
    >>> from workbench.explain.page_accesses import simulated
    >>> full = {"synthetic": "full_card", "footprint": 1.5}
    >>> demand = demand_of(simulated({"engine": "pool", "workload": full}))
    >>> int(loads(demand).max()) / int(demand.capacity[1])
    1.5
    """
    rows = np.flatnonzero(granted(record) if granted_only else record.action == 0)
    return Demand(
        time=clock(record),
        begin=rows,
        end=freed_at(record)[rows],
        size=record.asked[rows],
        borrower=record.borrower[rows],
        capacity=record.capacity,
        gbps=record.gbps,
        lends=np.ones(len(record.cards), bool) if lends is None else lends,
    )


def loads(demand: Demand) -> np.ndarray:
    """Return the bytes that the applications of each card have after each request, wherever they lie: int64[requests,
    cards]."""
    change = np.zeros((demand.time.size + 1, demand.capacity.size), np.int64)
    np.add.at(change, (demand.begin, demand.borrower), demand.size)
    np.subtract.at(change, (demand.end, demand.borrower), demand.size)
    return change[:-1].cumsum(axis=0)


def fullest_moments(demand: Demand) -> list[np.ndarray]:
    """Return the regions that live together at each moment before one of them goes: a region fits if it fits at these.

    Of neighboring moments the one with fewer regions holds nothing that the other does not.

    >>> nothing = np.zeros(0)
    >>> one_after = Demand(np.arange(4), np.array([0, 1, 3]), np.array([2, 4, 4]), *[nothing] * 5)
    >>> [regions.tolist() for regions in fullest_moments(one_after)]
    [[0, 1], [1, 2]]
    """
    ends = np.flatnonzero(demand.end < demand.time.size)
    row = np.concatenate([demand.begin, demand.end[ends]])
    region = np.concatenate([np.arange(demand.begin.size), ends])
    goes = np.arange(row.size) >= demand.begin.size
    live: set[int] = set()
    moments: list[np.ndarray] = []
    grown = False
    for place in np.argsort(row, kind="stable").tolist():
        if goes[place]:
            if grown:
                moments.append(np.array(sorted(live), np.int64))
            live.remove(int(region[place]))
        else:
            live.add(int(region[place]))
        grown = not goes[place]
    return [*moments, np.array(sorted(live), np.int64)] if grown else moments
