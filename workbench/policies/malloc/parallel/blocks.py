"""Lists of basic blocks in front of superblocks (spec 2, R39)."""

from __future__ import annotations

import numpy as np

from workbench.compiled import kernel
from workbench.levers import lever
from workbench.policies.malloc.parallel.access import (
    CYCLES,
    FIRST,
    GRANT,
    GRANULE_BYTES,
    GRANULES,
    HOLD,
    NULL,
    POOL_SIZE,
    STAGE,
    START,
    SWAP,
    WORD,
    AccessView,
    ParallelHeap,
    ReturnView,
    from_pool,
    new_memory,
)
from workbench.policies.malloc.parallel.bins import BINS, HashedBins, ask_bins, is_of_a_bin, to_bins, words_of_bins

LISTS, LIST_BLOCKS, SUPERBLOCK_BLOCKS, SUPERBLOCK_CYCLES, LARGE_LEVERS = range(5)
"""Places of the levers; those of the bins for large requests come last."""
CLASSES, HEADER = 5, 8
"""Size classes, each twice as large as the one before, and the bytes of a block's header."""
SMALLEST, BINS_AT, LINKS, BLOCKS, GROUPS_AT, CLASS = FIRST, FIRST + 1, FIRST + 2, FIRST + 3, FIRST + 4, FIRST + 5
"""Places of the memory: granules of the smallest block, where the bins' words, the links and the blocks' entries lie,
where the words of groups lie, the classes."""
HEAD, TAIL, LIST = range(3)
"""Places of a class: the ends of the line of its superblocks + 1, its lists."""
GROUPS = 1 << 13
"""Groups that have a word each; more than a card holds at once share them by their numbers."""
LIST_WIDTH = 4
LIST_WORD, LIST_HEAD, LIST_TAIL, LIST_LENGTH = range(4)
PARENT, OFFSET, FREE, NEXT = range(4)
ENTRY = 4
"""Words of a block's entry: the first block of its superblock, its place there, of the
first block the free blocks and the superblock behind it in line + 1."""
TRIES, TAKES = 1, 2
TRIED = 1


class BasicBlocks(ParallelHeap):
    """Lists of free blocks of each size class, filled from superblocks; in a tie the oldest block of a list goes first.

    A request takes of the first list that is not empty, from its own one on, by a compare-and-swap. Where all are
    empty, it takes a superblock, whose other blocks fill its list; lanes of a warp do so one after the other. Blocks
    are of 512, 1024, ..., 8192 bytes with their header. Larger requests go to `large`.

    References
    ----------
    spec 2, R39; X. Huang, C. Rodrigues, S. Jones, I. Buck and W. Hwu, "XMalloc: A Scalable Lock-free Dynamic Memory
    Allocator for Many-core Machines", CIT 2010, sections III and IV.

    Examples
    --------
    >>> BasicBlocks(lists=1).plain()["lists"]
    1
    """

    lists: int = lever(4, least=1, most=64, unit="lists", description="lists of free blocks of each size class")
    list_blocks: int = lever(256, least=1, most=1 << 20, unit="blocks", description="that a list holds at the most")
    superblock_blocks: int = lever(16, least=1, most=63, unit="blocks", description="of a superblock")
    smallest_bytes: int = lever(
        512, least=16, most=1 << 16, scale="power_of_two", unit="bytes", description="of a block"
    )
    superblock_cycles: int = lever(
        2000,
        least=1,
        most=10_000_000,
        scale="log",
        unit="cycles",
        description="for a superblock, one lane after another",
    )
    large: HashedBins = lever(HashedBins(), description="the heap of requests above the largest block")

    @staticmethod
    def answer(see: AccessView) -> int:
        memory, own, lists = see.memory, see.own, int(see.levers[LISTS])
        which = block_class(memory, see.bytes)
        if which == CLASSES:
            return ask_bins(see, memory[BINS_AT], LARGE_LEVERS)
        words = CLASS + which * (LIST + lists * LIST_WIDTH)
        size, first = memory[SMALLEST] << which, see.request % lists
        block = -1
        if own[STAGE] == TRIES:
            at = words + LIST + (first + own[TRIED]) % lists * LIST_WIDTH
            block = pop(memory, at + LIST_HEAD, memory[LINKS], 0)
            if block >= 0:
                memory[at + LIST_LENGTH] -= 1
            own[TRIED] += 1
        elif own[STAGE] == TAKES:
            block = from_superblock(memory, words, size, first, see.levers)
            if block < 0:
                return NULL
        if block >= 0:
            see.out[START], see.out[GRANULES] = block, size
            return GRANT
        while own[TRIED] < lists:
            at = words + LIST + (first + own[TRIED]) % lists * LIST_WIDTH
            if memory[at + LIST_LENGTH] > 0:
                own[STAGE], see.out[WORD] = TRIES, at + LIST_WORD
                return SWAP
            own[TRIED] += 1
        own[STAGE], see.out[CYCLES] = TAKES, int(see.levers[SUPERBLOCK_CYCLES])
        see.out[WORD] = memory[GROUPS_AT] + see.group % min(GROUPS, memory[POOL_SIZE])
        return HOLD

    @staticmethod
    def returned(see: ReturnView) -> None:
        memory, bins = see.memory, int(see.levers[LARGE_LEVERS + BINS])
        if is_of_a_bin(memory, memory[BINS_AT], bins, see.start):
            to_bins(memory, memory[BINS_AT], bins, see.start, see.granules)
            return
        lists, which = int(see.levers[LISTS]), 0
        while memory[SMALLEST] << which < see.granules:
            which += 1
        words = CLASS + which * (LIST + lists * LIST_WIDTH)
        at = words + LIST + see.start // memory[SMALLEST] % lists * LIST_WIDTH
        if memory[at + LIST_LENGTH] < int(see.levers[LIST_BLOCKS]):
            push(memory, at + LIST_HEAD, at + LIST_TAIL, see.start, memory[LINKS], 0)
            memory[at + LIST_LENGTH] += 1
            return
        entry = memory[BLOCKS] + see.start // memory[SMALLEST] * ENTRY
        parent = memory[entry + PARENT]
        free = memory[BLOCKS] + parent // memory[SMALLEST] * ENTRY + FREE
        if memory[free] == 0:
            push(memory, words + HEAD, words + TAIL, parent, memory[BLOCKS] + NEXT, memory[SMALLEST])
        memory[free] |= np.int64(1) << memory[entry + OFFSET]

    def parameters(self) -> np.ndarray:
        """Return the levers of the answer: lists, list_blocks, superblock_blocks, superblock_cycles, the levers of
        `large`."""
        own = [self.lists, self.list_blocks, self.superblock_blocks, self.superblock_cycles]
        return np.concatenate([np.array(own, float), self.large.parameters()])

    def start_memory(self, granules: int, granule_bytes: int, units: int) -> np.ndarray:
        """Return the memory: places, classes with lists, a link a granule, an entry a smallest block, words of bins."""
        smallest = max(self.smallest_bytes // granule_bytes, 1)
        links = CLASS + CLASSES * (LIST + self.lists * LIST_WIDTH)
        blocks = links + granules
        bins = blocks + ENTRY * (granules // smallest + 1)
        groups = bins + words_of_bins(self.large.bins, granules)
        memory = new_memory(granules, granule_bytes, units, groups + min(GROUPS, granules) - FIRST)
        memory[[SMALLEST, BINS_AT, LINKS, BLOCKS, GROUPS_AT]] = smallest, bins, links, blocks, groups
        return memory


@kernel
def block_class(memory: np.ndarray, size: int) -> int:
    """Return the class of the least block that holds so many bytes and a header, `CLASSES` where none does."""
    which, block = 0, memory[SMALLEST] * memory[GRANULE_BYTES]
    while which < CLASSES and block < size + HEADER:
        which, block = which + 1, 2 * block
    return which


@kernel
def link_of(start: int, links: int, smallest: int) -> int:
    """Return the word of the link of what begins at a granule: one a granule, or one an entry of a smallest block."""
    return links + (start if smallest == 0 else start // smallest * ENTRY)


@kernel
def push(memory: np.ndarray, head: int, tail: int, start: int, links: int, smallest: int) -> None:
    """Let what begins at a granule join the end of a line."""
    memory[link_of(start, links, smallest)] = 0
    if memory[head] == 0:
        memory[head] = start + 1
    else:
        memory[link_of(memory[tail] - 1, links, smallest)] = start + 1
    memory[tail] = start + 1


@kernel
def pop(memory: np.ndarray, head: int, links: int, smallest: int) -> int:
    """Take the oldest out of a line; return the granule at which it begins, -1 = the line is empty."""
    start = memory[head] - 1
    if start >= 0:
        memory[head] = memory[link_of(start, links, smallest)]
    return start


@kernel
def from_superblock(memory: np.ndarray, words: int, size: int, first: int, levers: np.ndarray) -> int:
    """Take a block of a superblock, whose other free blocks go to a list; return its first granule, or -1."""
    count, smallest = int(levers[SUPERBLOCK_BLOCKS]), memory[SMALLEST]
    parent = pop(memory, words + HEAD, memory[BLOCKS] + NEXT, memory[SMALLEST])
    if parent < 0:
        parent = from_pool(memory, count * size)
        if parent < 0:
            return -1
        for k in range(count):
            entry = memory[BLOCKS] + (parent + k * size) // smallest * ENTRY
            memory[entry + PARENT], memory[entry + OFFSET] = parent, k
        memory[memory[BLOCKS] + parent // smallest * ENTRY + FREE] = (np.int64(1) << count) - 1
    free = memory[BLOCKS] + parent // smallest * ENTRY + FREE
    taken, at = -1, words + LIST + first * LIST_WIDTH
    for k in range(count):
        if (memory[free] >> k) & 1 == 0:
            continue
        block = parent + k * size
        if taken >= 0 and memory[at + LIST_LENGTH] >= int(levers[LIST_BLOCKS]):
            break
        memory[free] ^= np.int64(1) << k
        if taken < 0:
            taken = block
        else:
            push(memory, at + LIST_HEAD, at + LIST_TAIL, block, memory[LINKS], 0)
            memory[at + LIST_LENGTH] += 1
    if memory[free] != 0:
        push(memory, words + HEAD, words + TAIL, parent, memory[BLOCKS] + NEXT, memory[SMALLEST])
    return taken
