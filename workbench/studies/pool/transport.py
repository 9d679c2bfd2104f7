"""The least reading of memory that may lie anywhere and be divided at will: a transportation problem a moment."""

from __future__ import annotations

from typing import Any

import numpy as np

from workbench.studies.pool.demand import Demand


def least_reading(demand: Demand, load: np.ndarray) -> np.ndarray:
    """Compute how long reading every live byte once over its path takes at the least: float64[moments], nanoseconds.

    Each borrower's bytes go to cards that may hold them, no card gets more than it has, and a byte costs the
    reciprocal of its path's bandwidth, nothing at home. Infinite where no card is left for some byte.

    Where paths are the widest ones, cards that a bandwidth joins form groups within groups, and the minimum is a sum:
    of each group, what its members need beyond what they have must leave it, which costs at least the difference
    between the bandwidth that joins the group and the next lower one; filling the narrowest groups first costs no
    more. All moments are then one calculation in whole bytes. For paths of any other kind (direct links alone, hops
    that are penalised) HiGHS solves the min-cost flow, once for every different moment with a card too full.

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
    least[full] = np.array([by_flow(demand, one) for one in different])[place.reshape(-1)]
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
    """Return what all groups need beyond what they have: int64[moments]."""
    groups = np.unique(together, axis=0).astype(np.int64)
    left: np.ndarray = np.maximum(beyond @ groups.T, 0).sum(axis=1)
    return left


def by_flow(demand: Demand, load: np.ndarray) -> float:
    """Compute the same of one moment by a general min-cost flow, for paths of every kind; nanoseconds, infinite = none.

    Parameters
    ----------
    load : int64[cards]
        Bytes that the applications of each card have.

    Examples
    --------
    >>> gbps = np.array([[np.inf, 10, 5], [10, np.inf, 5], [5, 5, np.inf]])
    >>> nothing, cards = np.zeros(0, np.int64), np.array([100, 20, 50])
    >>> three = Demand(*[nothing] * 5, cards, gbps, np.ones(3, bool))
    >>> by_flow(three, np.array([150, 0, 0])), least_reading(three, np.array([[150, 0, 0]])).tolist()
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
