"""A pointer that everybody moves: by one atomic operation, or around a ring of chunks (spec 2, R33, R34)."""

from __future__ import annotations

from typing import Literal

import numpy as np

from workbench.levers import lever
from workbench.policies.malloc.parallel.access import (
    ADD,
    CYCLES,
    FIRST,
    GRANT,
    GRANULE_BYTES,
    GRANULES,
    HOLD,
    NULL,
    POOL_SIZE,
    POOL_TOP,
    STAGE,
    START,
    WORD,
    AccessView,
    ParallelHeap,
    ReturnView,
    from_pool,
    new_memory,
)


class AtomicPointer(ParallelHeap):
    """One atomic addition to one pointer, which lanes of a warp share; nothing that is freed comes back, no ties.

    References
    ----------
    spec 2, R33; M. Vinkler and V. Havran, "Register Efficient Memory Allocator for GPUs", HPG 2014, section 4.1:
    AtomicMalloc, and AWMalloc until it wraps around.

    Examples
    --------
    >>> AtomicPointer().gives_back
    False
    """

    gives_back = False

    @staticmethod
    def answer(see: AccessView) -> int:
        if see.own[STAGE] == 0:
            see.own[STAGE], see.out[WORD] = 1, POOL_TOP
            return ADD
        start = from_pool(see.memory, see.granules)
        if start < 0:
            return NULL
        see.out[START], see.out[GRANULES] = start, see.granules
        return GRANT


HEADER, POINTERS, SECTION = range(3)
EACH_UNIT = 1
USED = 1


class CircularList(ParallelHeap):
    """A ring of chunks, searched from a pointer on; the first free chunk that is long enough is taken and split.

    A request holds the pointer while it searches and splits. With `each_unit` every compute unit has a pointer and a
    part of the ring to begin with. What is freed takes in a free chunk behind it. No ties.

    References
    ----------
    spec 2, R34; M. Vinkler and V. Havran, "Register Efficient Memory Allocator for GPUs", HPG 2014, section 4: CMalloc,
    CFMalloc (both parts of a header in one word), CMMalloc and CFMMalloc (a pointer a multiprocessor).

    Examples
    --------
    >>> CircularList(pointers="each_unit").plain()["pointers"]
    'each_unit'
    """

    list_header_bytes: int = lever(8, least=0, most=4096, unit="bytes", description="what each chunk holds on top")
    pointers: Literal["one", "each_unit"] = lever("one", description="one pointer for all, or one a compute unit")
    section_cycles: int = lever(
        800, least=1, most=10_000_000, scale="log", unit="cycles", description="how long a request holds its pointer"
    )

    @staticmethod
    def answer(see: AccessView) -> int:
        memory = see.memory
        granules = max(
            (see.bytes + see.levers.list_header_bytes + memory[GRANULE_BYTES] - 1) // memory[GRANULE_BYTES], 1
        )
        pointer = FIRST + 1 + see.unit % memory[FIRST]
        if see.own[STAGE] == 0:
            see.own[STAGE], see.out[WORD] = 1, pointer
            see.out[CYCLES] = see.levers.section_cycles
            return HOLD
        lengths = FIRST + 1 + memory[FIRST]
        states, end = lengths + memory[POOL_SIZE], memory[POOL_SIZE]
        at, walked = memory[pointer], 0
        while walked < end:
            length = memory[lengths + at]
            if memory[states + at] != USED and length >= granules:
                memory[states + at], memory[lengths + at] = USED, granules
                behind = at + granules
                if length > granules:
                    memory[lengths + behind], memory[states + behind] = length - granules, 0
                memory[pointer] = behind if behind < end else 0
                see.out[START], see.out[GRANULES] = at, granules
                return GRANT
            walked += length
            at = at + length if at + length < end else 0
        return NULL

    @staticmethod
    def returned(see: ReturnView) -> None:
        memory = see.memory
        lengths = FIRST + 1 + memory[FIRST]
        states, behind = lengths + memory[POOL_SIZE], see.start + see.granules
        memory[states + see.start] = 0
        if behind == memory[POOL_SIZE] or memory[states + behind] == USED:
            return
        memory[lengths + see.start] += memory[lengths + behind]
        for pointer in range(FIRST + 1, lengths):
            if memory[pointer] == behind:
                memory[pointer] = see.start

    def start_memory(self, granules: int, granule_bytes: int, units: int) -> np.ndarray:
        """Return the memory: how many pointers there are, the pointers, of each granule where a chunk begins its length
        and whether it is used."""
        count = min(units, granules) if self.pointers == "each_unit" else 1
        memory = new_memory(granules, granule_bytes, units, 1 + count + 2 * granules)
        starts = granules * np.arange(count + 1) // count
        memory[FIRST], memory[FIRST + 1 : FIRST + 1 + count] = count, starts[:-1]
        memory[FIRST + 1 + count + starts[:-1]] = np.diff(starts)
        return memory
