"""One run of a sweep's first point, as its record, for studies that look deeper than a sweep's measures."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from workbench.experiments.plan import make_plan
from workbench.experiments.sweep import read_sweep


def simulated(config: Mapping[str, Any], seed: int = 0) -> Any:
    """Return the record of the first point of a sweep that varies nothing; it is kept nowhere.

    Parameters
    ----------
    config : mapping
        Engine, machine, workload, policies and options, as a sweep says them.
    seed : int
        Names the random streams of the run.

    Returns
    -------
    The record of the sweep's engine, such as a `PoolRecord`.

    Raises
    ------
    InputError
        The sweep makes no sense.

    Examples
    --------
    >>> record = simulated({"engine": "pool", "workload": {"synthetic": "full_card", "footprint": 1.5}})
    >>> len(record.cards), int(record.asked.max()) <= int(record.capacity.max())
    (3, True)
    """
    plan = make_plan(read_sweep({**config, "seeds": 1}))
    return plan.sweep.mechanism.engine.simulate(plan.points[0].setup, seed)
