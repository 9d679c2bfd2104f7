"""What a setup of the engine `malloc` becomes: whole numbers, arrays, addresses of answers.

All times are modeling assumptions. A heap may not be empty at the start: then runs of taken granules lie between free
ones, at random.
"""

from __future__ import annotations

import math

import numpy as np

from workbench.compiled import NO_ANSWER
from workbench.engines.kit import made
from workbench.engines.kit.checks import check_column
from workbench.engines.kit.engine import at_slot
from workbench.engines.kit.order import LAST_CYCLE
from workbench.engines.malloc.options import Case, MallocOptions
from workbench.engines.malloc.state import (
    AFTER,
    ALL_NULL,
    ARENA,
    ASK,
    BEFORE,
    BITMAP,
    DURING,
    HIGHEST,
    LOWEST,
    NEAREST,
    NEXT,
    PARALLEL,
    PIECEWISE,
    Arena,
    Columns,
    Policies,
    Rules,
)
from workbench.errors import InputError, wrong_value
from workbench.policies.malloc.arenas import OneHeap
from workbench.policies.malloc.device_heap import check_pieces
from workbench.policies.malloc.heap import BitmapArena, HeapPolicy, SizeClasses, rounds
from workbench.policies.malloc.lock import BY_WORD, WordByWord
from workbench.policies.malloc.parallel.access import ParallelHeap
from workbench.policies.malloc.serve import MOST_BYTES
from workbench.policies.placement.question import Placement
from workbench.structures.bitmaps import all_free, packed
from workbench.structures.run_tree import new_run_tree
from workbench.workloads.workload import Mallocs


def placement_of(heap: HeapPolicy) -> Placement | None:
    """Return the placement policy of a bitmap; other heaps have none."""
    return heap.placement if isinstance(heap, BitmapArena) else None


_SEARCHED = {"first_fit": LOWEST, "last_fit": HIGHEST, "next_fit": NEXT, "nearest_boundary": NEAREST}
SEARCHES = {Placement.read(name): code for name, code in _SEARCHED.items()}
"""Placement policies whose answers a summary over the bitmap gives without reading it."""
MOST_ROUNDED, MOST_THREADS = 1 << 22, 1 << 56
SKIPS = 1
"""Tests set 0: no cycle of a line is left out (`Rules.skips`)."""
_FAILURES = ("all_null", "per_thread_fallback", "halve_and_retry")
_FREES = ("refcount", "piecewise", "arena")
MOST_PARALLEL = 1 << 24
_NO_WORDS = np.zeros(1, np.int64)
"""Of a heap that does not serve in parallel."""
_MOMENTS = {"before_request": BEFORE, "during_lock_wait": DURING, "after_grant": AFTER}


def check_policies(case: Case) -> None:
    """Refuse policies that do not go together."""
    slots, granules = case.slots, case.options.heap_bytes // case.options.granule_bytes
    with at_slot(case.setup, "serve"):
        check_pieces(slots.serve, slots.heap, case.options.granule_bytes)
    _check_parallel(case)
    if granules // slots.arenas.count() < 2:
        expected = f"must leave each at least two granules of {case.options.granule_bytes} bytes"
        name, count = f"{slots.arenas.name}.arenas", slots.arenas.count()
        raise wrong_value("", name, expected, count, max(granules // 2, 1))


def _check_parallel(case: Case) -> None:
    """Refuse a parallel heap under a lock of the whole heap, in several arenas or too large, and the lock of words for
    another heap."""
    _, heap, lock, arenas = case.slots
    parallel = heap.kind == PARALLEL
    if parallel != (lock.kind == BY_WORD):
        expected = "must be word_by_word" if parallel else "must be a lock of the whole heap"
        other = "word_by_word" if parallel else "trylock_spin"
        raise wrong_value("", "policy.lock", f"{expected} for the heap {heap.name}", lock.name, other)
    if not parallel:
        return
    if not isinstance(arenas, OneHeap):
        raise wrong_value("", "policy.arenas", f"must be one_heap for the heap {heap.name}", arenas.name, "one_heap")
    if case.options.heap_bytes // case.options.granule_bytes > MOST_PARALLEL:
        expected = f"must be at most {MOST_PARALLEL} granules of {case.options.granule_bytes} bytes for {heap.name}"
        nearest = MOST_PARALLEL * case.options.granule_bytes
        raise wrong_value("", f"{case.options.name}.heap_bytes", expected, case.options.heap_bytes, nearest)
    if case.options.atomics.figures() != (0, 0, 0):
        expected = (
            f"must be fixed_latency of 0 cycles for {heap.name}: the levers of word_by_word say what accesses take"
        )
        raise wrong_value("", f"{case.options.name}.atomics", expected, case.options.atomics.short(), "fixed_latency")


def check_warps(case: Case) -> None:
    """Refuse a warp size that the machine has not: warps, or equal parts of warps, are served together (spec 2, ¶45).

    Raises
    ------
    InputError
        The warp size of the serving policy or of the workload does not divide the machine's.
    """
    serve, workload, whole = case.slots.serve, case.setup.workload, int(case.machine.wave_size)
    for path, spec in ((f"policy.serve.{serve.name}", serve), (f"workload.{workload.name}", workload)):
        size = getattr(spec, "warp_size", 1)
        if whole % size:
            nearest = math.gcd(whole, 1 << (min(size, whole).bit_length() - 1))
            expected = f"must divide machine.wave_size ({whole}), the threads of its warps"
            raise wrong_value("", f"{path}.warp_size", expected, size, nearest)


def granules_of(case: Case) -> int:
    """Return the granules that each arena has at the start."""
    return case.options.heap_bytes // case.options.granule_bytes // case.slots.arenas.count()


def rules_of(case: Case, any_frees: bool) -> Rules:
    """Return policies and options as whole numbers, for a heap that does not grow."""
    options, (serve, heap, lock, arenas) = case.options, case.slots
    placement = placement_of(heap)
    scan, moment = serve.scan_steps() * options.scan_step_cycles, _MOMENTS[serve.prefix_moment()]
    barrier = serve.barrier_steps() * options.barrier_step_cycles
    latency = options.atomics.figures()
    words = lock if isinstance(lock, WordByWord) else None
    return Rules(
        unit=serve.unit(),
        header=serve.block_header(),
        before_cycles=options.launch_cycles + barrier + (0 if moment == DURING else scan),
        during_cycles=options.launch_cycles + barrier + scan if moment == DURING else 0,
        division_cycles=(options.split_cycles + (scan if moment == AFTER else 0)) * int(serve.divides()),
        overlaps=int(serve.overlaps_split()),
        on_failure=_FAILURES.index(serve.on_failure()),
        frees=_FREES.index(serve.frees()),
        any_frees=int(any_frees),
        lock=lock.kind,
        hold_cycles=lock.hold_cycles,
        among=lock.among(),
        first_back_off=lock.back_off()[0],
        most_back_off=lock.back_off()[1],
        handoff_cycles=lock.handoff()[0],
        handoff_a_waiter=lock.handoff()[1],
        rereads=int(lock.rereads()),
        retries=int(lock.retries()),
        merges=int(words is not None and words.merge_lanes),
        polls=0 if words is None else words.polls_a_cycle,
        resident=0 if words is None else resident_blocks(case),
        swap_cycles=0 if words is None else words.swap_cycles,
        travel_cycles=0 if words is None else words.travel_cycles,
        block_threads=options.block_threads,
        units=case.machine.compute_units,
        latency=latency[0],
        latency_a_waiter=latency[1],
        latency_waiters=latency[2],
        arenas=arenas.count(),
        by=arenas.by,
        tries=arenas.tries(),
        heap=heap.kind,
        keeps=int(not heap.gives_back),
        search=ASK if placement is None else SEARCHES.get(placement, ASK),
        granule=options.granule_bytes,
        region=granules_of(case),
        chunk=max(heap.chunk_bytes // options.granule_bytes, 1) if isinstance(heap, SizeClasses) else 1,
        grows=0,
        skips=SKIPS,
    )


def resident_blocks(case: Case) -> int:
    """Return the number of thread blocks that the machine holds at once; at least one a compute unit."""
    machine = case.machine
    threads = machine.waves_a_unit * machine.wave_size
    return machine.compute_units * max(threads // case.options.block_threads, 1)


def arena_of(case: Case, rules: Rules) -> Arena:
    """Return the memory of every arena at the start, with what is occupied."""
    options, streams, placement = case.options, case.streams, placement_of(case.slots.heap)
    arenas = range(rules.arenas)
    bitmap, size = rules.heap == BITMAP, granules_of(case)
    taken = int(options.occupancy * size)
    maps = [all_free(size) if bitmap else np.zeros(1, np.uint64) for _ in arenas]
    if bitmap and options.occupancy:
        maps = [occupied(size, options, streams.integer(f"occupied/{at}")) for at in arenas]
    if bitmap and rules.region > size:
        maps = [_with_taken(one, rules.region) for one in maps]
    trees = [new_run_tree(one) if rules.search != ASK else np.zeros(1, np.int32) for one in maps]
    free = np.stack(maps)
    return made(
        Arena,
        {"arenas": rules.arenas},
        free=free,
        tree=np.stack(trees),
        room=np.array([int(np.bitwise_count(one).sum()) for one in maps], np.int64),
        memory=_memories(case, rules),
        words=_words(case, rules) if rules.heap == PARALLEL else _NO_WORDS,
        limit=np.full(rules.arenas, size),
        rounded=_rounded(placement, rules),
        top=np.full(rules.arenas, 0 if bitmap else taken),
    )


def _with_taken(free: np.ndarray, granules: int) -> np.ndarray:
    """Return a free map for more granules, of which those behind it are taken."""
    longer = all_free(granules)
    longer[:] = 0
    longer[: free.size] = free
    return longer


def occupied_bytes(rules: Rules, arena: Arena) -> int:
    """Return the bytes of the heap that are taken."""
    bitmap = rules.heap == BITMAP
    granules = int(arena.limit.sum()) - int(arena.room.sum()) if bitmap else int(arena.top.sum())
    return granules * rules.granule


def _memories(case: Case, rules: Rules) -> np.ndarray:
    """Return the memory of the placement policy of each arena; one that draws has a stream of its own for each."""
    placement = placement_of(case.slots.heap)
    if placement is None or rules.search != ASK:
        return np.zeros((rules.arenas, 1), np.int64)
    seeds = [case.streams.integer(f"placement/{at}") for at in range(rules.arenas)]
    return np.stack([placement.start_memory(rules.region, seed) for seed in seeds])


def _words(case: Case, rules: Rules) -> np.ndarray:
    """Return the memory of a parallel heap; what is occupied lies behind its granules."""
    heap, granules = case.slots.heap, granules_of(case)
    assert isinstance(heap, ParallelHeap)
    return heap.start_memory(granules - int(case.options.occupancy * granules), rules.granule, rules.units)


def _rounded(placement: Placement | None, rules: Rules) -> np.ndarray:
    if placement is None or not rounds(placement):
        return np.zeros(1, np.int64)
    if rules.region > MOST_ROUNDED:
        name = f"options.heap_bytes under {placement.name}"
        most = MOST_ROUNDED * rules.granule * rules.arenas
        raise wrong_value(
            "", name, f"must be at most {MOST_ROUNDED} granules an arena", rules.region * rules.granule, most
        )
    lengths = np.maximum(np.arange(rules.region + 1), 1)
    return np.asarray(placement.footprint(lengths, rules.region), np.int64)


def policies_of(heap: HeapPolicy, rules: Rules, checked: bool) -> Policies:
    """Return the policies that the loop calls; nothing where a summary answers."""
    if isinstance(heap, ParallelHeap):
        returned = heap.ready_notice("returned", checked)
        return Policies(heap.ready_answer(checked), NO_ANSWER, returned, heap.parameters())
    placement = placement_of(heap)
    if placement is None or rules.search != ASK:
        return Policies(NO_ANSWER, NO_ANSWER, NO_ANSWER, np.zeros(1))
    ready = placement.ready(rules.region, 0, checked)
    return Policies(ready.answer, ready.granted, ready.released, ready.params)


def columns_of(wanted: Mallocs, rules: Rules) -> Columns:
    """Return the calls, checked."""
    check_calls(wanted)
    warp = np.zeros(1, np.int64)
    if rules.any_frees and rules.frees == ARENA:
        warp = np.unique(wanted.thread // rules.unit, return_inverse=True)[1].astype(np.int64)
    return Columns(wanted.arrival, wanted.thread, wanted.bytes, wanted.free_at, warp)


def check_calls(wanted: Mallocs) -> None:
    """Refuse calls that make no sense, before anything happens.

    Raises
    ------
    InputError
        A byte count is below 0 or absurd, a thread is named twice at one arrival, calls are not in order, or too late.
    """
    sizes, thread, arrival = wanted.bytes, wanted.thread, wanted.arrival
    for name, column, least, most in (
        ("arrival", arrival, 0, LAST_CYCLE),
        ("thread", thread, 0, MOST_THREADS),
        ("bytes", sizes, 0, MOST_BYTES),
        ("free_at", wanted.free_at, -1, LAST_CYCLE),
    ):
        check_column("call", name, column, len(arrival), least, most)
    if not len(sizes):
        return
    later = arrival[1:] > arrival[:-1]
    in_order = later | ((arrival[1:] == arrival[:-1]) & (thread[1:] > thread[:-1]))
    if not in_order.all():
        row = int(np.argmin(in_order)) + 1
        raise InputError(
            f"call {row} (cycle {arrival[row]}, thread {thread[row]}) must come after call {row - 1} (cycle "
            f"{arrival[row - 1]}, thread {thread[row - 1]}): calls go by arrival, then by thread, each thread once."
        )
    early = (wanted.free_at >= 0) & (wanted.free_at < arrival)
    if early.any():
        row = int(np.argmax(early))
        expected = f"must be -1 (never) or at least its arrival ({arrival[row]})"
        raise wrong_value("", f"call {row}: free_at", expected, int(wanted.free_at[row]), int(arrival[row]))


def blocks_at_most(rules: Rules, rows: int, requests: int) -> int:
    """Return the largest number of blocks."""
    return rows if rules.on_failure != ALL_NULL or rules.frees == PIECEWISE else requests


def occupied(granules: int, options: MallocOptions, seed: int) -> np.ndarray:
    """Return a free map of which a share is taken: uint64[words].

    Taken runs are uniform from 1 to 2 m - 1 granules for a mean of m, free ones likewise with the mean that makes the
    share; the map begins with a free run.

    Parameters
    ----------
    granules : int
    options : MallocOptions
        `occupancy` and `occupied_run_bytes` over `granule_bytes`.
    seed : int
        Of a generator of its own.
    """
    share = options.occupancy
    taken = max(options.occupied_run_bytes / options.granule_bytes, 1.0)
    free = max(taken * (1 - share) / share, 1.0)
    # More than twice the pairs that are needed on average; a map that is still too short ends with free granules. Pairs
    # that begin beyond twice the map are not laid out.
    pairs = int(2 * granules / (taken + free)) + 8
    draws = np.random.Generator(np.random.PCG64(seed)).random((pairs, 2))
    lengths = 1 + (draws * (2 * np.array([free, taken]) - 1)).astype(np.int64)
    lengths = lengths[np.cumsum(lengths.sum(axis=1)) <= 2 * granules + lengths.sum(axis=1)]
    bits = np.repeat(np.tile(np.array([True, False]), len(lengths)), lengths.ravel())[:granules]
    missing = np.ones(granules - len(bits), bool)
    return packed(np.concatenate([bits, missing]))
