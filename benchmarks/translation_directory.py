"""Cores with private TLBs, a mesh and a directory: 16 cores, and 80."""

from __future__ import annotations

from typing import Any

import numpy as np

from benchmarks.row import fastest, row
from benchmarks.translation_lru import zipf_pages
from benchmarks.translation_runs import GivenPages, simulated
from workbench.records.translation import accesses

ACCESSES = 4_000_000
COMMON, OWN, EVERY = 256, 64, 16
"""Pages of all cores, pages of each, and cycles from one access to the next: eight walkers keep up."""
POLICY = {"locate": {"directory": {"scope": "oracle"}}, "peer": "nearest", "fill": "demand_always", "eviction": "lru"}


def translation_directory() -> list[dict[str, Any]]:
    """Half of the accesses to 256 common pages, half to 64 pages of each core, Zipf(1.0) both; directory on."""
    return [_with_cores(16), _with_cores(80)]


def _with_cores(cores: int) -> dict[str, Any]:
    machine = {"cores": cores, "private_entries": 32, "shared_entries": 512, "network": "mesh"}
    core = np.arange(cores, dtype=np.int32)
    common, own = zipf_pages(ACCESSES, COMMON, seed=1), zipf_pages(ACCESSES, OWN, seed=2)
    who = np.resize(core, ACCESSES)
    page = np.where(np.random.default_rng(3).random(ACCESSES) < 0.5, common, COMMON + who * OWN + own).astype(np.int64)
    trace = GivenPages(core, page, EVERY)
    simulated(GivenPages(core, page[:100_000], EVERY), machine, POLICY)
    results: list[Any] = []
    seconds = fastest(lambda: results.append(simulated(trace, machine, POLICY)), 2)
    assert accesses(results[0]) == ACCESSES
    assert results[0].remote_requests > ACCESSES // 100
    return row("translation_directory", f"{cores} cores", ACCESSES, "translations", seconds)
