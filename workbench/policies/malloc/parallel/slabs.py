"""Slabs of blocks of one size, with a count and a bitmap each (spec 2, R36)."""

from __future__ import annotations

import numpy as np

from workbench.compiled import kernel
from workbench.levers import lever
from workbench.policies.malloc.parallel.access import (
    ADD,
    CYCLES,
    EACH,
    FIRST,
    GRANT,
    GRANULES,
    HOLD,
    NULL,
    STAGE,
    START,
    WORD,
    AccessView,
    ParallelHeap,
    ReturnView,
    first_free,
    flip,
    from_pool,
    new_memory,
    words_for,
)
from workbench.policies.malloc.parallel.bins import BINS, HashedBins, ask_bins, is_of_a_bin, to_bins, words_of_bins

SLABS, FILL, LARGE, SLAB_CYCLES, SHARE, LARGE_LEVERS = range(6)
"""Places of the levers; those of the bins for large requests come last."""
CLASSES = 80
LENGTH, USED, BINS_AT, TABLE, LINKS, CURRENT, REFILLING = (
    FIRST,
    FIRST + 1,
    FIRST + 2,
    FIRST + 3,
    FIRST + 4,
    FIRST + 5,
    FIRST + 5 + CLASSES,
)
"""Places of the memory: granules a slab, slabs in use, where the bins' words, the slabs' entries and the links lie.
Of each class there follow its slab + 1, and whether somebody replaces it."""
BASE, BLOCK, COUNT, BITMAP = range(4)
"""Places of a slab's entry: first granule, granules of a block, count, bitmap."""
REFILLS, COUNTS, TAKES, FOLLOWS = 1, 2, 3, 4
SLAB, SPOT = 1, 2


class Slabs(ParallelHeap):
    """A slab a size class: a request raises its count and sets a bit; a slab that is filled to a limit is replaced.

    Sizes are 1, 2, 3, 4, 6, 8, 12, ... granules. The count is raised once for all lanes of a warp. Between free
    blocks there is no tie: the request's own number says which is looked at first, then the next ones. Large requests
    go to `large`.

    References
    ----------
    spec 2, R36; A. Adinetz and D. Pleiter, "Halloc: a high-throughput dynamic memory allocator for GPGPU
    architectures", GTC 2014.

    Examples
    --------
    >>> Slabs().large.name
    'hashed_bins'
    """

    slabs: int = lever(
        128, least=1, most=1 << 16, scale="log", unit="slabs", description="parts of the heap that slabs are"
    )
    fill_percent: int = lever(85, least=1, most=100, unit="%", description="of its blocks, when a slab is replaced")
    large_bytes: int = lever(3072, least=16, most=1 << 30, unit="bytes", description="above, `large` serves")
    slab_cycles: int = lever(
        2000, least=1, most=10_000_000, scale="log", unit="cycles", description="a class takes to replace its slab"
    )
    share_percent: int = lever(75, least=1, most=100, unit="%", description="of the heap that slabs may take")
    large: HashedBins = lever(HashedBins(), description="the heap of large requests")

    @staticmethod
    def answer(see: AccessView) -> int:
        memory, own = see.memory, see.own
        if see.bytes > see.levers[LARGE]:
            return ask_bins(see, memory[BINS_AT], LARGE_LEVERS)
        which, block = slab_class(see.granules)
        if block > memory[LENGTH]:
            return NULL
        if own[STAGE] == TAKES:
            return take_block(see)
        capacity = memory[LENGTH] // block
        width = BITMAP + words_for(memory[LENGTH])
        if own[STAGE] == COUNTS:
            own[STAGE], own[SPOT] = TAKES, see.request % capacity
            see.out[WORD] = memory[TABLE] + own[SLAB] * width + BITMAP + own[SPOT] // 64
            return EACH
        limit = max(capacity * int(see.levers[FILL]) // 100, 1)
        current = memory[CURRENT + which] - 1
        if own[STAGE] == REFILLS:
            memory[REFILLING + which] = 0
            if current < 0 or memory[memory[TABLE] + current * width + COUNT] >= limit:
                most: int = max(int(see.levers[SLABS]) * int(see.levers[SHARE]) // 100, 1)
                current = next_slab(memory, which, block, limit, most)
                if current < 0:
                    return NULL
                memory[CURRENT + which] = current + 1
            # `next_slab` may return a slab that has reached the limit but is not full; then any free block serves (R36,
            # step 2).
            limit = capacity
        if current < 0 or memory[memory[TABLE] + current * width + COUNT] >= limit:
            see.out[WORD], see.out[CYCLES] = CURRENT + which, int(see.levers[SLAB_CYCLES])
            own[STAGE] = FOLLOWS if memory[REFILLING + which] else REFILLS
            memory[REFILLING + which] = 1
            return ADD if own[STAGE] == FOLLOWS else HOLD
        memory[memory[TABLE] + current * width + COUNT] += 1
        own[STAGE], own[SLAB], see.out[WORD] = COUNTS, current, memory[TABLE] + current * width + COUNT
        return ADD

    @staticmethod
    def returned(see: ReturnView) -> None:
        memory, bins = see.memory, int(see.levers[LARGE_LEVERS + BINS])
        if is_of_a_bin(memory, memory[BINS_AT], bins, see.start):
            to_bins(memory, memory[BINS_AT], bins, see.start, see.granules)
            return
        width = BITMAP + words_for(memory[LENGTH])
        entry = memory[TABLE] + (memory[memory[LINKS] + see.start] - 1) * width
        flip(memory, entry + BITMAP, (see.start - memory[entry + BASE]) // memory[entry + BLOCK])
        memory[entry + COUNT] -= 1

    def parameters(self) -> np.ndarray:
        """Return the levers of the answer: slabs, fill_percent, large_bytes, slab_cycles, share_percent, and
        `large`."""
        own = [self.slabs, self.fill_percent, self.large_bytes, self.slab_cycles, self.share_percent]
        return np.concatenate([np.array(own, float), self.large.parameters()])

    def start_memory(self, granules: int, granule_bytes: int, units: int) -> np.ndarray:
        """Return the memory: places, a slab a class, entries of slabs, the slab of each block, the bins' words."""
        length = max(granules // self.slabs, 1)
        entries = (BITMAP + int(words_for(length))) * self.slabs
        table = REFILLING + CLASSES
        links = table + entries
        words = links + granules + words_of_bins(self.large.bins, granules)
        memory = new_memory(granules, granule_bytes, units, words - FIRST)
        memory[[LENGTH, BINS_AT, TABLE, LINKS]] = length, links + granules, table, links
        return memory


@kernel
def slab_class(granules: int) -> tuple[int, int]:
    """Return the number of the class of a request, and the granules of its blocks."""
    which, block = 0, 1
    while block < granules:
        which += 1
        block = block * 2 if which == 1 else (block * 3 // 2 if which % 2 == 0 else block * 4 // 3)
    return which, block


@kernel
def next_slab(memory: np.ndarray, which: int, block: int, limit: int, slabs: int) -> int:
    """Return the slab that a class goes on with, -1 = there is none: one below the limit, an empty one, a new one, one
    that is not full."""
    entries, width = memory[TABLE], BITMAP + words_for(memory[LENGTH])
    capacity, empty, room = memory[LENGTH] // block, -1, -1
    for slab in range(memory[USED]):
        entry = entries + slab * width
        if memory[entry + BLOCK] == block and memory[entry + COUNT] < limit:
            return slab
        if memory[entry + BLOCK] == block and memory[entry + COUNT] < capacity and room < 0:
            room = slab
        if memory[entry + COUNT] == 0 and empty < 0 and not is_current(memory, slab):
            empty = slab
    if empty >= 0:
        memory[entries + empty * width + BLOCK] = block
        return empty
    start = from_pool(memory, memory[LENGTH]) if memory[USED] < slabs else -1
    if start < 0:
        return room
    slab = memory[USED]
    memory[USED] += 1
    memory[entries + slab * width + BASE], memory[entries + slab * width + BLOCK] = start, block
    return slab


@kernel
def is_current(memory: np.ndarray, slab: int) -> bool:
    """Return whether a slab is that of a class."""
    result = False
    for which in range(CLASSES):
        result = result or bool(memory[CURRENT + which] == slab + 1)
    return result


@kernel
def take_block(see: AccessView) -> int:
    """Take the block of a slab in which one was counted for the request."""
    memory, own = see.memory, see.own
    entry = memory[TABLE] + own[SLAB] * (BITMAP + words_for(memory[LENGTH]))
    block = memory[entry + BLOCK]
    place = first_free(memory, entry + BITMAP, memory[LENGTH] // block, own[SPOT])
    flip(memory, entry + BITMAP, place)
    start = memory[entry + BASE] + place * block
    memory[memory[LINKS] + start] = own[SLAB] + 1
    see.out[START], see.out[GRANULES] = start, block
    return GRANT
