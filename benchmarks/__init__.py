"""Speed, as ratios of processor time: the workbench and a reference take turns in the same run.

Every benchmark is a function that returns rows of `benchmarks.turns`. It asserts how many events there were, so that no
speed comes from doing less. No test asserts a ratio. `python -m benchmarks` runs all of them and keeps the ratios that
docs/pages/speed.md shows.
"""

from __future__ import annotations

import importlib
from collections.abc import Iterable
from typing import Any

BENCHMARKS = {
    "placement_drain": "benchmarks.placement_drain:placement_drain",
    "placement_drain_1824": "benchmarks.placement_drain:placement_drain_1824",
    "place_free": "benchmarks.place_free:place_free",
    "probe_exact_128": "benchmarks.probe_exact_128:probe_exact_128",
    "dispatch_full": "benchmarks.dispatch_full:dispatch_full",
    "dispatch_full_256": "benchmarks.dispatch_full:dispatch_full_256",
    "translation_lru": "benchmarks.translation_lru:translation_lru",
    "translation_evictions": "benchmarks.translation_evictions:translation_evictions",
    "pool_growth": "benchmarks.pool_growth:pool_growth",
    "importers": "benchmarks.importers:importers",
    "tuner_overhead": "benchmarks.tuner_overhead:tuner_overhead",
    "first_results": "benchmarks.first_results:first_results",
}

LEGEND = (
    "ratio: processor time an item of the reference over that of the workbench; above 1 the workbench is faster",
    "low, high: the quartiles of the rounds, of which the ratio is the median; a round has a run of each side",
    "items: what one run of the workbench does; a reference that is slower may do fewer",
)


def run(names: Iterable[str]) -> list[dict[str, Any]]:
    """Run benchmarks by name and return their rows."""
    rows: list[dict[str, Any]] = []
    for name in names:
        module, function = BENCHMARKS[name].split(":")
        rows.extend(getattr(importlib.import_module(module), function)())
    return rows
