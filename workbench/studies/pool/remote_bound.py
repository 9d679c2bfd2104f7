"""How near could borrowed memory lie at all? Bounds for every target policy, with the whole run known beforehand."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from workbench.errors import InputError
from workbench.studies.pool.demand import Demand, fullest_moments, loads
from workbench.studies.pool.transport import least_reading

MOST_ENTRIES = 1_000_000
MOST_WHOLE_ENTRIES = 4_000


def moving_bound(demand: Demand) -> float:
    """Compute the least `borrowed_reading_mean_ns` of any policy that grants the demand, even if it moves and divides
    regions.

    At every moment a policy that grants all has laid each borrower's live bytes on cards that hold no more than they
    have, so its bytes by borrower and card are a feasible flow of that moment's transportation problem, and reading
    them takes at least the minimum. Between two requests nothing comes or goes, so that minimum stands until the next
    request, and the mean of the minima over time is at most the policy's own mean. No step asks that a region stay
    whole or where it was, or that the future be unknown, so that no policy escapes by moving, dividing or foreseeing.

    A policy that refuses something, or lets it wait, is not bound by this: hold it against the bound of what it
    granted, when it did (`demand_of(record, granted_only=True)`), and tell the share granted beside it.

    Returns
    -------
    float
        Nanoseconds; infinite where the demand never fits as a whole; NaN where the run lasts no time.

    References
    ----------
    spec 5, section 7 (offline optimum by min-cost flow).

    Examples
    --------
    Card 0 has 100 bytes and wants 150 for half of the time; 20 of them lie 10 GB/s away and 30 of them 5 GB/s.

    >>> gbps = np.array([[np.inf, 10, 5], [10, np.inf, 5], [5, 5, np.inf]])
    >>> once = np.array([0]), np.array([1]), np.array([150]), np.array([0])
    >>> asked = Demand(np.array([0, 50, 100]), *once, np.array([100, 20, 50]), gbps, np.ones(3, bool))
    >>> moving_bound(asked)
    4.0
    """
    least = least_reading(demand, loads(demand))
    return math.inf if np.isinf(least).any() else _mean(float(least @ demand.lasts), demand)


def _mean(total: float, demand: Demand) -> float:
    span = int(demand.lasts.sum())
    return total / span if span else math.nan


def fixed_bound(demand: Demand, whole: bool = False) -> float:
    """Compute the same for policies that leave a region where they put it: the linear relaxation, or whole regions
    alone.

    One variable says which share of a region lies on a card for its whole life; at each moment before a region goes
    (a maximal clique of the regions' lives) no card holds more than it has. Shares that stay are shares that could
    move, so this is at least `moving_bound`; whole regions are shares of 0 and 1, so it is at most the optimum with
    `whole`; and a policy that never moves a region has such whole shares, so its own value is at least that optimum.

    Parameters
    ----------
    whole : bool
        Each region lies on one card: the exact optimum, for tiny demands.

    Returns
    -------
    float
        Nanoseconds; infinite where no such placing exists; NaN where the run lasts no time.

    Raises
    ------
    InputError
        The programme is too large (`entries_of`): at most 1,000,000 entries, of whole regions 4,000.

    References
    ----------
    spec 5, section 7 (offline optimum), E17 (what a policy without migration leaves on the table).

    Examples
    --------
    Card 0 has nothing; of two regions of 6 bytes a whole one fits 10 GB/s away, with shares 10 of the 12 bytes do.

    >>> gbps = np.array([[np.inf, 10, 5], [10, np.inf, 5], [5, 5, np.inf]])
    >>> two = np.array([0, 1]), np.array([3, 3]), np.array([6, 6]), np.array([0, 0])
    >>> asked = Demand(np.array([0, 0, 10]), *two, np.array([0, 10, 50]), gbps, np.ones(3, bool))
    >>> round(fixed_bound(asked), 6), round(fixed_bound(asked, whole=True), 6)
    (1.4, 1.8)
    """
    from scipy.optimize import LinearConstraint, milp

    _check_entries(entries_of(demand), whole)
    fits = demand.size <= demand.capacity[:, None]
    region, card = np.nonzero((demand.allowed[:, demand.borrower] & fits).T)
    if np.unique(region).size < demand.size.size:
        return math.inf
    if not region.size:
        return _mean(0.0, demand)
    until = np.append(demand.time, demand.time[-1])[demand.end]
    lives = (until - demand.time[demand.begin])[region]
    cost = demand.size[region] / demand.gbps[card, demand.borrower[region]] * lives
    unit = max(float(cost.max()), 1.0)
    rows = [LinearConstraint(_once(region), 1, 1), *_room(demand, region, card)]
    solution = milp(cost / unit, integrality=np.full(region.size, int(whole)), constraints=rows, options=_EXACTLY)
    return math.inf if solution.x is None else _mean(float(solution.fun) * unit, demand)


_EXACTLY: Any = {"mip_rel_gap": 0.0}


def entries_of(demand: Demand) -> int:
    """Return how large the programme of `fixed_bound` is: cards x regions that live at the fullest moments, all
    together."""
    return demand.capacity.size * sum(live.size for live in fullest_moments(demand))


def _check_entries(count: int, whole: bool) -> None:
    most = MOST_WHOLE_ENTRIES if whole else MOST_ENTRIES
    if count > most:
        kind, cure = ("whole ", "relax it with whole=False") if whole else ("", "take moving_bound, which has no limit")
        raise InputError(f"a bound of {kind}fixed regions takes at most {most:,} entries. Got {count:,}; {cure}.")


def _once(region: np.ndarray) -> Any:
    """Require that all shares of a region together are the region."""
    from scipy.sparse import csr_array

    return csr_array((np.ones(region.size), (region, np.arange(region.size))))


def _room(demand: Demand, region: np.ndarray, card: np.ndarray) -> list[Any]:
    """Require that no card holds more than it has at any of the fullest moments; rows that cannot bind are left out."""
    from scipy.optimize import LinearConstraint
    from scipy.sparse import csr_array, vstack

    rows = []
    first = np.searchsorted(region, np.arange(demand.size.size + 1))
    for live in fullest_moments(demand):
        chosen = np.concatenate([np.arange(first[k], first[k + 1]) for k in live]) if live.size else live
        share = demand.size[region[chosen]] / demand.capacity[card[chosen]]
        tight = np.flatnonzero(np.bincount(card[chosen], share, demand.capacity.size) > 1)
        binds = np.isin(card[chosen], tight)
        place = np.searchsorted(tight, card[chosen][binds])
        rows.append(csr_array((share[binds], (place, chosen[binds])), (tight.size, region.size)))
    table = vstack(rows, format="csr") if rows else csr_array((0, region.size))
    return [LinearConstraint(table, -np.inf, 1)] if table.shape[0] else []
