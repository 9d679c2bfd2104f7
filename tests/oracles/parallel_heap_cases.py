"""Seeded random cases for the twin of the parallel heaps: small heaps that run full, contended words, many ties."""

from __future__ import annotations

import random
from collections.abc import Iterator
from typing import Any

from tests.oracles.parallel_heap_run import Case, Row
from tests.oracles.parallel_heaps import HEAPS

FAILURES = ("all_null", "per_thread_fallback", "halve_and_retry")


def cases(count: int, seed: int) -> Iterator[Case]:
    """Yield cases; every heap has its turn."""
    draw = random.Random(seed)
    for k in range(count):
        yield _case(draw, list(HEAPS)[k % len(HEAPS)])


def _case(draw: random.Random, heap: str) -> Case:
    fine = draw.random() < 0.15
    granule = 1 if fine else draw.choice([1, 1, 2, 4, 8, 16, 32, 64])
    granules = 600 if fine else max(draw.choice([2, 5, 17, 40, 100, 250, 600]), -(-64 // granule))
    options = {
        "heap_bytes": granules * granule + draw.choice([0, granule - 1]),
        "granule_bytes": granule,
        "occupancy": draw.choice([0.0, 0.0, 0.25, 0.5, 0.9]),
        "scan_step_cycles": draw.choice([0, 1, 3, 40]),
        "split_cycles": draw.choice([0, 5]),
        "barrier_step_cycles": draw.choice([0, 11]),
        "launch_cycles": draw.choice([0, 0, 7, 100]),
        "block_threads": draw.choice([4, 8, 16, 64]),
    }
    lock = {
        "hold_cycles": draw.choice([1, 1, 2, 7]),
        "swap_cycles": draw.choice([1, 3, 10]),
        "travel_cycles": draw.choice([0, 0, 1, 4, 20]),
        "merge_lanes": draw.random() < 0.7,
        "polls_a_cycle": draw.choice([0, 1, 3, 32]),
    }
    machine = {
        "compute_units": draw.choice([1, 1, 2, 3, 4, 5]),
        "waves_a_unit": draw.randint(1, 4),
        "wave_size": draw.choice([4, 8, 16]),
    }
    levers = {"name": heap, **LEVERS[heap](draw, granule, granules)}
    rows = _batches(draw, granule, granules) if draw.random() < 0.6 else _trickle(draw, granule, granules)
    serve = _serve(draw)
    if fine:
        rows, serve = _tiny(draw), {"name": "per_thread", "min_alloc": 1, "align": 1}
    return Case(rows, serve, levers, lock, options, machine)


def _batches(draw: random.Random, granule: int, granules: int) -> list[Row]:
    """A few arrivals of many threads, which fill the heap."""
    threads = draw.choice([3, 12, 20, 50])
    arrivals = sorted(draw.sample(range(draw.choice([6, 60, 600])), draw.randint(1, 5)))
    first = draw.choice([0, 0, 0, 3, 1000, 2**40])
    most = max(draw.choice([1, 3, granules // 8, granules // 3]) * granule, 1)
    stays = draw.choice([0, 30, 300])
    active, frees, large = draw.choice([0.3, 0.8, 1.0]), draw.choice([0.0, 0.5, 0.9, 1.0]), draw.choice([0.0, 0.1])
    further = draw.choice([0, threads, 64])
    rows: list[Row] = []
    for k, arrival in enumerate(arrivals):
        for thread in range(first + k * further, first + k * further + threads):
            if draw.random() > active:
                continue
            size = draw.randint(0, most if draw.random() >= large else granules * granule)
            free_at = arrival + draw.randint(0, stays) if draw.random() < frees else -1
            rows.append((arrival, thread, size, free_at))
    return rows or [(0, 0, 1, -1)]


def _trickle(draw: random.Random, granule: int, granules: int) -> list[Row]:
    """Many arrivals of few threads, most of which give up what they got: blocks are used again and again."""
    rows: list[Row] = []
    arrival, most = 0, max(draw.choice([1, 3, granules // 8, granules // 4]) * granule, 1)
    gap, stays = draw.choice([2, 9, 40]), draw.choice([5, 40, 150])
    further = draw.choice([0, 4, 12])
    for k in range(draw.randint(5, 25)):
        arrival += draw.randint(0, gap) + 1
        for thread in sorted(draw.sample(range(k * further, k * further + 12), draw.randint(1, 5))):
            free_at = arrival + draw.randint(0, stays) if draw.random() < 0.95 else -1
            rows.append((arrival, thread, draw.randint(0, most), free_at))
    return rows


def _tiny(draw: random.Random) -> list[Row]:
    """A hundred threads and more that ask for a byte or two: bitmaps of several words."""
    threads, gap = draw.choice([70, 100, 150]), draw.choice([1, 5])
    rows = [(arrival, thread) for arrival in (0, gap) for thread in range(threads)]
    return [(a, t, draw.choice([1, 1, 1, 2]), a + draw.randint(0, 90) if draw.random() < 0.4 else -1) for a, t in rows]


def _serve(draw: random.Random) -> dict[str, Any]:
    name = draw.choice(["per_thread", "per_thread", "warp_aggregated", "warp_aggregated", "block_aggregated"])
    if draw.random() < 0.2:
        return {
            "name": "small_aggregated",
            "warp_size": draw.choice([2, 4, 8]),
            "below_bytes": draw.choice([3, 16, 200]),
            "align": draw.choice([1, 4, 8]),
            "block_header_bytes": draw.choice([0, 4, 5]),
            "piece_header_bytes": draw.choice([0, 4]),
            "min_alloc": draw.choice([1, 4]),
        }
    levers: dict[str, Any] = {"name": name, "min_alloc": draw.choice([1, 4, 9]), "align": draw.choice([1, 4, 16])}
    if name == "block_aggregated":
        levers |= {"block_size": draw.choice([8, 6]), "warp_size": 2}
    else:
        levers |= {"zero_policy": draw.choice(["expand", "null"]), "header_bytes": draw.choice([0, 0, 3, 16])}
    if name == "warp_aggregated":
        levers |= {
            "warp_size": draw.choice([2, 4, 8]),
            "leader_rule": draw.choice(["first_active", "first_active", "first"]),
            "prefix_when": draw.choice(["before_request", "during_lock_wait", "after_grant"]),
            "split_overlap": draw.random() < 0.5,
        }
    if name != "per_thread":
        levers |= {"failure_policy": draw.choice(FAILURES), "free_policy": draw.choice(["refcount", "arena"])}
    return levers


def _bins(draw: random.Random, granule: int, granules: int) -> dict[str, Any]:
    return {
        "bins": draw.choice([1, 2, 3, 16]),
        "own_cycles": draw.choice([0, 0, 5, 50]),
        "bin_cycles": draw.choice([1, 4, 20]),
    }


def _large(draw: random.Random) -> dict[str, Any]:
    return {"large": {"name": "hashed_bins", **_bins(draw, 1, 1)}}


def _list(draw: random.Random, granule: int, granules: int) -> dict[str, Any]:
    return {
        "list_header_bytes": draw.choice([0, 4, 8, 33]),
        "pointers": draw.choice(["one", "each_unit"]),
        "section_cycles": draw.choice([1, 3, 12]),
    }


def _power(number: int) -> int:
    """The greatest power of two that is not above a number."""
    return 1 << max(number.bit_length() - 1, 0)


def _pages(draw: random.Random, granule: int, granules: int) -> dict[str, Any]:
    return {
        "page_bytes": max(_power(granules * granule // draw.choice([1, 2, 4, 8, 16])), 64),
        "waste": draw.choice([1, 2, 3, 64]),
        "mutex_cycles": draw.choice([1, 5, 20]),
    }


def _slabs(draw: random.Random, granule: int, granules: int) -> dict[str, Any]:
    return {
        "slabs": draw.choice([1, 2, 3, 5, 9]),
        "fill_percent": draw.choice([1, 40, 85, 100]),
        "large_bytes": max(draw.choice([0, granules * granule // 4, granules * granule]), 16),
        "share_percent": draw.choice([10, 50, 75, 100]),
        "slab_cycles": draw.choice([1, 6, 30]),
        **_large(draw),
    }


def _queues(draw: random.Random, granule: int, granules: int) -> dict[str, Any]:
    return {
        "chunk_bytes": max(_power(granules * granule // draw.choice([1, 2, 4, 10, 40])), 16),
        "levels": draw.choice([0, 0, 1, 2]),
        "chunk_cycles": draw.choice([1, 6, 30]),
        **_large(draw),
    }


def _blocks(draw: random.Random, granule: int, granules: int) -> dict[str, Any]:
    return {
        "lists": draw.choice([1, 2, 3, 4]),
        "list_blocks": draw.choice([1, 2, 5, 256]),
        "superblock_blocks": draw.choice([1, 2, 3, 7, 16]),
        "smallest_bytes": draw.choice([16, 16, 32, 64]),
        "superblock_cycles": draw.choice([1, 6, 30]),
        **_large(draw),
    }


LEVERS = {
    "hashed_bins": _bins,
    "atomic_pointer": lambda draw, granule, granules: {},
    "circular_list": _list,
    "scattered_pages": _pages,
    "slabs": _slabs,
    "page_queue": _queues,
    "chunk_queue": _queues,
    "basic_blocks": _blocks,
}
