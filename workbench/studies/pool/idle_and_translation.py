"""What does a limit on cached memory cost in translations? Physical releases shoot down pages, logical ones do not."""

from __future__ import annotations

import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

from workbench.errors import InputError
from workbench.metrics.pool import measure as measure_pool
from workbench.metrics.translation import measure as measure_translation
from workbench.records.pool import PoolRecord
from workbench.studies.pool.page_accesses import Touches, pool_accesses, write_pool_accesses
from workbench.studies.simulated import simulated
from workbench.workloads.accesses import Accesses

LIMITS = (0, 1 << 26, 1 << 27, 1 << 28, 1 << 29, None)
"""Cached bytes that a card may keep; None = all of them."""
CHURN = {
    "synthetic": "full_card",
    "footprint": 0.02,
    "others": 0.0,
    "renewed": 2000,
    "size": {"log_uniform": [1 << 20, 1 << 25]},
}
"""Blocks of 1 to 32 MiB that are given back and taken anew, so few that the shared TLB reaches all that live."""


class LimitAndPages(NamedTuple):
    """One limit, as the pool and the TLBs of one card see it."""

    limit_bytes: int | None
    """Cached bytes that a card may keep; None = all of them."""
    driver_calls_per_request: float
    cached_peak_bytes: float
    accesses: int
    shot_down_pages: int
    """Pages that were unmapped, each once for every physical release of it."""
    private_hit_rate: float
    walks_per_kilo: float
    """Walks of the page table per 1,000 accesses."""
    latency_mean_cycles: float


def idle_limit_and_translation(
    limits: Sequence[int | None] = LIMITS,
    workload: Any = CHURN,
    machine: Any = "dgx_1v",
    card: str = "gpu0",
    touches: Touches | None = None,
    seed: int = 0,
    **policy: Any,
) -> list[LimitAndPages]:
    """Run the pool once under several idle limits, each with what the TLBs of one card make of it.

    Parameters
    ----------
    limits : sequence of int or None
        Cached bytes that a card may keep; None = all of them.
    workload, machine
        The pool's, as a sweep says them.
    card : str
        Whose applications' accesses are translated, by cores of the usual translation machine.
    touches : Touches, optional
        How regions are touched; `cores_per_card` and `page_bytes` are the translation machine's too.
    policy
        Policies of the engine `translation` by slot, as a sweep says them.

    Raises
    ------
    InputError
        There is no limit, or one of the settings is wrong.

    References
    ----------
    spec 5, section 8 (physical release must invalidate, logical must not) and H5.8.

    Examples
    --------
    >>> few = {**CHURN, "footprint": 0.005, "renewed": 50}
    >>> nothing, everything = idle_limit_and_translation([0, None], few)
    >>> nothing.shot_down_pages > everything.shot_down_pages, nothing.walks_per_kilo > everything.walks_per_kilo
    (True, True)
    """
    if not limits:
        raise InputError("idle_limit_and_translation needs at least one limit. Got none.")
    how = touches or Touches.read({})
    with tempfile.TemporaryDirectory() as folder:
        rows = []
        for k, limit in enumerate(limits):
            record = _pool_run(limit, workload, machine, seed)
            accesses = pool_accesses(record, how, card)
            pages = _translated(accesses, how, policy, Path(folder) / f"{k}.csv")
            rows.append(_row(limit, measure_pool(record), accesses, pages))
        return rows


def _pool_run(limit: int | None, workload: Any, machine: Any, seed: int) -> PoolRecord:
    idle: Any = "keep_all" if limit is None else {"least_recently_used": {"limit_bytes_a_card": limit}}
    config = {"engine": "pool", "machine": machine, "workload": workload, "policy": {"idle_release": idle}}
    record: PoolRecord = simulated(config, seed)
    return record


def _translated(accesses: Accesses, how: Touches, policy: dict[str, Any], place: Path) -> dict[str, float]:
    """Compute the measures of the TLBs that serve accesses, by way of a file."""
    write_pool_accesses(accesses, place)
    machine = {"cores": how.cores_per_card, "page_bytes": how.page_bytes, "clock_mhz": how.clock_mhz}
    config = {"engine": "translation", "machine": machine, "workload": {"file": str(place)}, "policy": policy}
    return measure_translation(simulated(config))


def _row(limit: int | None, pool: dict[str, float], accesses: Accesses, pages: dict[str, float]) -> LimitAndPages:
    unmapped = 0 if accesses.unmap is None else int(accesses.unmap.sum())
    return LimitAndPages(
        limit_bytes=limit,
        driver_calls_per_request=pool["driver_calls_per_request"],
        cached_peak_bytes=pool["cached_peak_bytes"],
        accesses=accesses.cycle.size - unmapped,
        shot_down_pages=unmapped,
        private_hit_rate=pages["private_hit_rate"],
        walks_per_kilo=pages["walks_per_kilo"],
        latency_mean_cycles=pages["latency_mean_cycles"],
    )
