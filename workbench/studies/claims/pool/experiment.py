"""The setting that the claims on the pool share: a DGX-1V, with times of the driver that are assumptions of ours."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

MACHINE = "dgx_1v"
DRIVER: dict[str, Any] = {"driver_alloc_ns": 20_000, "driver_free_ns": 20_000, "driver_ns_per_mib": 500}
"""Tens of microseconds a call and more for a large one: an assumption, not measured here."""
FULL: dict[str, Any] = {"regime": "one_card_full"}
GROWING: dict[str, Any] = {"regime": "one_card_full_lenders_grow"}
SKEWED: dict[str, Any] = {"regime": "mixed_jobs_skewed"}
BUSY: dict[str, Any] = {"regime": "mixed_jobs_busy"}
FITS: dict[str, Any] = {"regime": "data_parallel_fits"}


def experiment(workload: Any, options: Mapping[str, Any] | None = None, **policies: Any) -> dict[str, Any]:
    """Make a sweep on the board; seeds are added where it is run."""
    config = {"engine": "pool", "machine": MACHINE, "workload": workload, "policy": policies}
    return {**config, "options": {**DRIVER, **(options or {})}}
