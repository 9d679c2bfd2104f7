"""FIFO, LFU, ARC and S3-FIFO of one fully associative TLB, compared with libCacheSim's caches of the same policies.

Both sides serve the same accesses in short runs that take turns. A ratio is ours over libCacheSim's, of accesses a
second of processor time: above 1 the engine is faster. Each row has the median ratio of its turns, the least and the
most. Both sides must count the same misses.
"""

from __future__ import annotations

import importlib.util
import tempfile
from collections.abc import Callable
from pathlib import Path
from statistics import median
from time import process_time
from typing import Any

import numpy as np

from benchmarks.translation_lru import zipf_pages
from benchmarks.translation_runs import GivenPages, simulated

ACCESSES, PAGES, ENTRIES, TURNS = 4_000_000, 100_000, 512, 5
SIZES = (32, 512, 4096, 10_000, 50_000)
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
    """Return the ratio of each policy on each stream with 512 entries, then the cost of each policy by entries.

    Where libCacheSim is not installed there are no ratios.
    """
    given = streams()
    cases = [(policy, stream, ENTRIES) for policy in POLICIES for stream in given]
    cases += [(policy, "Zipf 0.6", entries) for policy in POLICIES for entries in SIZES]
    return [row for case in cases for row in _in_turns(*case, given[case[1]])]


def _in_turns(policy: str, stream: str, entries: int, pages: np.ndarray) -> list[dict[str, Any]]:
    """Return the rows of one policy on one stream: ours, with the ratios of the turns, and libCacheSim's."""
    sides = {"workbench": _ours(policy, entries, pages)}
    if importlib.util.find_spec("libcachesim") is not None:
        sides["libCacheSim"] = _theirs(policy, entries, pages)
    assert len({run()[0] for run in sides.values()}) == 1, f"{policy}, {stream}, {entries}: misses differ"
    seconds: dict[str, list[float]] = {name: [] for name in sides}
    for _ in range(TURNS):
        for name, run in sides.items():
            seconds[name].append(run()[1])
    rows = [_row(f"{policy}, {stream}, {entries} entries: {name}", min(spent)) for name, spent in seconds.items()]
    if len(sides) == 2:
        ratios = [theirs / ours for ours, theirs in zip(*seconds.values(), strict=True)]
        rows[0] |= {"ratio": median(ratios), "least_ratio": min(ratios), "most_ratio": max(ratios)}
    return rows


def _row(variant: str, seconds: float) -> dict[str, Any]:
    return {
        "name": "translation_evictions",
        "variant": variant,
        "items": ACCESSES,
        "unit": "accesses",
        "seconds": seconds,
        "items_per_second": ACCESSES / seconds,
    }


Side = Callable[[], tuple[int, float]]
"""Serves the accesses once, and returns the misses and the processor time in seconds."""


def _ours(policy: str, entries: int, pages: np.ndarray) -> Side:
    """Return a whole run of the engine: one core with nothing but its own TLB."""
    trace = GivenPages(np.zeros(1, np.int32), pages)
    machine = {"cores": 1, "private_entries": entries, "shared_entries": 0, "walkers": 1, "level_cycles": 0}
    policies = {"locate": "no_directory", "fill": "demand_always", "eviction": policy}

    def run() -> tuple[int, float]:
        began = process_time()
        walks = int(simulated(trace, machine, policies).walks)
        return walks, process_time() - began

    return run


def _theirs(policy: str, entries: int, pages: np.ndarray) -> Side:
    """Return a run of libCacheSim; making and freeing its cache and its reader is not timed."""
    import libcachesim

    kind: Any = libcachesim.TraceType.ORACLE_GENERAL_TRACE
    folder = tempfile.TemporaryDirectory()
    path = Path(folder.name) / "trace.bin"
    columns = np.zeros(len(pages), [("time", "<u4"), ("id", "<u8"), ("size", "<u4"), ("next", "<i8")])
    columns["id"], columns["size"], columns["next"] = pages, 1, -2
    columns.tofile(path)

    def run(folder: Any = folder) -> tuple[int, float]:
        cache, reader = (
            getattr(libcachesim, POLICIES[policy])(cache_size=entries),
            libcachesim.TraceReader(str(path), kind),
        )
        began = process_time()
        ratio, _ = cache.process_trace(reader)
        return round(ratio * len(pages)), process_time() - began

    return run
