"""Speed, as figures with what they are compared with in the same run.

Every benchmark is a function that returns rows `{name, variant, items, unit, seconds, items_per_second}`. It asserts
how many events there were, so that no speed comes from doing less. Nothing here is asserted about time: the bars are in
the README, and a figure counts only beside its reference in one run.
"""

from __future__ import annotations

import importlib
from collections.abc import Iterable
from typing import Any

BENCHMARKS = {
    "placement_drain": "benchmarks.placement_drain:placement_drain",
    "placement_drain_1824": "benchmarks.placement_drain:placement_drain_1824",
    "place_free": "benchmarks.place_free:place_free",
    "dispatch_full": "benchmarks.dispatch_full:dispatch_full",
    "pool_replay": "benchmarks.pool_replay:pool_replay",
    "pool_replay_growth": "benchmarks.pool_replay:pool_replay_growth",
    "torch_allocator": "benchmarks.torch_allocator:torch_allocator",
    "dispatch_full_256": "benchmarks.dispatch_full:dispatch_full_256",
    "malloc_warp": "benchmarks.malloc_warp:malloc_warp",
    "probe_exact_128": "benchmarks.probe_exact_128:probe_exact_128",
    "translation_lru": "benchmarks.translation_lru:translation_lru",
    "translation_evictions": "benchmarks.translation_evictions:translation_evictions",
    "translation_directory": "benchmarks.translation_directory:translation_directory",
    "translation_stream": "benchmarks.translation_stream:translation_stream",
    "sweep_10000_runs": "benchmarks.sweep:sweep_10000_runs",
    "runs_100000": "benchmarks.runner_scale:runs_100000",
    "fixed_cost_of_a_run": "benchmarks.runner_scale:fixed_cost_of_a_run",
    "node": "benchmarks.node:node",
    "costs_of_a_run": "benchmarks.costs_of_a_run:costs_of_a_run",
    "identity": "benchmarks.identity:identity",
    "two_workers": "benchmarks.runner_scale:two_workers",
    "pool_service": "benchmarks.pool_service:pool_service",
    "tuner_overhead": "benchmarks.tuner_overhead:tuner_overhead",
    "importers": "benchmarks.importers:importers",
    "first_results": "benchmarks.first_results:first_results",
}


def run(names: Iterable[str]) -> list[dict[str, Any]]:
    """Run benchmarks by name and return their rows."""
    rows: list[dict[str, Any]] = []
    for name in names:
        module, function = BENCHMARKS[name].split(":")
        rows.extend(getattr(importlib.import_module(module), function)())
    return rows
