"""Pages that a hash scatters over the heap, each for chunks of one size (spec 2, R35)."""

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
    SWAP,
    WORD,
    AccessView,
    ParallelHeap,
    ReturnView,
    first_free,
    flip,
    new_memory,
    words_for,
)

MUTEX, HIGHEST, PAGE, PAGES, TABLE = FIRST, FIRST + 1, FIRST + 2, FIRST + 3, FIRST + 4
"""Places of the memory: the mutex of large requests, no page above is free for them, granules a page, pages, pages'
entries."""
SIZE, COUNT, BITMAP = 0, 1, 2
"""Places of a page's entry."""
OF_SIZE, OF_UNIT = 38_183, 17_497
"""Multipliers of the hash."""
OF_LARGE = -1
"""The size of a page that is part of a large request's block."""
OPENS, COUNTS, TAKES, SEARCHES = 1, 2, 3, 4
LOOKED, AT_PAGE, CHUNK = 1, 2, 3
"""Places of `own`: pages looked at, the page, the chunk that is searched from."""


class ScatteredPages(ParallelHeap):
    """Pages of chunks of one size, the first one chosen by a hash of size, compute unit and warp, then the next ones.

    A page that is full or of another size is passed by. A request raises the page's count and then sets a bit of its
    bitmap; its own number says which chunk is looked at first. Requests of a page and more take neighboring pages from
    the upper end, under one mutex.

    References
    ----------
    spec 2, R35; M. Steinberger, M. Kenzel, B. Kainz and D. Schmalstieg, "ScatterAlloc: Massively Parallel Dynamic
    Memory Allocation for the GPU", InPar 2012, section 3.

    Examples
    --------
    >>> ScatteredPages(page_bytes=8192).plain()["page_bytes"]
    8192
    """

    page_bytes: int = lever(4096, least=64, most=1 << 20, scale="power_of_two", unit="bytes", description="of a page")
    waste: int = lever(2, least=1, most=64, description="how many times as large as a request its chunk may be")
    mutex_cycles: int = lever(
        2000, least=1, most=10_000_000, scale="log", unit="cycles", description="a request of a page and more takes"
    )

    @staticmethod
    def answer(see: AccessView) -> int:
        memory, own, granules = see.memory, see.own, see.granules
        if granules >= memory[PAGE]:
            if own[STAGE] == SEARCHES:
                return take_pages(see)
            own[STAGE], see.out[WORD], see.out[CYCLES] = SEARCHES, MUTEX, see.levers.mutex_cycles
            return HOLD
        most = see.levers.waste * granules
        width = BITMAP + words_for(memory[PAGE])
        if own[STAGE] == 0:
            own[AT_PAGE] = (OF_SIZE * see.bytes + OF_UNIT * see.unit + see.group) % memory[PAGES]
            return next_page(see, width, most)
        entry = TABLE + own[AT_PAGE] * width
        if own[STAGE] == OPENS:
            # Another request may have opened the page during the swap (R35).
            if memory[entry + SIZE] == 0:
                memory[entry + SIZE] = granules
            if granules <= memory[entry + SIZE] <= most:
                own[STAGE], see.out[WORD] = COUNTS, entry + COUNT
                return ADD
            return pass_by(see, width, most)
        size = memory[entry + SIZE]
        capacity = memory[PAGE] // max(size, 1)
        if own[STAGE] == COUNTS:
            # The page may have become full, or changed its size, since the look.
            if not granules <= size <= most or memory[entry + COUNT] >= capacity:
                return pass_by(see, width, most)
            memory[entry + COUNT] += 1
            own[STAGE], own[CHUNK] = TAKES, see.request % capacity
            see.out[WORD] = entry + BITMAP + own[CHUNK] // 64
            return EACH
        chunk = first_free(memory, entry + BITMAP, capacity, own[CHUNK])
        flip(memory, entry + BITMAP, chunk)
        see.out[START], see.out[GRANULES] = own[AT_PAGE] * memory[PAGE] + chunk * size, size
        return GRANT

    @staticmethod
    def returned(see: ReturnView) -> None:
        memory = see.memory
        width, page = BITMAP + words_for(memory[PAGE]), see.start // memory[PAGE]
        entry = TABLE + page * width
        if memory[entry + SIZE] == OF_LARGE:
            pages = see.granules // memory[PAGE]
            for one in range(page, page + pages):
                memory[TABLE + one * width + SIZE] = 0
            memory[HIGHEST] = max(memory[HIGHEST], page + pages)
            return
        flip(memory, entry + BITMAP, (see.start - page * memory[PAGE]) // memory[entry + SIZE])
        memory[entry + COUNT] -= 1
        if memory[entry + COUNT] == 0:
            memory[entry + SIZE] = 0
            memory[HIGHEST] = max(memory[HIGHEST], page + 1)

    def start_memory(self, granules: int, granule_bytes: int, units: int) -> np.ndarray:
        """Return the memory: mutex, highest free page, granules a page, pages; of each page size, count, bitmap."""
        page = min(max(self.page_bytes // granule_bytes, 1), granules)
        pages, width = granules // page, BITMAP + int(words_for(page))
        memory = new_memory(granules, granule_bytes, units, TABLE - FIRST + pages * width)
        memory[HIGHEST], memory[PAGE], memory[PAGES] = pages, page, pages
        return memory


@kernel
def pass_by(see: AccessView, width: int, most: int) -> int:
    """Look behind the page that a request cannot use."""
    see.own[LOOKED] += 1
    see.own[AT_PAGE] += 1
    if see.own[AT_PAGE] == see.memory[PAGES]:
        see.own[AT_PAGE] = 0
    return next_page(see, width, most)


@kernel
def next_page(see: AccessView, width: int, most: int) -> int:
    """Go to the first page from the present one on that a request can use as it looks now."""
    memory, own, pages = see.memory, see.own, see.memory[PAGES]
    while own[LOOKED] < pages:
        entry = TABLE + own[AT_PAGE] * width
        size = memory[entry + SIZE]
        if size == 0:
            own[STAGE], see.out[WORD] = OPENS, entry + SIZE
            return SWAP
        if see.granules <= size <= most and memory[entry + COUNT] < memory[PAGE] // size:
            own[STAGE], see.out[WORD] = COUNTS, entry + COUNT
            return ADD
        own[LOOKED] += 1
        own[AT_PAGE] = own[AT_PAGE] + 1 if own[AT_PAGE] + 1 < pages else 0
    return NULL


@kernel
def take_pages(see: AccessView) -> int:
    """Take the highest neighboring pages that are free."""
    memory, width = see.memory, BITMAP + words_for(see.memory[PAGE])
    needed, free, page = (see.granules + memory[PAGE] - 1) // memory[PAGE], 0, memory[HIGHEST]
    while page > 0 and free < needed:
        page -= 1
        free = free + 1 if memory[TABLE + page * width + SIZE] == 0 else 0
        if free == 0 and memory[HIGHEST] == page + 1:
            memory[HIGHEST] = page
    if free < needed:
        return NULL
    for one in range(page, page + needed):
        memory[TABLE + one * width + SIZE] = OF_LARGE
    if memory[HIGHEST] == page + needed:
        memory[HIGHEST] = page
    see.out[START], see.out[GRANULES] = page * memory[PAGE], needed * memory[PAGE]
    return GRANT
