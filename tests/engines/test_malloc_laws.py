"""Exact laws of the engine `malloc`, beside the vectors: acquisitions, aggregation, overlap, prefix rules, arenas."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.engines.malloc_cases import batch, setup, simulate
from tests.junk import refusal
from tests.slow import examples
from workbench.engines.malloc import Malloc
from workbench.machine import Machine
from workbench.metrics.malloc import measure
from workbench.policies.malloc import (
    AS_FOUND,
    BitmapArena,
    BlockAggregated,
    BumpPointer,
    LockFree,
    PerThread,
    QueueLock,
    SizeArenas,
    SizeClasses,
    TrylockSpin,
    WarpAggregated,
    WarpArenas,
)
from workbench.streams import Streams
from workbench.workloads.malloc_calls import RandomMallocs

sizes = st.lists(st.integers(0, 300), min_size=1, max_size=90)


@examples(40, 200)
@given(sizes, st.integers(1, 40), st.sampled_from([1, 4, 16]))
def test_pieces_are_apart_and_inside_with_the_exclusive_rule(asked, warp, align):
    """Spec 2, R20, H2.6."""
    measures = measure(simulate(batch(asked), WarpAggregated(warp_size=warp, min_alloc=1, align=align)))
    assert (measures["overlap_bytes"], measures["out_of_bounds_bytes"]) == (0, 0)


@examples(40, 200)
@given(st.lists(st.integers(1, 300), min_size=2, max_size=90).filter(lambda asked: len(set(asked)) > 1))
def test_the_written_rule_breaks_wherever_sizes_differ(asked):
    serve = WarpAggregated(warp_size=len(asked), min_alloc=1, align=1, prefix="as_written")
    measures = measure(simulate(batch(asked), serve))
    assert measures["overlap_bytes"] + measures["out_of_bounds_bytes"] > 0


@examples(25, 200)
@given(st.lists(st.booleans(), min_size=1, max_size=200), st.integers(1, 40))
def test_locks_are_taken_once_for_each_warp_with_an_active_lane(active, warp):
    """Spec 2, R15."""
    calls = [(0, thread, 8, -1) for thread, calls in enumerate(active) if calls]
    record = simulate(calls, WarpAggregated(warp_size=warp))
    assert record.acquisitions == len({thread // warp for _, thread, _, _ in calls}) == record.heap_atomics
    assert record.tried_in_vain == record.acquisitions * (record.acquisitions - 1) // 2


@pytest.mark.parametrize("p", [0.03125, 0.25, 0.5])
def test_expected_aggregation(p):
    """W p / (1 - (1 - p)^W) threads a request, in the mean over 3,125 warps (field notes, 3.2: 16.0 at p = 1/2)."""
    workload = RandomMallocs(threads=100_000, active=p, size=4)
    record = Malloc().simulate(setup([], workload=workload, heap_bytes=1 << 22), seed=3)
    law = 32 * p / (1 - (1 - p) ** 32)
    assert len(record.arrival) / record.heap_atomics == pytest.approx(law, rel=0.02)


@pytest.mark.parametrize("warps", [1, 2, 7])
def test_makespan_with_and_without_overlap(warps):
    """Spec 2, H2.5: k hold + split, and k (hold + split)."""
    lock, times = TrylockSpin(hold_cycles=100), {"split_cycles": 30, "scan_step_cycles": 0}
    spans = [
        measure(simulate(batch([4] * 32 * warps), WarpAggregated(split_overlap=overlap), lock=lock, **times))
        for overlap in (True, False)
    ]
    overlapped, serial = (int(result["makespan_cycles"]) for result in spans)
    assert (overlapped, serial) == (warps * 100 + 30, warps * 130)
    assert serial - overlapped == (warps - 1) * 30


@pytest.mark.parametrize(
    ("when", "first", "second"),
    [
        ("before_request", 20 + 100 + 30, 20 + 200 + 30),
        ("during_lock_wait", 120 + 30, 220 + 30),
        ("after_grant", 20 + 100 + 30 + 20, 20 + 200 + 30 + 20),
    ],
)
def test_when_the_prefix_sum_is_computed(when, first, second):
    """Spec 2, R9: 5 steps of 4 cycles, a hold of 100, a division of 30; two warps."""
    serve = WarpAggregated(prefix_when=when)
    options = {"scan_step_cycles": 4, "split_cycles": 30}
    record = simulate(batch([4] * 64), serve, lock=TrylockSpin(hold_cycles=100), **options)
    assert record.ready.tolist() == [first, second]


def test_a_barrier_comes_before_a_block_asks():
    record = simulate(batch([4] * 256), BlockAggregated(), barrier_step_cycles=10, scan_step_cycles=0)
    assert record.acquired.tolist() == [40]


def test_a_fetch_and_add_follows_the_one_before_it_and_never_fails():
    record = simulate(batch([4] * 100), PerThread(), BumpPointer(), LockFree(hold_cycles=8))
    assert record.ready.tolist() == list(range(8, 808, 8))
    measures = measure(record)
    assert (measures["lock_attempts"], measures["lock_failures"], measures["heap_atomics"]) == (0, 0, 100)


def test_every_compare_and_swap_is_an_atomic_operation_and_those_in_vain_are_tries():
    """Spec 2, E11, H2.9: four calls a cycle apart; 3 find another at work, 2 and 1 lose: 4 + 6, and 4 x 8 + 6 x 1."""
    record = simulate(
        [(at, at, 4, -1) for at in range(4)],
        PerThread(),
        BumpPointer(),
        LockFree(hold_cycles=8, operation="compare_and_swap"),
        heap_instructions=8,
        try_instructions=1,
    )
    measures = measure(record)
    assert (measures["lock_failures"], measures["heap_atomics"], measures["instructions"]) == (6, 10, 38)
    assert measures["metadata_transactions"] == 10


def test_arenas_serve_side_by_side_and_lend_to_each_other():
    arenas = WarpArenas(arenas=4, probes=4)
    record = simulate(batch([16] * 128), arenas=arenas, heap_bytes=2048, granule_bytes=16, scan_step_cycles=0)
    assert record.acquired.tolist() == [0, 0, 0, 0]
    assert record.base.tolist() == [0, 32, 64, 96]
    full = simulate([*batch([16] * 128), (10**6, 0, 16, -1)], arenas=arenas, heap_bytes=4096 + 64)
    assert full.block[-1] >= 0
    crowded = simulate([*batch([16] * 128), (10**6, 0, 16, -1)], arenas=arenas, heap_bytes=2048)
    assert (crowded.block[-1], crowded.acquisitions) == (-1, 4 + 4)


def test_what_is_occupied_at_the_start_is_about_what_was_asked_for_and_is_kept():
    shares = []
    for seed in range(8):
        made = setup(batch([64] * 32), heap_bytes=1 << 20, occupancy=0.75, occupied_run_bytes=512)
        record = Malloc().simulate(made, seed)
        shares.append(record.occupied_bytes / record.heap_bytes)
        assert record.returned.tolist() == [-1] * len(record.base)
    assert np.mean(shares) == pytest.approx(0.75, abs=0.03)
    assert len(set(shares)) == 8


def test_a_heap_of_many_granules_gives_what_reading_the_bitmap_gives():
    """First fit by the tree against first fit under another name, which reads all words."""

    class ReadAll(type(BitmapArena().placement)):
        pass

    workload = RandomMallocs(
        threads=512, batches=4, frees={"freed_by_thread": {"lifetime": {"uniform": [1, 400_000]}}}, batch_cycles=100_000
    )
    policies = [BitmapArena(), BitmapArena(placement=ReadAll())]
    options = {"heap_bytes": 1 << 17, "occupancy": 0.3, "occupied_run_bytes": 256}
    tree, read = (
        Malloc().simulate(setup([], PerThread(), heap, workload=workload, **options), seed=5) for heap in policies
    )
    assert tree.base.tolist() == read.base.tolist()
    assert (tree.returned >= 0).sum() > 1000


@pytest.mark.parametrize("label", AS_FOUND)
def test_every_published_design_serves_a_mixed_load(label):
    workload = RandomMallocs(threads=256, size={"uniform": [4, 512]})
    made = setup([], workload=workload, heap_bytes=1 << 22)._replace(policies=AS_FOUND[label])
    measures = measure(Malloc().simulate(made, seed=1))
    assert measures["failures"] == 0
    assert measures["overlap_bytes"] == measures["out_of_bounds_bytes"] == 0


def test_an_arena_for_each_size_class_leaves_none_without_a_size():
    """From one granule of 16 bytes to 512 of them there are ten classes, one for each of ten arenas."""
    rows = [(k, k, 16 << min(k, 9), -1) for k in range(11)]
    record = simulate(rows, PerThread(align=16), SizeClasses(chunk_bytes=8192), arenas=SizeArenas(arenas=10, probes=1),
                      heap_bytes=10 << 16, events=True)  # fmt: skip
    assert [int(arena) for _, _, arena in record.taken_log] == [*range(10), 9]
    assert (record.block >= 0).all()


def test_the_size_that_chooses_an_arena_is_the_blocks_with_its_header():
    serve = PerThread(min_alloc=1, align=1, header_bytes=8)
    rows = [(k, k, size, -1) for k, size in enumerate((1, 8, 9, 24, 25))]
    record = simulate(rows, serve, arenas=SizeArenas(arenas=8), granule_bytes=16, events=True)
    assert sorted((int(request), int(arena)) for _, request, arena in record.taken_log) == [
        (0, 0),
        (1, 0),
        (2, 1),
        (3, 1),
        (4, 2),
    ]


ORDER = "calls go by arrival, then by thread, each thread once."


@pytest.mark.parametrize(
    ("rows", "sentence"),
    [
        ([(0, 0, -1, -1)], "call 0: bytes must be a whole number from 0 to 1099511627776. Got -1."),
        ([(0, 0, 2**41, -1)], "call 0: bytes must be a whole number from 0 to 1099511627776. Got 2199023255552."),
        ([(5, 0, 1, -1), (4, 1, 1, -1)], ORDER),
        ([(5, 1, 1, -1), (5, 1, 1, -1)], ORDER),
        ([(5, 0, 1, 4)], "call 0: free_at must be -1 (never) or at least its arrival (5). Got 4. Nearest: 5."),
        ([(-5, 0, 1, -1)], "call 0: arrival must be a whole number from 0 to 72057594037927935. Got -5."),
    ],
)
def test_calls_that_make_no_sense_are_one_sentence(rows, sentence):
    assert sentence in refusal(simulate, rows)


def test_policies_that_do_not_go_together_are_one_sentence():
    pieces = WarpAggregated(free_policy="piecewise", align=16)
    assert "piecewise needs a heap that takes exactly" in refusal(simulate, [], pieces, BumpPointer())
    assert "must be a multiple of the granule (32 bytes)" in refusal(simulate, [], pieces, granule_bytes=32)
    few = refusal(simulate, [], arenas=WarpArenas(arenas=64), heap_bytes=1024)
    assert few == (
        "policy.arenas.warp_arenas.arenas must leave each at least two granules of 16 bytes. Got 64. Nearest: 32."
    )
    buddy = BitmapArena(placement="buddy")
    large = refusal(simulate, batch([4]), None, buddy, heap_bytes=1 << 30)
    assert large.startswith("options.heap_bytes under buddy must be at most 4194304 granules an arena.")


def test_a_policy_of_ones_own_is_named_when_it_breaks_its_question():
    from workbench.errors import PolicyError

    class Twice(PerThread):
        def answer(see):
            see.part[0], see.leader[0] = 1, 0
            return 1

    with pytest.raises(PolicyError, match=r"twice \(serve\) answered 1: parts, .*; at the call of thread 0"):
        simulate(batch([4]), Twice())


def test_admission_draws_the_calls_and_refuses_the_same():
    assert Malloc().validate(setup(batch([4])), 1) is None
    assert "bytes must be" in refusal(Malloc().validate, setup([(0, 0, -1, -1)]), 1)
    drawn = RandomMallocs(threads=5).mallocs(Machine(), Streams(1))
    assert len(drawn.thread) == 5


def test_queue_and_ticket_locks_serve_in_the_order_of_coming():
    record = simulate(batch([4] * 64), PerThread(), lock=QueueLock(hold_cycles=10, handoff_cycles=3))
    assert record.acquired.tolist() == list(range(0, 13 * 64, 13))
    assert record.tried_in_vain == 0


def test_of_an_odd_half_the_larger_part_is_tried_first():
    """Six lanes, two free granules: six are refused, three are, two fit."""
    serve = WarpAggregated(warp_size=6, failure_policy="halve_and_retry")
    rows = [(0, 6, 56, -1), *((1000, thread, 4, -1) for thread in range(6))]
    record = simulate(rows, serve, heap_bytes=64, granule_bytes=4)
    assert record.granules.tolist() == [14, 2]
    assert record.block.tolist() == [0, 1, 1, -1, -1, -1, -1]
