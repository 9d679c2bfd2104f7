"""Random setups of the engine `malloc`, for it and for its slow twin alike."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from hypothesis import strategies as st

from tests.oracles import malloc as slow
from tests.oracles import shared_memory as slow_placement
from workbench.engines.kit.engine import Setup
from workbench.engines.malloc import Malloc, MallocOptions
from workbench.levers import Spec
from workbench.machine import Machine
from workbench.policies.malloc import (
    BitmapArena,
    BlockAggregated,
    BumpPointer,
    HashedArenas,
    LockFree,
    OneHeap,
    PerThread,
    QueueLock,
    SizeArenas,
    SizeClasses,
    TicketLock,
    TrylockBackoff,
    TrylockSpin,
    WarpAggregated,
    WarpArenas,
)
from workbench.records.malloc import MallocRecord
from workbench.workloads.workload import Mallocs, Workload


class Fixed(Workload):
    """Calls given row by row: (arrival, thread, bytes, free_at)."""

    def __init__(self, rows: list[slow.Call]) -> None:
        object.__setattr__(self, "rows", rows)

    def mallocs(self, machine, streams) -> Mallocs:
        columns = np.array(self.rows, np.int64).reshape(-1, 4).T
        return Mallocs(*(np.ascontiguousarray(c) for c in columns))


def setup(rows, serve=None, heap=None, lock=None, arenas=None, workload=None, **options) -> Setup:
    policies = {
        "serve": serve or WarpAggregated(),
        "heap": heap or BitmapArena(),
        "lock": lock or TrylockSpin(),
        "arenas": arenas or OneHeap(),
    }
    return Setup("malloc", Machine(), workload or Fixed(rows), policies, MallocOptions(**options))


def simulate(rows, serve=None, heap=None, lock=None, arenas=None, events=False, seed=1, **options) -> MallocRecord:
    return Malloc().simulate(setup(rows, serve, heap, lock, arenas, **options), seed, events=events)


def batch(sizes: list[int], arrival: int = 0, free_at: int = -1) -> list[slow.Call]:
    """Threads 0, 1, 2, ... that call together."""
    return [(arrival, thread, size, free_at) for thread, size in enumerate(sizes)]


class Case(NamedTuple):
    """One setup, and the same in the words of the twin."""

    rows: list[slow.Call]
    policies: dict[str, Any]
    options: dict[str, Any]
    twin: dict[str, Any]


_call = st.tuples(st.integers(0, 60), st.integers(0, 13), st.integers(0, 9), st.none() | st.integers(0, 300))


def _calls(drawn: list[tuple[int, int, int, int | None]]) -> list[slow.Call]:
    once = {(arrival, thread): (size, stays) for arrival, thread, size, stays in drawn}
    return [(a, t, size, -1 if stays is None else a + stays) for (a, t), (size, stays) in sorted(once.items())]


calls = st.lists(_call, min_size=1, max_size=40).map(_calls)
_serve_words = {"zero": "expand", "leader": "first_active", "prefix": "exclusive", "when": "before_request"}
_serve_words |= {"overlap": True, "on_failure": "all_null", "frees": "refcount", "header": 0}


@st.composite
def _served(draw, granule: int) -> tuple[Spec, dict[str, Any]]:
    least, align = draw(st.integers(1, 5)), draw(st.sampled_from([1, 4]))
    kind = draw(st.sampled_from(["warp", "warp", "block", "thread"]))
    zero = draw(st.sampled_from(["expand", "null"]))
    if kind == "thread":
        policy: Spec = PerThread(min_alloc=least, align=align, zero_policy=zero, header_bytes=2)
        return policy, {**_serve_words, "unit": 32, "together": False, "least": least, "align": align} | {
            "zero": zero,
            "header": 2,
        }
    failure = draw(st.sampled_from(["all_null", "per_thread_fallback", "halve_and_retry"]))
    frees = draw(st.sampled_from(["refcount", "arena", *(["piecewise"] if align % granule == 0 else [])]))
    words = {**_serve_words, "together": True, "least": least, "align": align}
    words |= {"on_failure": failure, "frees": frees}
    common = {"min_alloc": least, "align": align, "failure_policy": failure, "free_policy": frees}
    if kind == "block":
        return BlockAggregated(block_size=8, warp_size=2, **common), {**words, "unit": 8}
    more = {
        "prefix": "exclusive" if frees == "piecewise" else draw(st.sampled_from(["exclusive", "as_written"])),
        "zero_policy": zero,
        "leader_rule": draw(st.sampled_from(["first_active", "first"])),
        "prefix_when": draw(st.sampled_from(["before_request", "during_lock_wait", "after_grant"])),
        "split_overlap": draw(st.booleans()),
        "header_bytes": 0 if frees == "piecewise" else draw(st.sampled_from([0, 3])),
    }
    words |= {"zero": zero, "unit": 4, "prefix": more["prefix"], "leader": more["leader_rule"]}
    words |= {"when": more["prefix_when"], "overlap": more["split_overlap"], "header": more["header_bytes"]}
    return WarpAggregated(warp_size=4, **common, **more), words


LOCKS = [
    (TrylockSpin(hold_cycles=7), {"kind": "each_section", "hold": 7}),
    (
        TrylockBackoff(hold_cycles=7, first_cycles=3, most_cycles=11),
        {"kind": "back_off", "hold": 7, "back_off": (3, 11)},
    ),
    (
        TicketLock(hold_cycles=7, handoff_cycles=5, cycles_a_waiter=2),
        {"kind": "in_line", "hold": 7, "handoff": (5, 2), "rereads": 1},
    ),
    (QueueLock(hold_cycles=7, handoff_cycles=4), {"kind": "in_line", "hold": 7, "handoff": (4, 0), "rereads": 0}),
    (LockFree(hold_cycles=2), {"kind": "fetch_add", "hold": 2}),
    (LockFree(hold_cycles=2, operation="compare_and_swap"), {"kind": "cas", "hold": 2}),
]
PLACEMENTS = {
    "first_fit": lambda: slow_placement.first_fit,
    "last_fit": lambda: slow_placement.last_fit,
    "nearest_boundary": lambda: slow_placement.nearest_boundary,
    "next_fit": slow.NextFit,
    "best_fit": lambda: slow_best_fit,
}


def slow_best_fit(free: list[bool], granules: int) -> int | None:
    """The lowest of the shortest runs that are long enough."""
    runs: list[tuple[int, int]] = []
    for k, is_free in enumerate(free):
        if is_free and k and free[k - 1] and runs:
            runs[-1] = (runs[-1][0] + 1, runs[-1][1])
        elif is_free:
            runs.append((1, k))
    return min((run for run in runs if run[0] >= granules), default=(0, None))[1]


@st.composite
def cases(draw) -> Case:
    granule = draw(st.sampled_from([1, 2, 4]))
    serve, words = draw(_served(granule))
    lock, lock_words = draw(st.sampled_from(LOCKS))
    count = draw(st.sampled_from([1, 1, 2, 3]))
    probes = draw(st.integers(1, 3))
    by, policy = draw(st.sampled_from([("warp", WarpArenas), ("hash", HashedArenas), ("size", SizeArenas)]))
    arenas = OneHeap() if count == 1 else policy(arenas=count, probes=probes)
    heap_bytes = max(draw(st.sampled_from([3, 9, 40, 130])) * count * granule, 64)
    region = heap_bytes // granule // count
    kinds = ["bitmap", "bitmap"] if words["frees"] == "piecewise" else ["bitmap", "bitmap", "bump", "classes"]
    kind = draw(st.sampled_from(kinds))
    if kind == "bitmap":
        name = draw(st.sampled_from(list(PLACEMENTS)))
        heap, made = BitmapArena(placement=name), lambda: slow.Bitmap(region, PLACEMENTS[name]())
    elif kind == "bump":
        heap, made = BumpPointer(), lambda: slow.Bump(region)
    else:
        heap, made = SizeClasses(chunk_bytes=256), lambda: slow.Classes(region, 256 // granule)
    latency = draw(st.sampled_from([(0, 0, 0), (3, 2, 4)]))
    atomics = {"with_waiters": list(latency)} if any(latency) else "fixed_latency"
    options = {
        "heap_bytes": heap_bytes,
        "granule_bytes": granule,
        "scan_step_cycles": 3,
        "split_cycles": 5,
        "barrier_step_cycles": 11,
        "atomics": atomics,
    }
    steps, barrier = {4: (2, 0), 8: (3, 3), 32: (0, 0)}[words["unit"]]
    twin = {
        "serve": words,
        "lock": lock_words,
        "heap": made,
        "arenas": {"count": count, "by": by, "tries": min(probes, count)},
        "granule": granule,
        "region": region,
        "scan": 3 * steps,
        "barrier": 11 * barrier,
        "split": 5,
        "latency": latency,
    }
    policies = {"serve": serve, "heap": heap, "lock": lock, "arenas": arenas}
    return Case(draw(calls), policies, options, twin)
