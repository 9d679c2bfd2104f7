"""FIFO, LFU, ARC and S3-FIFO of one fully associative TLB; the references are libCacheSim's caches of these policies.

Both sides must count the same misses.
"""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.translation_lru import libcachesim_side, zipf_pages
from benchmarks.translation_runs import GivenPages, simulated
from benchmarks.turns import Side, compared, spent
from workbench.records.translation import TranslationRecord

ACCESSES, PAGES, ENTRIES, ROUNDS = 1_000_000, 100_000, 512, 5
SIZES = (32, 50_000)
POLICIES = {"fifo": "FIFO", "lfu": "LFU", "arc": "ARC", "s3fifo": "S3FIFO"}
"""Name of each policy here -> its class in libCacheSim."""


def streams() -> dict[str, np.ndarray]:
    """Return the pages of each stream: int64[ACCESSES]."""
    draw, row = np.random.default_rng(1), np.arange(ACCESSES)
    given = {
        "Zipf 1.0": zipf_pages(ACCESSES, PAGES),
        "Zipf 0.6": zipf_pages(ACCESSES, PAGES, 0.6),
        "sequential": row % PAGES,
        "uniform": draw.integers(0, PAGES, ACCESSES),
        "loop": row % (ENTRIES + 88),
        "hits": draw.integers(0, ENTRIES - 112, ACCESSES),
    }
    return {name: pages.astype(np.int64) for name, pages in given.items()}


def translation_evictions() -> list[dict[str, Any]]:
    """Return the rows of each policy: each stream with 512 entries, then one stream with few and with many entries."""
    given = streams()
    cases = [(policy, stream, ENTRIES) for policy in POLICIES for stream in given]
    cases += [(policy, "Zipf 0.6", entries) for policy in POLICIES for entries in SIZES]
    return [row for case in cases for row in _in_turns(*case, given[case[1]])]


def _in_turns(policy: str, stream: str, entries: int, pages: np.ndarray) -> list[dict[str, Any]]:
    """Return the row of one policy on one stream."""
    trace = GivenPages(np.zeros(1, np.int32), pages)
    machine = {"cores": 1, "private_entries": entries, "shared_entries": 0, "walkers": 1, "level_cycles": 0}
    policies = {"locate": "no_directory", "fill": "demand_always", "eviction": policy}
    misses = int(simulated(trace, machine, policies).walks)

    def run() -> float:
        records: list[TranslationRecord] = []
        seconds = spent(lambda: records.append(simulated(trace, machine, policies)))
        assert records[0].walks == misses
        return seconds

    variant, name = f"{policy}, {stream}, {entries:,} entries", POLICIES[policy]
    ours = Side(ACCESSES, run)
    with tempfile.TemporaryDirectory() as folder:
        theirs = libcachesim_side(name, entries, Path(folder), pages, misses)
        return compared("translation_evictions", variant, "accesses", ours, {f"libCacheSim, {name}": theirs}, ROUNDS)
