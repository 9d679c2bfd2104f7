"""A fully associative TLB misses as often as libCacheSim's cache of the same policy, to the number.

The misses are those of libCacheSim 0.3.5 (`LRU`, `FIFO`, `LFU`, `ARC`, `S3FIFO` of its Python package, objects of size
1), 2026-11; where the package is installed they are counted again.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.engines.translation_load_cases import Case
from tests.needs import needs
from tests.oracles.translation_load import Row
from tests.slow import thinned
from workbench.policies.policy import read_policy

ACCESSES = 4000
TURN = np.arange(ACCESSES)


def some(low: int, high: int) -> np.ndarray:
    """Return pages drawn at random."""
    return np.random.default_rng(high).integers(low, high, ACCESSES)


def skewed(pages: int) -> np.ndarray:
    """Return pages of which the lower ones are drawn more often: the square of a uniform number."""
    return (np.random.default_rng(pages).random(ACCESSES) ** 3 * pages).astype(np.int64)


TRACES = {
    "skewed": skewed(400),
    "uniform": some(0, 120),
    "loop": TURN % 75,
    "drifting": TURN // 20 + some(0, 60),
    "scans": np.where(TURN % 500 < 380, skewed(200), 1000 + TURN),
}
MISSES = {
    ("lru", 20): [3037, 3317, 4000, 2675, 3032],
    ("lru", 50): [2522, 2385, 4000, 867, 2513],
    ("fifo", 20): [3173, 3332, 4000, 2690, 3118],
    ("fifo", 50): [2637, 2387, 4000, 954, 2619],
    ("lfu", 20): [2712, 3340, 4000, 3747, 2722],
    ("lfu", 50): [2280, 2361, 4000, 3319, 2260],
    ("arc", 20): [2785, 3306, 4000, 2670, 2793],
    ("arc", 50): [2302, 2367, 4000, 872, 2319],
    ("s3fifo", 20): [2688, 3332, 3046, 2725, 2701],
    ("s3fifo", 50): [2232, 2341, 2476, 1059, 2247],
}
"""Policy and ways: the misses of each trace."""
NAMES = {"lru": "LRU", "fifo": "FIFO", "lfu": "LFU", "arc": "ARC", "s3fifo": "S3FIFO"}


def misses(policy: str, ways: int, pages: np.ndarray) -> int:
    """Return how often the engine walks for a core that has nothing but its own TLB."""
    rows = [Row(2 * at, 0, int(page), False) for at, page in enumerate(pages)]
    machine = {"cores": 1, "private_entries": ways, "shared_entries": 0, "walkers": 1, "level_cycles": 0}
    return int(Case(rows, machine, {"eviction": read_policy("eviction", policy)}).engine().walks)


def misses_of_libcachesim(policy: str, ways: int, pages: np.ndarray, folder: Path) -> int:
    """Return how often libCacheSim misses."""
    import libcachesim

    columns = np.zeros(len(pages), [("time", "<u4"), ("id", "<u8"), ("size", "<u4"), ("next", "<i8")])
    columns["id"], columns["size"], columns["next"] = pages, 1, -2
    columns.tofile(folder / "trace.bin")
    kind: Any = libcachesim.TraceType.ORACLE_GENERAL_TRACE
    reader = libcachesim.TraceReader(str(folder / "trace.bin"), kind)
    ratio, _ = getattr(libcachesim, NAMES[policy])(cache_size=ways).process_trace(reader)
    return round(ratio * len(pages))


@pytest.mark.parametrize(("policy", "ways"), thinned([pytest.param(*case) for case in MISSES], 3))
def test_misses_are_those_of_libcachesim(policy, ways):
    assert [misses(policy, ways, pages) for pages in TRACES.values()] == MISSES[policy, ways]


@pytest.mark.slow
@needs("libcachesim")
@pytest.mark.parametrize(("policy", "ways"), MISSES)
def test_libcachesim_counts_them_again(policy, ways, tmp_path):
    results = [misses_of_libcachesim(policy, ways, pages, tmp_path) for pages in TRACES.values()]
    assert results == MISSES[policy, ways]
