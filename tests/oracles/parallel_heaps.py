"""A slow twin of the parallel heaps of specification 2, section 9 (R32-R39), written from its sentences alone.

A heap makes a generator for each request. The generator yields its accesses one by one, acts at the end of each, and
returns a grant or None. Words are named by tuples, free blocks are in sets and lists.

The text leaves one thing open. The pages of a large request have a chunk size here that suits no other request.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Generator
from functools import partial
from typing import Any, NamedTuple

Word = tuple[Any, ...]
Levers = dict[str, Any]


class Access(NamedTuple):
    kind: str
    word: Word = ()
    cycles: int = 0


class Ask(NamedTuple):
    """What one request, or one part of it, asks for. The bytes have the headers in them."""

    bytes: int
    number: int
    group: int
    unit: int


class Grant(NamedTuple):
    base: int
    granules: int
    back: Callable[[], None] | None
    """Takes the block back; None: nothing goes back."""


Series = Generator[Access, None, Grant | None]


class Pool:
    """A pointer that only moves up."""

    def __init__(self, granules: int) -> None:
        self.granules, self.at = granules, 0

    def take(self, granules: int) -> int | None:
        if self.at + granules > self.granules:
            return None
        self.at += granules
        return self.at - granules


class Heap:
    def __init__(self, levers: Levers, granule: int, pool: Pool, units: int) -> None:
        self.levers, self.granule, self.pool, self.units = levers, granule, pool, units
        if "large" in levers:
            self.large = HashedBins(levers["large"], granule, pool, units)

    def granules(self, size: int) -> int:
        return max(-(-size // self.granule), 1)

    def serve(self, ask: Ask) -> Series:
        raise NotImplementedError


class HashedBins(Heap):
    """R32."""

    def __init__(self, *given: Any) -> None:
        super().__init__(*given)
        self.freed: dict[int, list[int]] = {}

    def serve(self, ask: Ask) -> Series:
        yield Access("wait", cycles=self.levers["own_cycles"])
        hashed = ask.group * 2654435761 % 2**32 // 2**16
        yield Access("hold", ("bin", hashed % self.levers["bins"]), self.levers["bin_cycles"])
        size = 1
        while size < self.granules(ask.bytes):
            size *= 2
        freed = self.freed.setdefault(size, [])
        base = freed.pop() if freed else self.pool.take(size)
        return None if base is None else Grant(base, size, lambda: freed.append(base))


class AtomicPointer(Heap):
    """R33."""

    def serve(self, ask: Ask) -> Series:
        yield Access("add", ("pool",))
        granules = self.granules(ask.bytes)
        base = self.pool.take(granules)
        return None if base is None else Grant(base, granules, None)


class Chunk:
    def __init__(self, start: int, end: int) -> None:
        self.start, self.end, self.free = start, end, True


class CircularList(Heap):
    """R34."""

    def __init__(self, *given: Any) -> None:
        super().__init__(*given)
        whole = self.pool.granules
        pointers = min(self.units, whole) if self.levers["pointers"] == "each_unit" else 1
        self.ring = [Chunk(whole * u // pointers, whole * (u + 1) // pointers) for u in range(pointers)]
        self.pointers = list(self.ring)

    def serve(self, ask: Ask) -> Series:
        mine = ask.unit % len(self.pointers)
        granules = self.granules(ask.bytes + self.levers["list_header_bytes"])
        yield Access("hold", ("pointer", mine), self.levers["section_cycles"])
        at = self.ring.index(self.pointers[mine])
        for chunk in self.ring[at:] + self.ring[:at]:
            if chunk.free and chunk.end - chunk.start >= granules:
                return self._taken(chunk, granules, mine)
        return None

    def _taken(self, chunk: Chunk, granules: int, mine: int) -> Grant:
        at, end = self.ring.index(chunk), chunk.start + granules
        if chunk.end > end:
            self.ring.insert(at + 1, Chunk(end, chunk.end))
        chunk.end, chunk.free = end, False
        self.pointers[mine] = self.ring[(at + 1) % len(self.ring)]
        return Grant(chunk.start, granules, lambda: self._back(chunk))

    def _back(self, chunk: Chunk) -> None:
        chunk.free = True
        behind = self.ring.index(chunk) + 1
        if behind < len(self.ring) and self.ring[behind].free:
            gone = self.ring.pop(behind)
            chunk.end = gone.end
            self.pointers = [chunk if pointer is gone else pointer for pointer in self.pointers]


WHOLE = -1
"""Stands for the chunk size of the pages of a large request: no chunk is cut from them."""


class Page:
    def __init__(self) -> None:
        self.size = self.count = 0
        self.used: set[int] = set()


class ScatteredPages(Heap):
    """R35."""

    def __init__(self, *given: Any) -> None:
        super().__init__(*given)
        self.page = min(max(self.levers["page_bytes"] // self.granule, 1), self.pool.granules)
        self.pages = [Page() for _ in range(self.pool.granules // self.page)]

    def serve(self, ask: Ask) -> Series:
        granules = self.granules(ask.bytes)
        return self._run(granules) if granules >= self.page else self._chunk(granules, ask)

    def _fits(self, page: Page, granules: int) -> bool:
        return granules <= page.size <= self.levers["waste"] * granules

    def _has_room(self, page: Page) -> bool:
        return page.count < self.page // page.size

    def _chunk(self, granules: int, ask: Ask) -> Series:
        first = 38183 * ask.bytes + 17497 * ask.unit + ask.group
        for step in range(len(self.pages)):
            at = (first + step) % len(self.pages)
            page = self.pages[at]
            if page.size == 0:
                yield Access("swap", ("size", at))
                if page.size == 0:
                    page.size = granules
                if not self._fits(page, granules):
                    continue
            elif not (self._fits(page, granules) and self._has_room(page)):
                continue
            yield Access("add", ("count", at))
            if not (self._fits(page, granules) and self._has_room(page)):
                continue
            page.count += 1
            capacity = self.page // page.size
            start = ask.number % capacity
            yield Access("each", ("bits", at, start // 64))
            chunk = next(c % capacity for c in range(start, start + capacity) if c % capacity not in page.used)
            page.used.add(chunk)
            return Grant(at * self.page + chunk * page.size, page.size, partial(self._back, [page], chunk))
        return None

    def _run(self, granules: int) -> Series:
        yield Access("hold", ("mutex",), self.levers["mutex_cycles"])
        count = -(-granules // self.page)
        for at in range(len(self.pages) - count, -1, -1):
            pages = self.pages[at : at + count]
            if all(page.size == 0 for page in pages):
                for page in pages:
                    page.size, page.count, page.used = WHOLE, 1, {0}
                return Grant(at * self.page, count * self.page, partial(self._back, pages, 0))
        return None

    def _back(self, pages: list[Page], chunk: int) -> None:
        for page in pages:
            page.used.remove(chunk)
            page.count -= 1
            page.size = page.size if page.count else 0


class Slab:
    def __init__(self, base: int) -> None:
        self.base, self.size, self.count = base, 0, 0
        self.used: set[int] = set()


class Slabs(Heap):
    """R36."""

    def __init__(self, *given: Any) -> None:
        super().__init__(*given)
        self.slab = max(self.pool.granules // self.levers["slabs"], 1)
        self.slabs: list[Slab] = []
        self.now: dict[int, Slab] = {}
        self.refilling: set[int] = set()

    def serve(self, ask: Ask) -> Series:
        if ask.bytes > self.levers["large_bytes"]:
            return (yield from self.large.serve(ask))
        size = min(s for k in range(40) for s in (2**k, 3 * 2**k) if s >= self.granules(ask.bytes))
        if size > self.slab:
            return None
        while not self._below_limit(self.now.get(size), size):
            if size in self.refilling:
                yield Access("add", ("class", size))
                continue
            self.refilling.add(size)
            yield Access("hold", ("class", size), self.levers["slab_cycles"])
            self.refilling.remove(size)
            if not self._below_limit(self.now.get(size), size):
                candidate = self._candidate(size)
                if candidate is None:
                    return None
                candidate.size, self.now[size] = size, candidate
            break
        return (yield from self._block(self.now[size], ask))

    def _block(self, slab: Slab, ask: Ask) -> Series:
        number, capacity, size = self.slabs.index(slab), self.slab // slab.size, slab.size
        slab.count += 1
        yield Access("add", ("count", number))
        start = ask.number % capacity
        yield Access("each", ("bits", number, start // 64))
        block = next(b % capacity for b in range(start, start + capacity) if b % capacity not in slab.used)
        slab.used.add(block)

        def back() -> None:
            slab.used.remove(block)
            slab.count -= 1

        return Grant(slab.base + block * size, size, back)

    def _below_limit(self, slab: Slab | None, size: int) -> bool:
        limit = max(self.slab // size * self.levers["fill_percent"] // 100, 1)
        return slab is not None and slab.count < limit

    def _candidate(self, size: int) -> Slab | None:
        own = [slab for slab in self.slabs if slab.size == size]
        below = [slab for slab in own if self._below_limit(slab, size)]
        empty = [slab for slab in self.slabs if slab.count == 0 and slab not in self.now.values()]
        if below or empty:
            return (below or empty)[0]
        most = max(self.levers["slabs"] * self.levers["share_percent"] // 100, 1)
        base = self.pool.take(self.slab) if len(self.slabs) < most else None
        if base is not None:
            self.slabs.append(Slab(base))
            return self.slabs[-1]
        return next((slab for slab in own if slab.count < self.slab // size), None)


class Queues(Heap):
    """What R37 and R38 have in common."""

    def __init__(self, *given: Any) -> None:
        super().__init__(*given)
        within = min(self.levers["chunk_bytes"] // self.granule, self.pool.granules)
        self.chunk = 1
        while 2 * self.chunk <= within:
            self.chunk *= 2
        self.classes: dict[int, Any] = {}

    def serve(self, ask: Ask) -> Series:
        granules = self.granules(ask.bytes)
        if granules > self.chunk:
            return self.large.serve(ask)
        size = 1
        while size < granules:
            size *= 2
        return self._page(size)

    def _page(self, size: int) -> Series:
        raise NotImplementedError


class PageClass:
    def __init__(self) -> None:
        self.count = self.coming = self.going_on = 0
        self.line: deque[int] = deque()


class PageQueue(Queues):
    """R37."""

    def _page(self, size: int) -> Series:
        mine = self.classes.setdefault(size, PageClass())
        yield Access("add", ("count", size))
        mine.count -= 1
        if mine.count < 0:
            if -mine.count > mine.coming:
                mine.coming += self.chunk // size
                yield Access("hold", ("refill", size), self.levers["chunk_cycles"])
                mine.coming -= self.chunk // size
                base = self.pool.take(self.chunk)
                if base is not None:
                    mine.line.extend(range(base, base + self.chunk, size))
                    mine.count += self.chunk // size
            else:
                yield Access("add", ("refill", size))
            if len(mine.line) <= mine.going_on:
                mine.count += 1
                return None
        mine.going_on += 1
        for _ in range(self.levers["levels"]):
            yield Access("add", ("array", size))
        yield Access("add", ("front", size))
        mine.going_on -= 1
        page = mine.line.popleft()
        yield Access("each", ("page", page))

        def back() -> None:
            mine.line.append(page)
            mine.count += 1

        return Grant(page, size, back)


class ChunkClass:
    def __init__(self) -> None:
        self.free: dict[int, set[int]] = {}
        """The free pages of each chunk."""
        self.open: int | None = None
        self.line: list[int] = []


class ChunkQueue(Queues):
    """R38."""

    def _page(self, size: int) -> Series:
        mine = self.classes.setdefault(size, ChunkClass())
        yield Access("add", ("count", size))
        opens = mine.open is None
        if opens:
            mine.open = mine.line.pop(0) if mine.line else self.pool.take(self.chunk)
        if mine.open is None:
            return None
        chunk = mine.open
        free = mine.free.setdefault(chunk, set(range(chunk, chunk + self.chunk, size)))
        page = min(free)
        free.remove(page)
        if not free:
            mine.open = None
        for _ in range(self.levers["levels"]):
            yield Access("add", ("array", size))
        if opens:
            yield Access("hold", ("front", size), self.levers["chunk_cycles"])
        else:
            yield Access("each", ("front", size))

        def back() -> None:
            free.add(page)
            if mine.open != chunk and chunk not in mine.line:
                mine.line.append(chunk)

        return Grant(page, size, back)


class BlockClass:
    def __init__(self, lists: int) -> None:
        self.lists: list[deque[tuple[int, set[int]]]] = [deque() for _ in range(lists)]
        """Free blocks, each with the free blocks of its superblock."""
        self.line: deque[set[int]] = deque()
        """The free blocks of each superblock in line."""


class BasicBlocks(Heap):
    """R39."""

    def __init__(self, *given: Any) -> None:
        super().__init__(*given)
        self.smallest = max(self.levers["smallest_bytes"], self.granule)
        self.classes = [BlockClass(self.levers["lists"]) for _ in range(5)]

    def serve(self, ask: Ask) -> Series:
        fits = [c for c in range(5) if ask.bytes + 8 <= self.smallest * 2**c]
        return self._block(fits[0], ask) if fits else self.large.serve(ask)

    def _block(self, c: int, ask: Ask) -> Series:
        mine, lists, size = self.classes[c], self.levers["lists"], self.smallest // self.granule * 2**c
        first = ask.number % lists
        for k in range(lists):
            at = (first + k) % lists
            if mine.lists[at]:
                yield Access("swap", ("list", c, at))
            if mine.lists[at]:
                return self._grant(c, *mine.lists[at].popleft())
        word = ask.group % min(8192, self.pool.granules)
        yield Access("hold", ("superblocks", word), self.levers["superblock_cycles"])
        if mine.line:
            free = mine.line.popleft()
        else:
            length = size * self.levers["superblock_blocks"]
            base = self.pool.take(length)
            if base is None:
                return None
            free = set(range(base, base + length, size))
        taken, *others = sorted(free)
        free.remove(taken)
        for other in others:
            if len(mine.lists[first]) < self.levers["list_blocks"]:
                mine.lists[first].append((other, free))
                free.remove(other)
        if free:
            mine.line.append(free)
        return self._grant(c, taken, free)

    def _grant(self, c: int, base: int, free: set[int]) -> Grant:
        mine = self.classes[c]

        def back() -> None:
            number = base // (self.smallest // self.granule)
            line = mine.lists[number % self.levers["lists"]]
            if len(line) < self.levers["list_blocks"]:
                line.append((base, free))
            else:
                if not free:
                    mine.line.append(free)
                free.add(base)

        return Grant(base, self.smallest // self.granule * 2**c, back)


HEAPS: dict[str, type[Heap]] = {
    "hashed_bins": HashedBins,
    "atomic_pointer": AtomicPointer,
    "circular_list": CircularList,
    "scattered_pages": ScatteredPages,
    "slabs": Slabs,
    "page_queue": PageQueue,
    "chunk_queue": ChunkQueue,
    "basic_blocks": BasicBlocks,
}
