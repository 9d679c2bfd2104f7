"""What every run of the engine `torch_allocator` conserves (spec 5, R7, E5); no policy decides, so settings differ."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np

from tests.engines.conservation.laws import Law, Run, Suite
from workbench.engines.kit.engine import Setup
from workbench.engines.torch_allocator.engine import AllocatorOptions, TorchAllocator
from workbench.machine import Board
from workbench.metrics.torch_allocator import BYTES
from workbench.workloads.pool_requests import (
    ALLOC_TENSOR,
    COMPLETE_TENSOR,
    DEFER_TENSOR,
    EMPTY_CACHE,
    FREE_TENSOR,
    TensorRequests,
)
from workbench.workloads.workload import Workload

KIB, MIB = 1 << 10, 1 << 20
SETTINGS: dict[str, dict[str, Any]] = {
    "defaults": {},
    "growing": {"expandable_segments": True},
    "limit of splitting": {"max_split_size_mb": 20, "max_non_split_rounding_mb": 64},
    "rounding": {"roundup_power2_divisions": (4,) * 16},
    "larger segments": {"large_segment_size_mb": 64, "expandable_segments": True, "max_split_size_mb": 64},
    "collection": {"garbage_collection_threshold": 0.2, "per_process_fraction": 0.9, "card_bytes": 4 << 30},
    "searching again": {"search_after_flush": True, "card_bytes": 4 << 30},
}
Rows = list[tuple[int, int, int, int]]
"""Kind, block, bytes, stream."""


class Fixed(Workload):
    """Requests given row by row."""

    def __init__(self, rows: Rows) -> None:
        object.__setattr__(self, "rows", rows)

    def tensor_requests(self, machine: Any, streams: Any) -> TensorRequests:
        return TensorRequests(*np.array(self.rows, np.int64).T)


def program(sizes: list[int], streams: int, awaited: bool) -> Rows:
    """Blocks live while four later ones come; some are still in use when they are freed; at last all memory goes."""
    rows: Rows = []
    for k, size in enumerate([*sizes, *[0] * 4]):
        if k < len(sizes):
            rows.append((ALLOC_TENSOR, k, size, k % streams))
        if k >= 4:
            gone, stream = k - 4, (k - 4) % streams
            ends = (DEFER_TENSOR, COMPLETE_TENSOR) if awaited and gone % 3 == 0 else (FREE_TENSOR,)
            rows += [(kind, gone, 0, stream) for kind in ends]
    return [*rows, (EMPTY_CACHE, 0, 0, 0)]


PROGRAMS = {
    "alike": program([3 * MIB] * 12, 1, awaited=False),
    "small": program([1, 511, 512, 513, 7 * KIB, 600 * KIB, MIB] * 3, 2, awaited=True),
    "skewed": program([500 * MIB, 1, 30 * MIB, 11 * MIB, 9 * MIB, 2 * MIB, 21 * MIB, 200 * MIB] * 3, 3, awaited=True),
}


def world(rows: Rows, settings: dict[str, Any]) -> Setup:
    return Setup("torch_allocator", Board(), Fixed(rows), {}, AllocatorOptions(**settings))


def live_due(run: Run) -> list[int]:
    """Return the bytes that are allocated and not given back after each request."""
    sizes = {handle: size for kind, handle, size, _ in run.setup.workload.rows if kind == ALLOC_TENSOR}
    signs = {ALLOC_TENSOR: 1, FREE_TENSOR: -1, DEFER_TENSOR: -1}
    rows = run.setup.workload.rows
    return list(itertools.accumulate(signs.get(kind, 0) * sizes.get(handle, 0) for kind, handle, *_ in rows))


LAWS = [
    Law(
        "bytes that the program holds, after each request",
        "spec 5, R6, R28",
        got=lambda run: run.record.cards[0].live,
        due=live_due,
    ),
    Law(
        "blocks granted",
        "spec 5, R24",
        got=lambda run: int((run.record.cards[0].placed >= 0).sum()),
        due=lambda run: sum(kind == ALLOC_TENSOR for kind, *_ in run.setup.workload.rows),
    ),
    Law(
        "bytes that the driver gave and has not back",
        "spec 5, R7",
        got=lambda run: int(run.record.cards[0].reserved[-1]),
        due=lambda run: int(run.record.cards[0].calls[:, BYTES].sum()),
    ),
    Law(
        "bytes that the driver has back when nothing is held and the cache is emptied",
        "spec 5, R29, E5",
        got=lambda run: int(run.record.cards[0].calls[:, BYTES].sum()),
        due=lambda run: 0,
    ),
]


def check(run: Run) -> None:
    """R7: what is held was got from the driver."""
    assert (run.record.cards[0].live <= run.record.cards[0].reserved).all()


WORLDS = {
    f"{name}, {setting}": world(rows, levers)
    for (name, rows), (setting, levers) in itertools.product(PROGRAMS.items(), SETTINGS.items())
}
SUITE = Suite(TorchAllocator(), WORLDS, LAWS, check=check)
