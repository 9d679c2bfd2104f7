"""The engine `malloc` with parallel heaps against the twin that was written from the text of specification 2 alone."""

from __future__ import annotations

from itertools import islice
from typing import Any

import pytest

from tests.engines.malloc_cases import Fixed
from tests.oracles.parallel_heap_cases import cases
from tests.oracles.parallel_heap_run import Case, Result, Row, play
from workbench.engines.kit.engine import Setup
from workbench.engines.malloc import Malloc, MallocOptions
from workbench.machine import Machine
from workbench.policies.malloc import OneHeap, WordByWord
from workbench.policies.policy import read_policy
from workbench.records.malloc import MallocRecord

FEW, ALL = 40, 540


def simulated(case: Case) -> MallocRecord:
    policies = {
        "serve": _policy("serve", case.serve),
        "heap": _policy("heap", case.heap),
        "lock": WordByWord(**case.lock),
        "arenas": OneHeap(),
    }
    machine = Machine(**case.machine)
    return Malloc().simulate(Setup("malloc", machine, Fixed(case.rows), policies, MallocOptions(**case.options)), 1)


def _policy(slot: str, given: dict[str, Any]) -> Any:
    levers = {key: _policy(slot, value) if isinstance(value, dict) else value for key, value in given.items()}
    name = levers.pop("name")
    return read_policy(slot, {name: levers})


def of_twin(result: Result, rows: int) -> dict[str, Any]:
    where = {row: k for k, block in enumerate(result.blocks) for row in block.rows}
    return {
        "leader": [request.rows[0] for request in result.requests],
        "total": [sum(request.sizes) for request in result.requests],
        "acquired": [request.acquired for request in result.requests],
        "ended": [request.ended for request in result.requests],
        "ready": [request.ready for request in result.requests],
        "block": [where.get(row, -1) for row in range(rows)],
        "base": [block.grant.base for block in result.blocks],
        "granules": [block.grant.granules for block in result.blocks],
        "owner": [block.request.number for block in result.blocks],
        "granted": [block.granted for block in result.blocks],
        "returned": [block.returned for block in result.blocks],
        "acquisitions": result.acquisitions,
        "heap_atomics": result.atomics,
        "tried_in_vain": result.in_vain,
        "words": 0,
    }


def of_engine(record: MallocRecord, names: Any) -> dict[str, Any]:
    values = {name: getattr(record, name) for name in names}
    return {name: value.tolist() if hasattr(value, "tolist") else value for name, value in values.items()}


def differences(case: Case) -> dict[str, Any]:
    expected = of_twin(play(case), len(case.rows))
    result = of_engine(simulated(case), expected)
    return {name: (expected[name], result[name]) for name in expected if expected[name] != result[name]}


MACHINE = {"compute_units": 1, "waves_a_unit": 40, "wave_size": 64}
LOCK = {"hold_cycles": 1, "swap_cycles": 1, "travel_cycles": 0, "polls_a_cycle": 0, "merge_lanes": True}
PER_THREAD = {"name": "per_thread", "min_alloc": 1, "align": 1}
PAIRS = {"name": "warp_aggregated", "min_alloc": 1, "align": 1, "warp_size": 2}
BINS = {"name": "hashed_bins", "bins": 4096, "own_cycles": 5, "bin_cycles": 5}
PAGES = {"name": "scattered_pages", "page_bytes": 64, "waste": 64, "mutex_cycles": 1}
QUEUE = {"name": "page_queue", "chunk_bytes": 16, "levels": 0, "chunk_cycles": 6, "large": BINS}
SLABS = {"name": "slabs", "slabs": 4, "fill_percent": 100, "large_bytes": 16, "slab_cycles": 1, "share_percent": 50}
SLABS |= {"large": BINS}
BLOCKS = {"name": "basic_blocks", "lists": 1, "smallest_bytes": 16, "superblock_cycles": 1, "large": BINS}
OPTIONS = {"granule_bytes": 1, "occupancy": 0.0, "scan_step_cycles": 0, "split_cycles": 0, "barrier_step_cycles": 0}
OPTIONS |= {"launch_cycles": 0, "block_threads": 256}


def small(heap_bytes: int, heap: dict[str, Any], serve: dict[str, Any], *rows: Row) -> Case:
    return Case(list(rows), serve, heap, LOCK, {**OPTIONS, "heap_bytes": heap_bytes}, MACHINE)


def crowded(polls_a_cycle: int, waves: int, heap: dict[str, Any], *rows: Row) -> Case:
    """Thread blocks of four threads on a machine of one unit with waves of four threads."""
    case = small(64, heap, PER_THREAD, *rows)
    return case._replace(
        lock={**LOCK, "polls_a_cycle": polls_a_cycle},
        options={**case.options, "block_threads": 4},
        machine={"compute_units": 1, "waves_a_unit": waves, "wave_size": 4},
    )


SMALLEST = {
    "nothing goes back to the pool": small(64, {"name": "atomic_pointer"}, PER_THREAD, (0, 0, 4, 5)),
    "a block goes back before the next effect of its cycle": small(64, BINS, PAIRS, (0, 0, 1, 0), (0, 2, 1, -1)),
    "the page of a large request has no free chunk": small(128, PAGES, PER_THREAD, (0, 0, 64, -1), (0, 1, 5, -1)),
    "no page comes, and the line has none": small(
        64, QUEUE, PER_THREAD, (0, 0, 64, -1), (20, 1, 8, -1), (20, 2, 8, -1), (20, 3, 8, -1)
    ),
    "a list keeps its blocks where a superblock joins the line": small(
        1024,
        {**BLOCKS, "list_blocks": 2, "superblock_blocks": 3},
        PER_THREAD,
        *((0, 0, 1, 20), (10, 1, 1, 21), (11, 2, 1, 22), (40, 1, 1, -1), (50, 1, 1, -1)),
    ),
    "a list gets no superblock of the line": small(
        1024,
        {**BLOCKS, "list_blocks": 1, "superblock_blocks": 2},
        PER_THREAD,
        *((0, 0, 1, 40), (10, 0, 1, 41), (20, 0, 1, -1), (30, 0, 1, 42), (50, 0, 1, -1), (60, 0, 1, -1)),
    ),
    "a hold takes longer the more requests are under way": crowded(2, 4, BINS, *((0, t, 1, -1) for t in range(5))),
    "a thread block waits for room": crowded(1, 1, BINS, (0, 0, 1, -1), (0, 1, 1, -1), (2, 4, 1, -1), (3, 5, 1, -1)),
    "a class gets no slab beyond the share": small(64, SLABS, PER_THREAD, *((9 * t, t, 8, -1) for t in range(5))),
}


@pytest.mark.parametrize("name", SMALLEST)
def test_the_smallest_cases_equal_the_twin(name: str):
    assert not differences(SMALLEST[name])


def test_the_first_cases_equal_the_twin():
    for case in cases(FEW, seed=1):
        assert not differences(case), case


@pytest.mark.slow
def test_all_cases_equal_the_twin():
    for case in islice(cases(ALL, seed=1), FEW, None):
        assert not differences(case), case
