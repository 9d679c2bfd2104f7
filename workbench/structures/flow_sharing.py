"""Flows that share capacities fairly: no flow could be faster without a slower one becoming slower still (max-min).

Flows of one path have one rate, so they are kept together. The bytes that each flow of a path has moved since the path
was last idle are one number. A heap a path gives the flow that is done next. Whenever a flow begins or ends, all rates
are found again by progressive filling.

References
----------
D. Bertsekas, R. Gallager, "Data Networks", 2nd edition, section 6.5.2: max-min fair rates by progressive filling.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from workbench.compiled import by_reference, kernel, routine

WAITING = -1.0


class Flows(NamedTuple):
    """The flows in the order in which they begin, and the paths that they take."""

    start: np.ndarray
    """float64[flows], when each begins, not decreasing."""
    amount: np.ndarray
    """float64[flows], what each moves, above 0."""
    path: np.ndarray
    """int64[flows], the path of each."""
    capacity: np.ndarray
    """float64[resources], what each carries in a unit of time, above 0."""
    first: np.ndarray
    """int64[paths + 1], where the resources of each path begin in `resource`; a path with flows has one at least."""
    resource: np.ndarray
    """int64[...]."""


class Moving(NamedTuple):
    """The state: what is under way on each path."""

    running: np.ndarray
    """int64[paths], flows under way."""
    rate: np.ndarray
    """float64[paths], the rate of each of its flows."""
    moved: np.ndarray
    """float64[paths], what each of its flows has moved since the path was idle, had it begun then."""
    place: np.ndarray
    """int64[paths + 1], where the heap of each path begins."""
    target: np.ndarray
    """float64[flows], what `moved` will be when a flow is done."""
    flow: np.ndarray
    """int64[flows], which flow that is."""
    left: np.ndarray
    """float64[resources], capacity that is not given out yet."""
    wanting: np.ndarray
    """int64[resources], flows whose rate is not known yet."""
    busy: np.ndarray
    """int64[paths], the paths with flows under way."""
    finish: np.ndarray
    """float64[flows], when each is done."""


def finishing_times(flows: Flows) -> np.ndarray:
    """Return the time at which each flow is done: float64[flows].

    >>> one_link = (np.array([10.0]), np.array([0, 1]), np.array([0]))
    >>> finishing_times(Flows(np.array([0.0, 5.0]), np.array([100.0, 25.0]), np.array([0, 0]), *one_link))
    array([12.5, 10. ])
    """
    paths = flows.first.size - 1
    each = np.bincount(flows.path, minlength=paths)
    moving = Moving(
        running=np.zeros(paths, np.int64),
        rate=np.zeros(paths),
        moved=np.zeros(paths),
        place=np.concatenate([[0], each.cumsum()]),
        target=np.zeros(flows.start.size),
        flow=np.zeros(flows.start.size, np.int64),
        left=np.zeros(flows.capacity.size),
        wanting=np.zeros(flows.capacity.size, np.int64),
        busy=np.zeros(paths, np.int64),
        finish=np.zeros(flows.start.size),
    )
    _run(flows, moving)
    return moving.finish


@routine
def _run(flows: Flows, moving: Moving) -> None:
    reference, state = by_reference(flows), by_reference(moving)
    now, coming, busy = 0.0, 0, 0
    while coming < flows.start.size or busy > 0:
        due, first = math.inf, -1
        for k in range(busy):
            path = moving.busy[k]
            then = now + (moving.target[moving.place[path]] - moving.moved[path]) / moving.rate[path]
            if then < due:
                due, first = then, path
        begins = flows.start[coming] if coming < flows.start.size else math.inf
        # Rounding may put the end of a flow before now.
        until = max(min(due, begins), now)
        for k in range(busy):
            path = moving.busy[k]
            moving.moved[path] += moving.rate[path] * (until - now)
        now = until
        if due <= begins:
            _end(state, first, now)
        else:
            while coming < flows.start.size and flows.start[coming] == begins:
                _begin(reference, state, coming)
                coming += 1
        busy = _find_rates(reference, state)


@kernel
def _begin(flows: Flows, moving: Moving, flow: int) -> None:
    """Put a flow into the heap of its path."""
    path = flows.path[flow]
    if moving.running[path] == 0:
        # From 0 again, so that rounding does not add up over the whole run.
        moving.moved[path] = 0.0
    root, at = moving.place[path], moving.running[path]
    target = moving.moved[path] + flows.amount[flow]
    while at > 0 and moving.target[root + (at - 1) // 2] > target:
        _copy(moving, root + (at - 1) // 2, root + at)
        at = (at - 1) // 2
    moving.target[root + at], moving.flow[root + at] = target, flow
    moving.running[path] += 1


@kernel
def _end(moving: Moving, path: int, now: float) -> None:
    """Take out every flow of a path that is done, the first one certainly."""
    root = moving.place[path]
    # Not the rounded sum: it may lie just below the target, and the flow would not end.
    moving.moved[path] = moving.target[root]
    while moving.running[path] > 0 and moving.target[root] <= moving.moved[path]:
        moving.finish[moving.flow[root]] = now
        moving.running[path] -= 1
        _sift_down(moving, root, moving.running[path])


@kernel
def _sift_down(moving: Moving, root: int, count: int) -> None:
    """Put the last entry of a heap, which has so many without it, where the first one was."""
    target, flow, at = moving.target[root + count], moving.flow[root + count], 0
    while 2 * at + 1 < count:
        child = 2 * at + 1
        if child + 1 < count and moving.target[root + child + 1] < moving.target[root + child]:
            child += 1
        if moving.target[root + child] >= target:
            break
        _copy(moving, root + child, root + at)
        at = child
    moving.target[root + at], moving.flow[root + at] = target, flow


@kernel
def _copy(moving: Moving, source: int, to: int) -> None:
    moving.target[to], moving.flow[to] = moving.target[source], moving.flow[source]


@kernel
def _find_rates(flows: Flows, moving: Moving) -> int:
    """Raise all rates together, stop those that meet a full resource, go on with the rest; how many paths are busy."""
    busy = 0
    for k in range(flows.capacity.size):
        moving.left[k], moving.wanting[k] = flows.capacity[k], 0
    for path in range(moving.running.size):
        if moving.running[path] > 0:
            moving.busy[busy], moving.rate[path] = path, WAITING
            busy += 1
            for k in range(flows.first[path], flows.first[path + 1]):
                moving.wanting[flows.resource[k]] += moving.running[path]
    waiting = busy
    while waiting > 0:
        fair = _fair_share(moving)
        for k in range(busy):
            path = moving.busy[k]
            if moving.rate[path] == WAITING and _meets_full(flows, moving, path, fair):
                moving.rate[path] = fair
                waiting -= 1
                for it in range(flows.first[path], flows.first[path + 1]):
                    moving.left[flows.resource[it]] -= fair * moving.running[path]
                    moving.wanting[flows.resource[it]] -= moving.running[path]
    return busy


@kernel
def _fair_share(moving: Moving) -> float:
    """Return the least that a resource has for each flow whose rate is not known yet."""
    fair = math.inf
    for k in range(moving.left.size):
        if moving.wanting[k] > 0:
            fair = min(fair, max(moving.left[k], 0.0) / moving.wanting[k])
    return fair


@kernel
def _meets_full(flows: Any, moving: Moving, path: int, fair: float) -> bool:
    """Return whether a resource of the path has no more than the fair share for each."""
    for k in range(flows.first[path], flows.first[path + 1]):
        it = flows.resource[k]
        if max(moving.left[it], 0.0) / moving.wanting[it] <= fair:
            return True
    return False
