"""Queues of pages, or of chunks with pages, one a size class (spec 2, R37, R38)."""

from __future__ import annotations

import numpy as np

from workbench.compiled import kernel, leading_zeros
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

LEVELS, CHUNK_CYCLES, LARGE_LEVERS = range(3)
"""Places of the levers; those of the bins for large requests come last."""
CHUNK, BINS_AT, LINKS, TABLE, CLASS = FIRST, FIRST + 1, FIRST + 2, FIRST + 3, FIRST + 4
"""Places of the memory: granules a chunk, where the bins' words, the links and the chunks' entries lie, the classes."""
CLASSES = 40
COUNT, ARRAY, FRONT, REFILL, HEAD, TAIL, OPEN, PROMISED, LENGTH, GOING, WIDTH = range(11)
"""Places of a class: words of its count, array, front and refill, the ends of its line + 1, its open chunk + 1.
Then pages that are under way, pages in the line, and requests that go on to take one."""
COUNTS, WALKS, POPS, READS, REFILLS, TAKES, FOLLOWS = range(1, 8)
WALKED, PAGE, OPENED = 1, 2, 3
"""Places of `own`."""


class _Queues(ParallelHeap, abstract=True):
    chunk_bytes: int = lever(
        8192, least=16, most=1 << 24, scale="power_of_two", unit="bytes", description="what a class takes at a time"
    )
    levels: int = lever(
        0, least=0, most=8, description="words that a queue in chunks of its own adds: 0 static, 1 array, 2 list"
    )
    chunk_cycles: int = lever(
        2000, least=1, most=10_000_000, scale="log", unit="cycles", description="a class takes for a chunk"
    )
    large: HashedBins = lever(HashedBins(), description="the heap of requests above a chunk")

    def parameters(self) -> np.ndarray:
        """Return the levers of the answer: levels, chunk_cycles, and the levers of `large`."""
        return np.concatenate([np.array([self.levels, self.chunk_cycles], float), self.large.parameters()])

    def chunk_granules(self, granules: int, granule_bytes: int) -> int:
        """Return the granules of a chunk: the greatest power of two within `chunk_bytes` and the heap."""
        return 1 << (min(max(self.chunk_bytes // granule_bytes, 1), granules).bit_length() - 1)

    def start_memory(self, granules: int, granule_bytes: int, units: int) -> np.ndarray:
        """Return the memory: places, the classes, a link and an entry a granule or a chunk, the words of the bins."""
        chunk = self.chunk_granules(granules, granule_bytes)
        links = CLASS + CLASSES * WIDTH
        table = links + granules
        bins = table + self.entries(granules, chunk)
        words = bins + words_of_bins(self.large.bins, granules)
        memory = new_memory(granules, granule_bytes, units, words - FIRST)
        memory[[CHUNK, BINS_AT, LINKS, TABLE]] = chunk, bins, links, table
        return memory

    def entries(self, granules: int, chunk: int) -> int:
        """Return the number of words that the chunks' entries take."""
        return 0


class PageQueue(_Queues):
    """A queue of free pages a size class; where it is empty, a chunk of the pool is cut into pages.

    A request lowers the class's count, moves the queue's front and reads the page that stood there. Lanes of a warp
    share the first two. In a tie the oldest free page goes first. Pages never change their class.

    References
    ----------
    spec 2, R37; M. Winter, D. Mlakar, M. Parger and M. Steinberger, "Ouroboros: Virtualized Queues for Dynamic Memory
    Management on GPUs", ICS 2020, sections 4 and 5: page-based queues, static, virtualized array and list.

    Examples
    --------
    >>> PageQueue(levels=1).plain()["levels"]
    1
    """

    @staticmethod
    def answer(see: AccessView) -> int:
        memory, own = see.memory, see.own
        if see.granules > memory[CHUNK]:
            return ask_bins(see, memory[BINS_AT], LARGE_LEVERS)
        which = queue_class(see.granules)
        words, links = CLASS + which * WIDTH, memory[LINKS]
        if own[STAGE] == 0:
            own[STAGE], see.out[WORD] = COUNTS, words + COUNT
            return ADD
        if own[STAGE] == COUNTS:
            memory[words + COUNT] -= 1
            own[STAGE] = WALKS
            if memory[words + COUNT] < 0:
                see.out[WORD], see.out[CYCLES] = words + REFILL, int(see.levers[CHUNK_CYCLES])
                # The pages under way suffice for all requests that lack one, this one included (R37).
                if memory[words + COUNT] + memory[words + PROMISED] >= 0:
                    own[STAGE] = FOLLOWS
                    return ADD
                memory[words + PROMISED] += memory[CHUNK] >> which
                own[STAGE] = REFILLS
                return HOLD
        if own[STAGE] == REFILLS:
            memory[words + PROMISED] -= memory[CHUNK] >> which
            chunk = from_pool(memory, memory[CHUNK])
            if chunk >= 0:
                for page in range(chunk, chunk + memory[CHUNK], 1 << which):
                    join(memory, words, page)
                memory[words + COUNT] += memory[CHUNK] >> which
                memory[words + LENGTH] += memory[CHUNK] >> which
        if own[STAGE] in (REFILLS, FOLLOWS):
            # Other requests that go on will take every page of the line.
            if memory[words + LENGTH] == memory[words + GOING]:
                memory[words + COUNT] += 1
                return NULL
            own[STAGE] = WALKS
        if own[STAGE] == WALKS:
            memory[words + GOING] += own[WALKED] == 0
            own[WALKED] += 1
            if own[WALKED] <= see.levers[LEVELS]:
                see.out[WORD] = words + ARRAY
                return ADD
            own[STAGE], see.out[WORD] = POPS, words + FRONT
            return ADD
        if own[STAGE] == POPS:
            own[PAGE] = leave(memory, words)
            memory[words + LENGTH] -= 1
            memory[words + GOING] -= 1
            own[STAGE], see.out[WORD] = READS, links + own[PAGE]
            return EACH
        see.out[START], see.out[GRANULES] = own[PAGE], np.int64(1) << which
        return GRANT

    @staticmethod
    def returned(see: ReturnView) -> None:
        memory, bins = see.memory, int(see.levers[LARGE_LEVERS + BINS])
        if is_of_a_bin(memory, memory[BINS_AT], bins, see.start):
            to_bins(memory, memory[BINS_AT], bins, see.start, see.granules)
            return
        words = CLASS + queue_class(see.granules) * WIDTH
        join(memory, words, see.start)
        memory[words + COUNT] += 1
        memory[words + LENGTH] += 1


LEFT, IN_LINE, BITMAP = range(3)
"""Places of a chunk's entry: free pages, whether it is in the line, the bitmap of taken pages."""


class ChunkQueue(_Queues):
    """A queue of chunks a size class; pages are taken of the chunk in front, and who opens a chunk holds the front.

    A request lowers the class's count and then takes a page at the front. A chunk that gets a page back joins the end
    of the queue. In a tie the lowest free page of a chunk goes first. Chunks never change their class.

    References
    ----------
    spec 2, R38; M. Winter, D. Mlakar, M. Parger and M. Steinberger, "Ouroboros: Virtualized Queues for Dynamic Memory
    Management on GPUs", ICS 2020, sections 4 and 5: chunk-based queues, static, virtualized array and list.

    Examples
    --------
    >>> ChunkQueue(levels=2).plain()["levels"]
    2
    """

    @staticmethod
    def answer(see: AccessView) -> int:
        memory, own = see.memory, see.own
        if see.granules > memory[CHUNK]:
            return ask_bins(see, memory[BINS_AT], LARGE_LEVERS)
        which = queue_class(see.granules)
        words = CLASS + which * WIDTH
        if own[STAGE] == 0:
            own[STAGE], see.out[WORD] = COUNTS, words + COUNT
            return ADD
        if own[STAGE] == COUNTS:
            own[PAGE] = reserve(memory, own, words, which)
            if own[PAGE] < 0:
                return NULL
            own[STAGE] = WALKS
        if own[STAGE] == WALKS:
            own[WALKED] += 1
            if own[WALKED] <= see.levers[LEVELS]:
                see.out[WORD] = words + ARRAY
                return ADD
            own[STAGE], see.out[WORD] = TAKES, words + FRONT
            see.out[CYCLES] = int(see.levers[CHUNK_CYCLES])
            return HOLD if own[OPENED] else EACH
        see.out[START], see.out[GRANULES] = own[PAGE], np.int64(1) << which
        return GRANT

    @staticmethod
    def returned(see: ReturnView) -> None:
        memory, bins = see.memory, int(see.levers[LARGE_LEVERS + BINS])
        if is_of_a_bin(memory, memory[BINS_AT], bins, see.start):
            to_bins(memory, memory[BINS_AT], bins, see.start, see.granules)
            return
        chunk, which = see.start // memory[CHUNK], queue_class(see.granules)
        words, entry = CLASS + which * WIDTH, memory[TABLE] + chunk * entry_words(memory[CHUNK])
        flip(memory, entry + BITMAP, (see.start - chunk * memory[CHUNK]) >> which)
        memory[entry + LEFT] += 1
        if memory[entry + IN_LINE] == 0 and memory[words + OPEN] != chunk + 1:
            memory[entry + IN_LINE] = 1
            join(memory, words, chunk * memory[CHUNK])

    def entries(self, granules: int, chunk: int) -> int:
        return granules // chunk * entry_words(chunk)


@kernel
def queue_class(granules: int) -> int:
    """Return the class of a request: the power of two of its page's granules."""
    return 64 - leading_zeros(np.uint64(granules - 1))


@kernel
def entry_words(chunk: int) -> int:
    """Return the number of words of the entry of a chunk of so many granules."""
    return BITMAP + words_for(chunk)


@kernel
def join(memory: np.ndarray, words: int, start: int) -> None:
    """Let what begins at a granule join the end of a class's line."""
    memory[memory[LINKS] + start] = 0
    if memory[words + HEAD] == 0:
        memory[words + HEAD] = start + 1
    else:
        memory[memory[LINKS] + memory[words + TAIL] - 1] = start + 1
    memory[words + TAIL] = start + 1


@kernel
def leave(memory: np.ndarray, words: int) -> int:
    """Take the oldest out of a class's line; return the granule at which it begins, -1 = the line is empty."""
    start = memory[words + HEAD] - 1
    if start >= 0:
        memory[words + HEAD] = memory[memory[LINKS] + start]
        memory[memory[LINKS] + start] = 0
    return start


@kernel
def reserve(memory: np.ndarray, own: np.ndarray, words: int, which: int) -> int:
    """Reserve the lowest free page of a class's open chunk, and open one where none is; return its first granule, -1 =
    there is no chunk."""
    chunk, width = memory[words + OPEN] - 1, entry_words(memory[CHUNK])
    if chunk < 0:
        start = leave(memory, words)
        if start < 0:
            start = from_pool(memory, memory[CHUNK])
            if start < 0:
                return -1
            memory[memory[TABLE] + start // memory[CHUNK] * width + LEFT] = memory[CHUNK] >> which
        # The request that opens a chunk holds the front word for it (R38).
        chunk, own[OPENED] = start // memory[CHUNK], 1
        memory[memory[TABLE] + chunk * width + IN_LINE] = 0
        memory[words + OPEN] = chunk + 1
    entry = memory[TABLE] + chunk * width
    page = first_free(memory, entry + BITMAP, memory[CHUNK] >> which, 0)
    flip(memory, entry + BITMAP, page)
    memory[entry + LEFT] -= 1
    if memory[entry + LEFT] == 0:
        memory[words + OPEN] = 0
    return chunk * memory[CHUNK] + (page << which)
