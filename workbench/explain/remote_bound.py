"""How near borrowed memory could lie at all: bounds for every target policy, and each policy compared with them.

The whole run is known beforehand. The least reading of memory that may lie anywhere and be divided at will is a
transportation problem a moment. Where regions stay as they were granted, it is an integer program.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from workbench.errors import InputError
from workbench.experiments.results import Results
from workbench.explain.pool_bounds import granted_in_order
from workbench.explain.pool_demand import Demand, demand_of, fullest_moments, loads
from workbench.metrics.pool import borrowed_reading_mean_ns
from workbench.records.pool import PoolRecord
from workbench.runs.run import PlannedPoint

FIXED_ENTRIES = 200_000
"""Entries of the largest program that is solved for every run: less than a second each."""


class BoundExcess(NamedTuple):
    """One run."""

    point: PlannedPoint
    seed: int
    granted_percent: float
    """Of the bytes that were asked for, those that the policy granted; NaN where nothing was asked for."""
    grantable_percent: float
    """Of the same bytes, those that are granted by a policy that refuses nothing that fits (`granted_in_order`)."""
    value_ns: float
    """The policy's own `borrowed_reading_mean_ns`."""
    bound_ns: float
    """The least that any policy needs for what this one granted (`moving_bound`)."""
    fixed_bound_ns: float
    """The least without moving regions (`fixed_bound`); NaN where its program is too large."""
    bound_of_all_ns: float
    """The least for everything that was asked for; infinite where it does not fit as a whole."""

    @property
    def over(self) -> float:
        """Return the value over the bound, at least 1; NaN where nothing had to be borrowed."""
        return self.value_ns / self.bound_ns if self.bound_ns else math.nan


def over_bound(runs: Results, fixed_entries: int = FIXED_ENTRIES) -> list[BoundExcess]:
    """Return every finished run of a sweep of the pool with its bounds, in the order of points and seeds.

    Runs are simulated again. A policy that refuses something is held against the bounds of what it granted.

    Parameters
    ----------
    runs : Results
        What `workbench.run` returns for the engine pool.
    fixed_entries : int
        How large a program (`entries_of`) is solved for `fixed_bound`; 0 = none.

    References
    ----------
    spec 5, section 7 (offline optimum by min-cost flow: bound).

    Examples
    --------
    >>> import workbench as wb
    >>> full = {"synthetic": "full_card", "footprint": 1.5}
    >>> result = over_bound(wb.run({"engine": "pool", "workload": full, "seeds": 1}, workers=0))
    >>> [(one.granted_percent, round(one.over, 3)) for one in result]
    [(100.0, 2.322)]
    >>> [round(one.value_ns / one.fixed_bound_ns, 2) for one in result]      # all the rest is what moving would gain
    [1.0]
    """
    bounds = _Bounds(fixed_entries)
    return [
        _over_bound(point, seed, record, bounds)
        for point in runs.points
        for seed, record in zip(runs.values(point, "completed_rate"), runs.records(point), strict=True)
    ]


class _Bounds:
    """Both bounds of a demand; of policies that grant the same they are calculated once."""

    def __init__(self, fixed_entries: int) -> None:
        self._most = fixed_entries
        self._known: dict[tuple[bytes, ...], tuple[float, float]] = {}

    def of(self, demand: Demand) -> tuple[float, float]:
        key = tuple(column.tobytes() for column in demand)
        if key not in self._known:
            small = entries_of(demand) <= self._most
            self._known[key] = moving_bound(demand), fixed_bound(demand) if small else math.nan
        return self._known[key]


def _over_bound(point: PlannedPoint, seed: int, record: PoolRecord, bounds: _Bounds) -> BoundExcess:
    options: Any = point.setup.options
    lends = ~record.hosts | options.cpus_lend
    demand, had = demand_of(record, lends), demand_of(record, lends, granted_only=True)
    everything = moving_bound(demand)
    fits = granted_in_order(demand) if math.isinf(everything) else np.ones(demand.size.size, bool)
    moving, fixed = bounds.of(had)
    return BoundExcess(
        point=point,
        seed=seed,
        granted_percent=_percent(had.size.sum(), demand),
        grantable_percent=_percent(demand.size[fits].sum(), demand),
        value_ns=borrowed_reading_mean_ns(record),
        bound_ns=moving,
        fixed_bound_ns=fixed,
        bound_of_all_ns=everything,
    )


def _percent(size: int, demand: Demand) -> float:
    return 100 * float(size) / float(demand.size.sum()) if demand.size.size else math.nan


MOST_ENTRIES, MOST_WHOLE_ENTRIES = 1_000_000, 4_000
"""Entries of the largest program that `fixed_bound` solves, of shares and of whole regions."""


def moving_bound(demand: Demand) -> float:
    """Compute the least `borrowed_reading_mean_ns` of any policy that grants the demand, even if it moves and divides
    regions.

    At every moment a policy that grants all has laid each borrower's live bytes on cards that hold no more than they
    have. So its bytes by borrower and card are a feasible flow of that moment's transportation problem, and reading
    them takes at least the minimum. Between two requests nothing comes or goes, so that minimum stands until the next
    request, and the mean of the minima over time is at most the policy's own mean. No step asks that a region stay
    whole or where it was, or that the future be unknown, so that no policy escapes by moving, dividing or foreseeing.

    A policy that refuses something, or lets it wait, is not bound by this. Compare it with the bound of the granted
    requests, at the times at which it granted them (`demand_of(record, granted_only=True)`). Report the share granted
    as well.

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
    >>> demand = Demand(np.array([0, 50, 100]), *once, np.array([100, 20, 50]), gbps, np.ones(3, bool))
    >>> moving_bound(demand)
    4.0
    """
    least = least_reading(demand, loads(demand))
    return math.inf if np.isinf(least).any() else _mean(float(least @ demand.lasts), demand)


def _mean(total: float, demand: Demand) -> float:
    span = int(demand.lasts.sum())
    return total / span if span else math.nan


def fixed_bound(demand: Demand, whole: bool = False) -> float:
    """Compute the least `borrowed_reading_mean_ns` of any policy that grants the demand and leaves a region where it is
    put: the linear relaxation, or whole regions alone.

    One variable says which share of a region lies on a card for its whole life; at each moment before a region goes
    (a maximal clique of the regions' lives) no card holds more than it has. Shares that stay are shares that could
    move, so this is at least `moving_bound`. Whole regions are shares of 0 and 1, so it is at most the optimum with
    `whole`. A policy that never moves a region has such whole shares, so its own value is at least that optimum.

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
        The program is too large (`entries_of`): at most 1,000,000 entries, of whole regions 4,000.

    References
    ----------
    spec 5, section 7 (offline optimum), E17 (what a policy without migration leaves on the table).

    Examples
    --------
    Card 0 has nothing; of two regions of 6 bytes a whole one fits 10 GB/s away, with shares 10 of the 12 bytes do.

    >>> gbps = np.array([[np.inf, 10, 5], [10, np.inf, 5], [5, 5, np.inf]])
    >>> two = np.array([0, 1]), np.array([3, 3]), np.array([6, 6]), np.array([0, 0])
    >>> demand = Demand(np.array([0, 0, 10]), *two, np.array([0, 10, 50]), gbps, np.ones(3, bool))
    >>> round(fixed_bound(demand), 6), round(fixed_bound(demand, whole=True), 6)
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
    rows = [LinearConstraint(_once(region), 1, 1), *_capacity(demand, region, card)]
    solution = milp(cost / unit, integrality=np.full(region.size, int(whole)), constraints=rows, options=_EXACTLY)
    return math.inf if solution.x is None else _mean(float(solution.fun) * unit, demand)


_EXACTLY: Any = {"mip_rel_gap": 0.0}


def entries_of(demand: Demand) -> int:
    """Return the size of the program of `fixed_bound`: cards x regions that live at the fullest moments, all
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


def _capacity(demand: Demand, region: np.ndarray, card: np.ndarray) -> list[Any]:
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


def least_reading(demand: Demand, load: np.ndarray) -> np.ndarray:
    """Compute how long reading every live byte once over its path takes at the least: float64[moments], nanoseconds.

    Each borrower's bytes go to cards that may hold them, no card gets more than it has, and a byte costs the
    reciprocal of its path's bandwidth, nothing at home. Infinite where no card is left for some byte.

    Where paths are the widest ones, cards that a bandwidth joins form groups within groups, and the minimum is a sum
    over groups. What the members of a group need beyond what they have must leave it. That costs at least the
    difference between the bandwidth that joins the group and the next lower one. Filling the narrowest groups first
    costs no more. All moments are then one calculation in whole bytes. For paths of any other kind (direct links alone,
    hops that are penalized) HiGHS solves the min-cost flow, once for every different moment with a card too full.

    Parameters
    ----------
    demand : Demand
        Its cards and paths.
    load : int64[moments, cards]
        Bytes that the applications of each card have.

    References
    ----------
    spec 5, section 7 (offline optimum by min-cost flow); F. L. Hitchcock, "The distribution of a product from several
    sources to numerous localities", J. Math. Phys. 20, 1941.
    """
    if is_nested(demand.gbps):
        return _of_groups(demand, load)
    least, full = np.zeros(len(load)), np.flatnonzero((load > demand.capacity).any(axis=1))
    different, place = np.unique(load[full], axis=0, return_inverse=True)
    least[full] = np.array([min_cost_flow_time(demand, one) for one in different])[place.reshape(-1)]
    return least


def is_nested(gbps: np.ndarray) -> bool:
    """Return whether two cards are never joined worse than over a third one, in both directions alike.

    >>> is_nested(np.array([[np.inf, 12], [12, np.inf]]))
    True
    """
    over_a_third = np.minimum(gbps[:, :, None], gbps[None, :, :]).max(axis=1)
    return bool((gbps == gbps.T).all() and (gbps >= over_a_third).all())


def _of_groups(demand: Demand, load: np.ndarray) -> np.ndarray:
    beyond = np.where(demand.lends, load - demand.capacity, np.maximum(load - demand.capacity, 0))
    together, cost, least = np.eye(len(demand.capacity), dtype=bool), 0.0, np.zeros(len(load))
    widths = np.unique(demand.gbps[np.isfinite(demand.gbps) & (demand.gbps > 0)])
    for width in widths[::-1]:
        least += (1 / width - cost) * _leaving(beyond, together)
        together, cost = demand.gbps >= width, 1 / width
    return np.where(_leaving(beyond, together) > 0, np.inf, least)


def _leaving(beyond: np.ndarray, together: np.ndarray) -> np.ndarray:
    """Return the need of all groups beyond what they have: int64[moments]."""
    groups = np.unique(together, axis=0).astype(np.int64)
    left: np.ndarray = np.maximum(beyond @ groups.T, 0).sum(axis=1)
    return left


def min_cost_flow_time(demand: Demand, load: np.ndarray) -> float:
    """Compute the least reading time of one moment by min-cost flow, for paths of every kind; infinite = impossible.

    Parameters
    ----------
    load : int64[cards]
        Bytes that the applications of each card have.

    Examples
    --------
    >>> gbps = np.array([[np.inf, 10, 5], [10, np.inf, 5], [5, 5, np.inf]])
    >>> nothing, cards = np.zeros(0, np.int64), np.array([100, 20, 50])
    >>> three = Demand(*[nothing] * 5, cards, gbps, np.ones(3, bool))
    >>> min_cost_flow_time(three, np.array([150, 0, 0])), least_reading(three, np.array([[150, 0, 0]])).tolist()
    (8.0, [8.0])
    """
    from scipy.optimize import linprog
    from scipy.sparse import csr_array

    holder, borrower = np.nonzero(demand.allowed & (load > 0))
    unit, arcs = float(max(demand.capacity.max(), 1)), np.arange(holder.size)
    cards, ones = len(load), np.ones(holder.size)
    needs: Any = csr_array((ones, (borrower, arcs)), (cards, holder.size))
    holds: Any = csr_array((ones, (holder, arcs)), (cards, holder.size))
    cost = 1 / demand.gbps[holder, borrower]
    solution: Any = (
        linprog(cost, holds, demand.capacity / unit, needs, load / unit, method="highs") if arcs.size else None
    )
    if solution is None:
        return np.inf if load.any() else 0.0
    return float(solution.fun) * unit if solution.status == 0 else np.inf
