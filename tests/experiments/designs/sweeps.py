"""A sweep with ranges of every kind."""

from __future__ import annotations

import copy
from typing import Any

SWEEP: dict[str, Any] = {
    "engine": "shared_memory",
    "machine": {"segments": {"vary": {"from": 64, "to": 256}}},
    "workload": {
        "synthetic": "random_workgroups",
        "count": 20,
        "size": {"uniform": [1, {"vary": {"from": 8, "to": 64, "scale": "log"}}]},
        "arrival": {"poisson_load": {"vary": {"from": 0.3, "to": 1.2}}},
    },
    "policy": {
        "placement": {"vary": ["first_fit", {"nearest_boundary": {"tie": {"vary": True}}}]},
        "queue": {"fifo_lookahead": {"k": {"vary": {"from": 1, "to": 8}}}},
    },
    "baseline": {"placement": "first_fit"},
    "design": {"latin_hypercube": {"points": 16, "seed": 1}},
    "seeds": 2,
    "measures": ["drain_cycles"],
}
PATHS = [
    "machine.segments",
    "workload.size.uniform[1]",
    "workload.arrival.poisson_load",
    "policy.placement.nearest_boundary.tie",
    "policy.queue.fifo_lookahead.k",
]


def sweep(**changed: Any) -> dict[str, Any]:
    """The sweep with some keys changed; a key that is None is left out."""
    config = {**copy.deepcopy(SWEEP), **changed}
    return {key: value for key, value in config.items() if value is not None}


def one_range(vary: Any, **changed: Any) -> dict[str, Any]:
    """A sweep whose machine alone has a range."""
    config = {"engine": "shared_memory", "workload": {"regime": "small_uniform", "count": 20}, "design": {"sobol": 4}}
    return {**config, "machine": {"segments": {"vary": vary}}, **changed}
