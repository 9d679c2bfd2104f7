"""How far is each target policy from the optimum? Every run of a sweep beside the bounds of its demand."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from workbench.experiments.plan import PlannedPoint
from workbench.experiments.run_set import RunSet
from workbench.metrics.pool import borrowed_reading_mean_ns
from workbench.records.pool import PoolRecord
from workbench.studies.pool.completion import granted_in_order
from workbench.studies.pool.demand import Demand, demand_of
from workbench.studies.pool.remote_bound import entries_of, fixed_bound, moving_bound

FIXED_ENTRIES = 200_000
"""Entries of the largest programme that is solved for every run: less than a second each."""


class OverBound(NamedTuple):
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
    """The least without moving regions (`fixed_bound`); NaN where its programme is too large."""
    bound_of_all_ns: float
    """The least for everything that was asked for; infinite where it does not fit as a whole."""

    @property
    def over(self) -> float:
        """Return the value over the bound, at least 1; NaN where nothing had to be borrowed."""
        return self.value_ns / self.bound_ns if self.bound_ns else math.nan


def over_bound(runs: RunSet, fixed_entries: int = FIXED_ENTRIES) -> list[OverBound]:
    """Return every finished run of a sweep of the pool beside its bounds, in the order of points and seeds.

    Runs are simulated again. A policy that refuses something is held against the bounds of what it granted.

    Parameters
    ----------
    runs : RunSet
        What `workbench.run` returns for the engine pool.
    fixed_entries : int
        How large a programme (`entries_of`) is solved for `fixed_bound`; 0 = none.

    References
    ----------
    spec 5, section 7 (offline optimum by min-cost flow: bound).

    Examples
    --------
    >>> import workbench as wb
    >>> full = {"synthetic": "full_card", "footprint": 1.5}
    >>> found = over_bound(wb.run({"engine": "pool", "workload": full, "seeds": 1}, workers=0))
    >>> [(one.granted_percent, round(one.over, 3)) for one in found]
    [(100.0, 2.322)]
    >>> [round(one.value_ns / one.fixed_bound_ns, 2) for one in found]      # all the rest is what moving would gain
    [1.0]
    """
    bounds = _Bounds(fixed_entries)
    return [
        _beside(point, seed, record, bounds)
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


def _beside(point: PlannedPoint, seed: int, record: PoolRecord, bounds: _Bounds) -> OverBound:
    options: Any = point.setup.options
    lends = ~record.hosts | options.cpus_lend
    demand, had = demand_of(record, lends), demand_of(record, lends, granted_only=True)
    everything = moving_bound(demand)
    fits = granted_in_order(demand) if math.isinf(everything) else np.ones(demand.size.size, bool)
    moving, fixed = bounds.of(had)
    return OverBound(
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
