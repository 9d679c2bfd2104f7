"""Small runs to export, with everything that a bundle can hold."""

from __future__ import annotations

from typing import Any

import workbench as wb

SWEEP: dict[str, Any] = {
    "question": "Does 100 % of it hold, & for whom?",
    "engine": "shared_memory",
    "machine": {"segments": 32},
    "workload": {"vary": ["small_uniform", {"regime": "bimodal", "count": 40}]},
    "policy": {"placement": {"vary": ["first_fit", {"nearest_boundary": {"tie": "high"}}]}},
    "baseline": {"placement": "first_fit"},
    "seeds": 6,
    "measures": ["drain_cycles", "mean_external_fragmentation", "low_end_share"],
}


def runs(**changed: Any) -> Any:
    """The results of the small sweep with some keys changed."""
    config = {**SWEEP, **changed}
    config["workload"] = changed.get(
        "workload", {"vary": [{"regime": name, "count": 40} for name in ("small_uniform", "bimodal")]}
    )
    if "machine" not in changed:
        config["machine"] = {"segments": 64}
    return wb.run({key: value for key, value in config.items() if value is not None})
