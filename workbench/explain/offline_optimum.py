"""The soonest that a small queue can drain at all, when the whole queue is known beforehand: a bound for every rule.

An exact integer program: one 0/1 variable for each workgroup, cycle and first segment. No two workgroups may hold a
segment in the same cycle, and no more are granted in a cycle than the allocator can. What the bound tells is how much
any placement rule, however clever, could still gain.
"""

from __future__ import annotations

from typing import Literal, NamedTuple

import numpy as np

from workbench.errors import InputError, unknown_name
from workbench.workloads.workload import Workgroups

MOST_VARIABLES = 200_000
Order = Literal["fifo", "any"]


class OfflineOptimum(NamedTuple):
    """A schedule that no other beats."""

    drain_cycles: int
    grant: np.ndarray
    """int64[workgroups], the cycle of each grant."""
    base: np.ndarray
    """int64[workgroups], the first segment of each grant."""


def offline_optimum(
    queue: Workgroups, segments: int, horizon: int, *, order: Order = "fifo", allocs_per_cycle: int = 1
) -> OfflineOptimum:
    """Find the least drain time of a queue, with a schedule that reaches it.

    Parameters
    ----------
    queue : Workgroups
        A small queue: workgroups x horizon x segments is at most 200,000.
    segments : int
        Of the memory.
    horizon : int
        A drain time that is known to be reachable, such as that of any policy.
    order : {"fifo", "any"}
        Whether grants keep the order of the queue, as a strict FIFO must, or may take any.
    allocs_per_cycle : int
        Most grants in one cycle.

    Raises
    ------
    InputError
        The instance is too large to be solved exactly, the horizon cannot be reached, or an option is unknown.

    References
    ----------
    spec 1, section 7 (offline optimum).

    Examples
    --------
    >>> queue = Workgroups(np.zeros(3, int), np.array([3, 3, 1]), np.array([4, 4, 6]))
    >>> offline_optimum(queue, 4, 12).drain_cycles, offline_optimum(queue, 4, 12, order="any").drain_cycles
    (11, 8)
    """
    from scipy.optimize import Bounds, LinearConstraint, milp

    if order not in ("fifo", "any"):
        raise unknown_name("", "order", order, ("fifo", "any"))
    starts = _starts(queue, segments, horizon)
    rows = [
        _once(queue, starts),
        _exclusive(queue, starts, segments, horizon),
        _quota(starts, horizon, allocs_per_cycle),
        _last_release(queue, starts),
    ]
    if order == "fifo":
        rows.append(_in_order(queue, starts))
    cost = np.zeros(len(starts) + 1)
    cost[-1] = 1
    whole = np.ones(len(cost), np.int64)
    constraints = [LinearConstraint(matrix, low, high) for matrix, low, high in rows if matrix.shape[0]]
    bounds = Bounds(np.zeros(len(cost)), np.append(np.ones(len(starts)), horizon))
    solution = milp(cost, constraints=constraints, integrality=whole, bounds=bounds)
    if solution.x is None:
        raise InputError(f"no schedule drains this queue within {horizon} cycles; give the drain time of any policy.")
    return _schedule(queue, starts, solution.x)


def _starts(queue: Workgroups, segments: int, horizon: int) -> np.ndarray:
    """Return the workgroup, cycle and first segment of every possible grant: int64[variables, 3]."""
    count = len(queue.length) * horizon * segments
    if count > MOST_VARIABLES:
        raise InputError(f"an exact optimum takes at most {MOST_VARIABLES:,} possible grants. Got {count:,}.")
    possible = [
        (j, t, b)
        for j in range(len(queue.length))
        for t in range(int(queue.arrival[j]), horizon - int(queue.duration[j]) + 1)
        for b in range(segments - int(queue.length[j]) + 1)
    ]
    return np.array(possible, np.int64).reshape(-1, 3)


_Rows = tuple[np.ndarray, np.ndarray | float, np.ndarray | float]


def _padded(matrix: np.ndarray) -> np.ndarray:
    return np.hstack([matrix, np.zeros((len(matrix), 1))])


def _once(queue: Workgroups, starts: np.ndarray) -> _Rows:
    matrix = (starts[:, 0] == np.arange(len(queue.length))[:, None]).astype(float)
    return _padded(matrix), 1, 1


def _exclusive(queue: Workgroups, starts: np.ndarray, segments: int, horizon: int) -> _Rows:
    j, t, b = starts.T
    cycle, segment = (axis.ravel()[:, None] for axis in np.meshgrid(range(horizon), range(segments), indexing="ij"))
    held = (t <= cycle) & (cycle < t + queue.duration[j]) & (b <= segment) & (segment < b + queue.length[j])
    return _padded(held.astype(float)), 0, 1


def _quota(starts: np.ndarray, horizon: int, allocs_per_cycle: int) -> _Rows:
    return _padded((starts[:, 1] == np.arange(horizon)[:, None]).astype(float)), 0, allocs_per_cycle


def _last_release(queue: Workgroups, starts: np.ndarray) -> _Rows:
    """Require that the drain time is at least every workgroup's release."""
    j, t, _ = starts.T
    release = np.where(j == np.arange(len(queue.length))[:, None], t + queue.duration[j], 0).astype(float)
    return np.hstack([-release, np.ones((len(release), 1))]), 0, np.inf


def _in_order(queue: Workgroups, starts: np.ndarray) -> _Rows:
    j, t, _ = starts.T
    when = np.where(j == np.arange(len(queue.length))[:, None], t, 0).astype(float)
    return _padded(when[1:] - when[:-1]), 0, np.inf


def _schedule(queue: Workgroups, starts: np.ndarray, solution: np.ndarray) -> OfflineOptimum:
    chosen = starts[solution[:-1] > 0.5]
    chosen = chosen[np.argsort(chosen[:, 0])]
    return OfflineOptimum(round(solution[-1]), chosen[:, 1].copy(), chosen[:, 2].copy())
