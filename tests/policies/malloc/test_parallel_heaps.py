"""Heaps that serve in parallel: each keeps the contract; what their answers are; what does not go together."""

from __future__ import annotations

import pytest

from tests.engines.malloc_cases import batch, setup, simulate
from tests.junk import refusal
from workbench.engines.malloc import Malloc
from workbench.machine import Machine
from workbench.policies.malloc import (
    AtomicPointer,
    BasicBlocks,
    BitmapArena,
    ChunkQueue,
    CircularList,
    HashedBins,
    PageQueue,
    PerThread,
    ScatteredPages,
    Slabs,
    TrylockSpin,
    WarpArenas,
    WordByWord,
)
from workbench.policies.malloc.parallel.contract import ParallelHeapContract


class TestHashedBins(ParallelHeapContract):
    policy = HashedBins(bins=3)


class TestAtomicPointer(ParallelHeapContract):
    policy = AtomicPointer()


class TestCircularList(ParallelHeapContract):
    policy = CircularList(list_header_bytes=4)


class TestCircularListOfEachUnit(ParallelHeapContract):
    policy = CircularList(pointers="each_unit")


class TestScatteredPages(ParallelHeapContract):
    policy = ScatteredPages(page_bytes=128)


class TestSlabs(ParallelHeapContract):
    policy = Slabs(slabs=6, large_bytes=100, share_percent=70)


class TestPageQueue(ParallelHeapContract):
    policy = PageQueue(chunk_bytes=128, levels=1)


class TestChunkQueue(ParallelHeapContract):
    policy = ChunkQueue(chunk_bytes=128, levels=1)


class TestBasicBlocks(ParallelHeapContract):
    policy = BasicBlocks(lists=2, list_blocks=3, superblock_blocks=4, smallest_bytes=32)


def test_lanes_of_a_warp_share_an_addition_and_others_follow():
    """32 lanes of two warps: each addition reaches its word after 10 cycles, and the second warp's takes 3 more."""
    lock = WordByWord(hold_cycles=3, travel_cycles=10)
    record = simulate(batch([16] * 64), PerThread(), AtomicPointer(), lock)
    assert sorted(set(record.ready.tolist())) == [13, 16]
    assert record.heap_atomics == 2
    apart = simulate(batch([16] * 64), PerThread(), AtomicPointer(), lock.but(merge_lanes=False))
    assert (int(apart.ready.max()), apart.heap_atomics) == (10 + 64 * 3, 64)


def test_who_waits_lengthens_a_section():
    """Of four requests each section takes its cycles and one more for each that is under way when it is issued."""
    alone, tried = (WordByWord(travel_cycles=0, polls_a_cycle=polls) for polls in (0, 1))
    heap = CircularList(section_cycles=100)
    assert simulate(batch([16] * 4), PerThread(), heap, alone).ready.tolist() == [100, 200, 300, 400]
    assert simulate(batch([16] * 4), PerThread(), heap, tried).ready.tolist() == [104, 208, 312, 416]


def test_a_pointer_a_unit_serves_the_units_side_by_side():
    heap = CircularList(section_cycles=100, pointers="each_unit")
    machine = Machine(compute_units=2, wave_size=32)
    case = setup(batch([16] * 4), PerThread(), heap, WordByWord(travel_cycles=0, polls_a_cycle=0), block_threads=2)
    assert Malloc().simulate(case._replace(machine=machine), 1).ready.tolist() == [100, 200, 100, 200]


def test_a_block_comes_when_another_has_ended():
    """A machine of one unit with one wave holds one block of 32 threads at once."""
    machine = Machine(compute_units=1, wave_size=32, waves_a_unit=1)
    lock = WordByWord(hold_cycles=1, travel_cycles=9)
    case = setup(batch([16] * 64), PerThread(), AtomicPointer(), lock, block_threads=32)
    record = Malloc().simulate(case._replace(machine=machine), 1)
    assert sorted(set(record.ready.tolist())) == [10, 20]


@pytest.mark.parametrize(
    ("chosen", "says"),
    [
        ({"heap": PageQueue(), "lock": TrylockSpin()}, "must be word_by_word for the heap page_queue"),
        ({"heap": BitmapArena(), "lock": WordByWord()}, "must be a lock of the whole heap for the heap bitmap_arena"),
        ({"heap": Slabs(), "lock": WordByWord(), "arenas": WarpArenas()}, "must be one_heap for the heap slabs"),
    ],
)
def test_what_does_not_go_together_is_one_sentence(chosen, says):
    assert says in refusal(Malloc().validate, setup(batch([16]), **chosen), 1)
