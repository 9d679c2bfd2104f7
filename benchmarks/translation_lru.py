"""One core, one fully associative LRU TLB: beside libCacheSim's LRU where it is installed, and an exact LRU in C++."""

from __future__ import annotations

import importlib.util
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.reference import native
from benchmarks.row import fastest, row
from benchmarks.translation_runs import GivenPages, simulated
from workbench.records.translation import accesses

ACCESSES, PAGES, ENTRIES = 20_000_000, 100_000, 512
MACHINE = {"cores": 1, "private_entries": ENTRIES, "shared_entries": 0, "walkers": 1, "level_cycles": 0}
POLICY = {"locate": "no_directory", "fill": "demand_always", "eviction": "lru"}


def zipf_pages(count: int, pages: int, exponent: float = 1.0, seed: int = 1) -> np.ndarray:
    """Pages by a Zipf law over ranks, the ranks laid over the pages at random: int32[count]."""
    draw = np.random.default_rng(seed)
    upto = np.cumsum(1.0 / np.arange(1, pages + 1) ** exponent)
    rank = np.searchsorted(upto, draw.random(count) * upto[-1])
    return draw.permutation(pages).astype(np.int32)[rank]


def traces() -> dict[str, np.ndarray]:
    """The pages of each pattern: int32[ACCESSES]."""
    draw, row = np.random.default_rng(1), np.arange(ACCESSES, dtype=np.int32)
    return {
        "Zipf 1.0": zipf_pages(ACCESSES, PAGES),
        "Zipf 0.6": zipf_pages(ACCESSES, PAGES, 0.6),
        "sequential": row % PAGES,
        "uniform": draw.integers(0, PAGES, ACCESSES).astype(np.int32),
        "loop": row % (ENTRIES + 88),
        "all hits": draw.integers(0, ENTRIES - 112, ACCESSES).astype(np.int32),
    }


def translation_lru() -> list[dict[str, Any]]:
    """Accesses of six patterns over at most 100,000 pages, 512 entries; every variant has the same misses."""
    return [result for name, page in traces().items() for result in _of_pattern(name, page)]


def _of_pattern(name: str, page: np.ndarray) -> list[dict[str, Any]]:
    """The engine beside the others on one pattern."""
    trace = GivenPages(np.zeros(1, np.int32), page.astype(np.int64))
    simulated(GivenPages(np.zeros(1, np.int32), trace.page[:100_000]), MACHINE, POLICY)
    results: list[Any] = []
    seconds = fastest(lambda: results.append(simulated(trace, MACHINE, POLICY)), 2)
    record = results[0]
    assert accesses(record) == ACCESSES
    rows = [row("translation_lru", f"{name}: engine translation", ACCESSES, "accesses", seconds)]
    with tempfile.NamedTemporaryFile() as file:
        page.tofile(file.name)
        reference = native("lru.cpp", file.name, str(ENTRIES), str(PAGES))
    if reference is not None:
        assert reference["misses"] == record.walks
        rows.append(row("translation_lru", f"{name}: C++ exact LRU", ACCESSES, "accesses", reference["seconds"]))
    return rows + _libcachesim(name, page, record.walks)


def _libcachesim(name: str, page: np.ndarray, misses: int) -> list[dict[str, Any]]:
    """The same in libCacheSim, where its Python package is installed."""
    if importlib.util.find_spec("libcachesim") is None:
        return []
    import libcachesim as lcs

    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "trace.bin"
        columns = np.zeros(len(page), [("time", "<u4"), ("id", "<u8"), ("size", "<u4"), ("next", "<i8")])
        columns["id"], columns["size"], columns["next"] = page, 1, -2
        columns.tofile(path)
        reader = lcs.TraceReader(str(path), lcs.TraceType.ORACLE_GENERAL_TRACE)
        cache = lcs.LRU(cache_size=ENTRIES)
        began = time.perf_counter()
        ratio, _ = cache.process_trace(reader)
        seconds = time.perf_counter() - began
    assert round(ratio * len(page)) == misses
    return [row("translation_lru", f"{name}: libCacheSim LRU", len(page), "accesses", seconds)]
