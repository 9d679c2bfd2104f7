"""What every run of the engine `malloc` conserves (spec 2)."""

from __future__ import annotations

from fractions import Fraction
from math import ceil
from typing import Any

import numpy as np

from tests.engines.conservation.laws import Law, Run, Suite
from tests.engines.malloc_cases import Fixed
from workbench.engines.kit.engine import Setup
from workbench.engines.malloc import Malloc, MallocOptions
from workbench.machine import Machine
from workbench.metrics.malloc import piece_measures
from workbench.policies.malloc import (
    BitmapArena,
    OneHeap,
    PageQueue,
    ParallelHeap,
    TrylockSpin,
    WarpAggregated,
    WordByWord,
)

Row = tuple[int, int, int, int]
"""Arrival, thread, bytes, the cycle from which on it gives up what it got."""


def world(rows: list[Row], **options: Any) -> Setup:
    policies = {"serve": WarpAggregated(), "heap": BitmapArena(), "lock": TrylockSpin(), "arenas": OneHeap()}
    read = MallocOptions(**{"heap_bytes": 1 << 18, "granule_bytes": 4, **options})
    return Setup("malloc", Machine(), Fixed(sorted(rows)), policies, read)


WORLDS = {
    "Fig.5": world([(0, thread, 2, 50) for thread in range(64)]),
    "ties of one byte": world([(0, thread, 1, 7) for thread in range(40)], granule_bytes=1),
    "sizes that differ": world([(0, thread, thread + 1, 9_000 - thread) for thread in range(60)]),
    "few lanes, nothing asked": world([(7 * (t % 3), 5 * t, 900 * (t % 2), 40 * t + 30) for t in range(30)]),
    "one lane of each warp": world([(t, 32 * t, 100 + t, 10_000) for t in range(12)]),
    "one thread": world([(3, 17, 77, 3)]),
}


def rows(run: Run) -> np.ndarray:
    return np.array(run.setup.workload.rows, np.int64)


def asks(run: Run) -> np.ndarray:
    """Return the rows that ask the policy: with `zero_policy=null` those of 0 bytes get nothing (E6)."""
    drops = getattr(run.setup.policies["serve"], "zero_policy", "expand") == "null"
    return rows(run)[:, 2] > 0 if drops else np.ones(len(rows(run)), bool)


def pieces_due(run: Run) -> list[int]:
    """R5, E5, E6: requests raised to the least allocation, then rounded up to whole multiples of `align`."""
    serve = run.setup.policies["serve"]
    step = serve.align or 1 << (serve.min_alloc - 1).bit_length()
    raised = [max(size, serve.min_alloc) for size in rows(run)[asks(run), 2].tolist()]
    return [ceil(Fraction(size, step)) * step for size in raised]


def header(run: Run) -> int:
    return int(getattr(run.setup.policies["serve"], "header_bytes", 0))


def took(run: Run) -> int:
    """Return the bytes of all blocks that the heap gave."""
    return int(run.record.granules.sum())


def came_back(run: Run) -> int:
    return int(run.record.granules[run.record.returned >= 0].sum())


LEADER = "DEVIATIONS, E7: leader_rule=first is the literal reading: a warp without its lane 0 asks for nothing"
WRONG = "R11, R12: an ablation that is wrong wherever sizes differ"
NO_LOCK = "section 7: an atomic bump pointer is the lower bound without a lock (E11)"
NEVER_BACK = "section 7, R33: a bump pointer gives nothing back"
BY_WORD = "R24, R30: there is no lock of the heap; sections are those of single words"
HEADERS = "section 7: pieces of an aggregated block have headers of their own"

LAWS = [
    Law(
        "calls that have an address",
        "spec 2, R17, R18",
        got=lambda run: int((run.record.block >= 0).sum()),
        due=lambda run: int(asks(run).sum()),
        allowed={"serve=warp_aggregated.leader_rule=first": LEADER},
    ),
    Law(
        "bytes of all pieces",
        "spec 2, R5, E5",
        got=lambda run: int(run.record.size.sum()),
        due=lambda run: sum(pieces_due(run)),
        allowed={"serve=warp_aggregated.leader_rule=first": LEADER, "serve=small_aggregated": HEADERS},
    ),
    Law(
        "bytes of all requests are those of their pieces",
        "spec 2, R6, R14",
        got=lambda run: int(run.record.total.sum()),
        due=lambda run: int(run.record.size.sum()),
    ),
    Law(
        "bytes of all blocks are those of their requests and headers",
        "spec 2, R14, E13",
        got=lambda run: int(run.record.bytes.sum()),
        due=lambda run: int(run.record.total.sum()) + header(run) * len(run.record.bytes),
    ),
    Law(
        "granules that come back are those that were granted",
        "spec 2, E3",
        got=came_back,
        due=took,
        allowed={"heap=bump_pointer": NEVER_BACK, "heap=atomic_pointer": NEVER_BACK},
    ),
    Law(
        "locks taken are requests to the heap",
        "spec 2, R15, H2.1",
        got=lambda run: run.record.acquisitions,
        due=lambda run: len(run.record.leader),
        allowed={"lock=lock_free": NO_LOCK, "lock=word_by_word": BY_WORD},
    ),
    Law(
        "bytes of pieces within others or beyond their block",
        "spec 2, R20, H2.6",
        got=lambda run: sum(piece_measures(run.record).values()),
        due=lambda run: 0,
        allowed=dict.fromkeys((f"serve=warp_aggregated.prefix={rule}" for rule in ("as_written", "inclusive")), WRONG),
    ),
]


def joined(policies: dict[str, Any], slot: str) -> dict[str, Any]:
    """A parallel heap comes with its lock, and the lock with such a heap."""
    if slot == "heap" and isinstance(policies["heap"], ParallelHeap):
        return {**policies, "lock": WordByWord()}
    if slot == "lock" and isinstance(policies["lock"], WordByWord):
        return {**policies, "heap": PageQueue()}
    return policies


SUITE = Suite(Malloc(), WORLDS, LAWS, joined=joined)
