"""Cores with private TLBs, a mesh and a directory: 16 cores, and 80."""

from __future__ import annotations

from typing import Any

import numpy as np

from benchmarks.row import fastest, row
from benchmarks.translation_lru import zipf_pages
from benchmarks.translation_runs import GivenPages, simulated
from workbench.records.translation import accesses

ACCESSES = 4_000_000
EVERY = 16
"""Cycles from one access to the next: eight walkers keep up."""
COMMON, OWN = 256, 64
FEW_COMMON, FEW_OWN = 16, 12
"""Pages of all cores, and pages of each; the few fit a private TLB of 32 entries."""
POLICY = {"locate": {"directory": {"scope": "oracle"}}, "peer": "nearest", "fill": "demand_always", "eviction": "lru"}


def translation_directory() -> list[dict[str, Any]]:
    """Half of the accesses to common pages, half to pages of each core, Zipf(1.0) both; directory on.

    With 256 common pages and 64 of each core half of the accesses hit; with 16 and 12 nearly all do.
    """
    half = [_with_cores(cores, COMMON, OWN, "half hit") for cores in (16, 80)]
    return half + [_with_cores(cores, FEW_COMMON, FEW_OWN, "nearly all hit") for cores in (16, 80)]


def _with_cores(cores: int, of_all: int, of_each: int, what: str) -> dict[str, Any]:
    machine = {"cores": cores, "private_entries": 32, "shared_entries": 512, "network": "mesh"}
    core = np.arange(cores, dtype=np.int32)
    common, own = zipf_pages(ACCESSES, of_all, seed=1), zipf_pages(ACCESSES, of_each, seed=2)
    who = np.resize(core, ACCESSES)
    is_common = np.random.default_rng(3).random(ACCESSES) < 0.5
    page = np.where(is_common, common, of_all + who * of_each + own).astype(np.int64)
    trace = GivenPages(core, page, EVERY)
    simulated(GivenPages(core, page[:100_000], EVERY), machine, POLICY)
    results: list[Any] = []
    seconds = fastest(lambda: results.append(simulated(trace, machine, POLICY)), 2)
    assert accesses(results[0]) == ACCESSES
    assert (results[0].remote_requests > ACCESSES // 100) == (of_all == COMMON)
    return row("translation_directory", f"{cores} cores, {what}", ACCESSES, "translations", seconds)
