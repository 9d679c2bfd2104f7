"""What every run of the engine `shared_memory` conserves (spec 1)."""

from __future__ import annotations

from typing import Any

import numpy as np

from tests.engines.conservation.laws import Law, Run, Suite
from workbench.engines.kit.engine import Setup
from workbench.engines.shared_memory import SharedMemory, SharedMemoryOptions
from workbench.machine import Machine
from workbench.policies.placement import NearestBoundary
from workbench.policies.placement.queueing import FifoHeadOnly, NextCycle
from workbench.workloads.workload import Workgroups, Workload

Row = tuple[int, int, int]
"""Arrival, segments, duration."""


class Fixed(Workload):
    """Workgroups given row by row."""

    def __init__(self, rows: list[Row]) -> None:
        object.__setattr__(self, "rows", rows)

    def workgroups(self, machine: Any, streams: Any) -> Workgroups:
        return Workgroups(*np.array(self.rows, np.int64).reshape(-1, 3).T)


def world(rows: list[Row], segments: int = 16, **options: Any) -> Setup:
    policies = {"placement": NearestBoundary(), "queue": FifoHeadOnly(), "retry": NextCycle()}
    read = SharedMemoryOptions(**options)
    return Setup("shared_memory", Machine(segments=segments), Fixed(rows), policies, read)


T1 = [(0, 3, 6), (0, 5, 9), (0, 4, 3), (0, 2, 8), (0, 4, 4), (0, 8, 2), (0, 10, 2)]
SKEWED = [(0, 1, 90), (0, 15, 1), (0, 1, 3), (1, 2, 40), (1, 8, 2), (7, 1, 1), (7, 16, 5), (9, 3, 11), (60, 13, 2)]
WORLDS = {
    "the run T1": world(T1),
    "ties": world([(0, 4, 5)] * 12),
    "skewed": world(SKEWED),
    "skewed, several grants a cycle": world(SKEWED, allocs_per_cycle=4, latency_cycles=3),
    "grants before releases": world(SKEWED, same_cycle_order="allocate_first"),
    "one group alone": world([(5, 16, 3)]),
    "a segment each": world([(k // 3, 1, 7) for k in range(30)], segments=8),
}


def column(run: Run, place: int) -> np.ndarray:
    return np.array(run.setup.workload.rows, np.int64)[:, place]


def length(run: Run) -> np.ndarray:
    return np.asarray(run.record.length)


def life(run: Run) -> np.ndarray:
    return np.asarray(run.record.release - run.record.start)


def most_held(run: Run) -> int:
    """Return the most segments that are taken at a time, releases of a cycle first where that is their order."""
    record, sign = run.record, 1 if run.record.release_first else -1
    steps = [*zip(record.grant, sign * np.ones_like(record.grant), record.length, strict=True)]
    steps += [*zip(record.release, 0 * record.release, -record.length, strict=True)]
    return int(np.cumsum([change for *_, change in sorted(steps)]).max())


def check(run: Run) -> None:
    """R1, R4, R29: every group is served once, after it came, and the memory is never larger than it is."""
    record = run.record
    assert sorted(record.serial.tolist()) == [*range(len(record.serial))]
    assert np.all(record.grant >= record.arrival)
    assert most_held(run) <= record.segments


ROUNDED = "section 7: buddies are a rival, which rounds up to powers of two"
SLOWER = "section 7: paged memory is a rival, whose translated accesses the lever access_penalty charges"
COPIES = "section 7: compaction is a bound, whose copies the lever cycles_per_moved_segment charges"

LAWS = [
    Law(
        "segments that each group takes",
        "spec 1, R1, E15",
        got=length,
        due=lambda run: column(run, 1),
        allowed=dict.fromkeys(("placement=buddy", "placement=compaction.base=buddy"), ROUNDED),
    ),
    Law(
        "cycles from each group's start to its release",
        "spec 1, R6",
        got=life,
        due=lambda run: column(run, 2),
        allowed={"placement=paged_memory": SLOWER},
    ),
    Law(
        "segments times cycles of all groups, as asked for",
        "spec 1, R5, R6",
        got=lambda run: int(run.record.asked @ life(run)),
        due=lambda run: int(column(run, 1) @ column(run, 2)),
        allowed={"placement=paged_memory": SLOWER},
    ),
]
REFUSED = dict.fromkeys(
    ("placement=ring_buffer.at_end=wraps", "placement=ring_buffer.when_empty=keep"),
    "E1: a request for all segments is an extension; a ring that never rewinds, or wraps, waits for ever for it",
)
SUITE = Suite(SharedMemory(), WORLDS, LAWS, refused=REFUSED, check=check)
