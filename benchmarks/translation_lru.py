"""One core, one fully associative LRU TLB: the references are libCacheSim's LRU and an exact LRU in C++."""

from __future__ import annotations

import importlib.util
import tempfile
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.reference import native
from benchmarks.translation_runs import GivenPages, simulated
from benchmarks.turns import Side, compared, spent
from workbench.records.translation import TranslationRecord, accesses

ACCESSES, PAGES, ENTRIES = 2_000_000, 100_000, 512
MACHINE = {"cores": 1, "private_entries": ENTRIES, "shared_entries": 0, "walkers": 1, "level_cycles": 0}
ROUNDS = 7
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
    """Accesses of six patterns over at most 100,000 pages, 512 entries; every side has the same misses."""
    return [result for name, page in traces().items() for result in _of_pattern(name, page)]


def _of_pattern(name: str, page: np.ndarray) -> list[dict[str, Any]]:
    """The engine against the others on one pattern."""
    trace = GivenPages(np.zeros(1, np.int32), page.astype(np.int64))
    misses = int(simulated(trace, MACHINE, POLICY).walks)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "pages"
        page.tofile(path)
        in_cpp = native("lru.cpp", ACCESSES, (path, ENTRIES, PAGES), lambda printed: printed["misses"] == misses)
        references = {
            "libCacheSim, LRU": libcachesim_side("LRU", ENTRIES, Path(folder), page, misses),
            "C++, LRU alone": in_cpp,
        }
        return compared("translation_lru", name, "accesses", _ours(trace, misses), references, ROUNDS)


def _ours(trace: GivenPages, misses: int) -> Side:
    def run() -> float:
        records: list[TranslationRecord] = []
        seconds = spent(lambda: records.append(simulated(trace, MACHINE, POLICY)))
        (record,) = records
        assert accesses(record) == ACCESSES
        assert record.walks == misses
        return seconds

    return Side(ACCESSES, run)


def libcachesim_side(policy: str, entries: int, folder: Path, page: np.ndarray, misses: int) -> Side | None:
    """Return libCacheSim's own loop over a mapped trace, without making its cache and its reader; None without it."""
    if importlib.util.find_spec("libcachesim") is None:
        return None
    import libcachesim as lcs

    path = folder / "trace.bin"
    columns = np.zeros(len(page), [("time", "<u4"), ("id", "<u8"), ("size", "<u4"), ("next", "<i8")])
    columns["id"], columns["size"], columns["next"] = page, 1, -2
    columns.tofile(path)

    def run() -> float:
        reader = lcs.TraceReader(str(path), lcs.TraceType.ORACLE_GENERAL_TRACE)
        cache = getattr(lcs, policy)(cache_size=entries)
        ratios: list[float] = []
        seconds = spent(lambda: ratios.append(cache.process_trace(reader)[0]))
        assert round(ratios[0] * len(page)) == misses
        return seconds

    return Side(len(page), run)
