"""The memory pool over all cards: a service with a queue, caches, physical frames (spec 5; spec 6, R9, R10, R13)."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from dataclasses import dataclass

from tests.oracles.node.calendar import Calendar, Key, Rank
from tests.oracles.node.description import Machine, Policies
from tests.oracles.node.frames import Frames, Runs, part_of
from tests.oracles.node.gauge import Gauge
from tests.oracles.node.links import cycles_of
from tests.oracles.node.log import Log
from tests.oracles.node.policies import answer_of


@dataclass(eq=False)
class Allocation:
    """Memory that the driver gave at once; blocks of it are in use or cached."""

    card: int
    base: int  # an address of its card, in bytes, never used again
    size: int
    runs: Runs
    used: int = 0  # bytes
    released_at: int = 0  # serial of its last release


@dataclass(eq=False)
class Block:
    """A part of an allocation."""

    parent: Allocation
    offset: int
    size: int


@dataclass(eq=False)
class Region:
    """What was granted: a block in use."""

    block: Block
    borrower: int
    asked: int  # bytes, before rounding
    key: Key
    moving: bool = False
    freed: bool = False

    @property
    def card(self) -> int:
        """Return the card on which it lies."""
        return self.block.parent.card

    @property
    def size(self) -> int:
        """Return its bytes, whole granules."""
        return self.block.size

    @property
    def identifier(self) -> tuple[int, int]:
        """Return (card, address), which names the region for the whole run."""
        return self.card, self.block.parent.base + self.block.offset


class PoolCard:
    """The memory of one card: free frames, allocations, cached blocks."""

    def __init__(self, card: int, size: int, granule: int, policies: Policies) -> None:
        self.card, self.granule = card, granule
        self.frames = Frames(size // granule, answer_of("frames", policies.frames))
        self.cached: list[Block] = []
        self._fit = answer_of("cache", policies.cache)
        self._next_base = 0

    @property
    def physical(self) -> int:
        """Return the bytes that the driver has."""
        return self.frames.free_granules * self.granule

    @property
    def free(self) -> int:
        """Return cached and physical bytes (spec 5, E1: for ranking)."""
        return self.physical + sum(block.size for block in self.cached)

    def qualifies(self, size: int) -> bool:
        """Return whether a cached block or the driver alone has room (spec 5, R10, E1)."""
        return self._index(size) is not None or self.physical >= size

    def _index(self, size: int) -> int | None:
        self.cached.sort(key=lambda block: (block.parent.base, block.offset))
        return self._fit([block.size for block in self.cached], size)

    def take(self, size: int) -> tuple[Block, str]:
        """Take a cached block and split it, or ask the driver (spec 5, R11 to R13)."""
        index = self._index(size)
        if index is None:
            parent = Allocation(self.card, self._next_base, size, self.frames.take(size // self.granule), size)
            self._next_base += size
            return Block(parent, 0, size), "physical"
        block = self.cached.pop(index)
        if block.size > size:
            self.cached.append(Block(block.parent, block.offset + size, block.size - size))
        block.parent.used += size
        return Block(block.parent, block.offset, size), "cached"

    def give(self, block: Block, serial: int) -> None:
        """Release a block logically; neighbours within its allocation join (spec 5, R28, E4)."""
        parent = block.parent
        parent.used, parent.released_at = parent.used - block.size, serial
        beside = [one for one in self.cached if one.parent is parent]
        joined = [one for one in beside if one.offset in (block.offset + block.size, block.offset - one.size)]
        for one in joined:
            self.cached.remove(one)
        start = min(one.offset for one in [block, *joined])
        self.cached.append(Block(parent, start, sum(one.size for one in [block, *joined])))

    def trim(self, limit: int | None) -> list[Allocation]:
        """Give whole allocations back to the driver, longest unused first, until the limit is kept (R29, E6)."""
        returned = []
        while limit is not None and sum(block.size for block in self.cached) > limit:
            whole = [block for block in self.cached if not block.parent.used]
            if not whole:
                break
            oldest = min(whole, key=lambda block: (block.parent.released_at, block.parent.base))
            self.cached.remove(oldest)
            self.frames.give(oldest.parent.runs)
            returned.append(oldest.parent)
        return returned

    def runs_of(self, block: Block) -> Runs:
        """Return the frames of a block."""
        return part_of(block.parent.runs, block.offset // self.granule, block.size // self.granule)


@dataclass(eq=False)
class Job:
    """A request at the service: an allocation, a release or a move."""

    key: Key
    serve: Callable[[Job], bool]  # False: it must wait for a release
    finish: Callable[[], None] = lambda: None
    cycles: int = 0
    transfer: Callable[[Callable[[], None]], None] | None = None  # of a move: what the service waits for


class Pool:
    """The service: one job after the other, each decided when its service begins, answered when that ends."""

    def __init__(
        self, calendar: Calendar, machine: Machine, granule: int, policies: Policies, log: Log,
        bandwidth: Callable[[int, int], float], copy: Callable[[Region, int, Callable[[], None]], None],
        moved: Callable[[Region, Block], None],
    ) -> None:  # fmt: skip
        self._calendar, self._machine, self._log, self.granule = calendar, machine, log, granule
        self.cards = [PoolCard(k, card.memory_bytes, granule, policies) for k, card in enumerate(machine.cards)]
        self._target, self._residency = answer_of("target", policies.target), answer_of("residency", policies.residency)
        self._bandwidth, self._copy, self._moved = bandwidth, copy, moved
        self._jobs: deque[Job] = deque()
        self._waiting: deque[Job] = deque()
        self._busy = False
        self._releases = 0
        self.regions: list[Region] = []  # in use
        self.granted_bytes = self.freed_bytes = self.rounding_bytes = 0
        self.live, self.reserved = Gauge(calendar), Gauge(calendar)
        self.fragmentation = [Gauge(calendar) for _ in self.cards]

    @property
    def waiting(self) -> list[Job]:
        """Return the requests that wait for a release."""
        return list(self._waiting)

    def allocate(self, key: Key, borrower: int, size: int, answer: Callable[[Region | None], None]) -> None:
        """Ask for memory near a card; the answer is a region or None."""
        self._log("pool", borrower, "request", key, bytes=size)
        job = Job(key, lambda job: self._serve(job, borrower, size, answer))
        self._enter(job)

    def release(self, region: Region, key: Key, done: Callable[[], None]) -> None:
        """Give a region back to its card's cache."""
        self._log("pool", region.card, "release", key, identifier=region.identifier[1], bytes=region.size)
        region.freed = True
        self._enter(Job(key, lambda job: self._serve_release(job, region), lambda: self._released(region, key, done)))

    def _released(self, region: Region, key: Key, done: Callable[[], None]) -> None:
        self._log("pool", region.card, "released", key, identifier=region.identifier[1])
        done()

    def _enter(self, job: Job) -> None:
        self._jobs.append(job)
        self._next()

    def _next(self) -> None:
        while self._jobs and not self._busy:
            job = self._jobs.popleft()
            if not job.serve(job):
                self._waiting.append(job)
                continue
            self._measure()
            self._busy = True
            end = self._calendar.now + job.cycles
            self._calendar.at(end, Rank.POOL_ANSWER, job.key, lambda job=job: self._served(job))

    def _served(self, job: Job) -> None:
        if job.transfer:
            job.transfer(lambda: self._finished(job))
        else:
            self._finished(job)

    def _finished(self, job: Job) -> None:
        self._busy = False
        job.finish()
        self._measure()
        self._next()

    def _measure(self) -> None:
        self.live.set(sum(region.asked for region in self.regions))
        totals = [card.frames.granules * card.granule for card in self.cards]
        self.reserved.set(sum(totals) - sum(card.physical for card in self.cards))
        for gauge, card in zip(self.fragmentation, self.cards):
            gauge.set(card.frames.fragmentation)

    def _cycles(self, nanoseconds: int) -> int:
        return cycles_of(nanoseconds, self._machine.clock_mhz)

    # Allocations.

    def _serve(self, job: Job, borrower: int, size: int, answer: Callable[[Region | None], None]) -> bool:
        rounded = -(-size // self.granule) * self.granule
        card = None if self._waiting else self._card_for(borrower, rounded)
        if card is None and self._machine.pool.when_full == "wait":
            return False
        region, source = self._grant(job.key, card, borrower, size, rounded)
        driver = self._machine.pool.driver_ns if source == "physical" else 0
        job.cycles = self._cycles(self._machine.pool.request_ns + driver)
        job.finish = lambda: self._answer(job.key, region, answer)
        return True

    def _answer(self, key: Key, region: Region | None, answer: Callable[[Region | None], None]) -> None:
        self._log("pool", -1 if region is None else region.card, "answer", key, granted=region is not None)
        answer(region)

    def _card_for(self, borrower: int, size: int) -> int | None:
        if self.cards[borrower].qualifies(size):
            return borrower
        others = [card for card in self.cards if card.card != borrower and card.qualifies(size)]
        rows = [(card.card, card.free, self._bandwidth(card.card, borrower)) for card in others]
        return self._target(size, [row for row in rows if row[2] > 0])

    def _grant(self, key: Key, card: int | None, borrower: int, asked: int, size: int) -> tuple[Region | None, str]:
        if card is None:
            self._log("pool", borrower, "refuse", key, bytes=asked)
            return None, ""
        block, source = self.cards[card].take(size)
        region = Region(block, borrower, asked, key)
        self.regions.append(region)
        self.granted_bytes += size
        self.rounding_bytes += size - asked
        values = {"borrower": borrower, "identifier": region.identifier[1], "bytes": size, "source": source}
        self._log("pool", card, "grant", key, **values)
        return region, source

    # Releases and moves.

    def _serve_release(self, job: Job, region: Region) -> bool:
        job.cycles = self._cycles(self._machine.pool.release_ns)
        self.regions.remove(region)
        self.freed_bytes += region.size
        self._take_back(region.block, job.key)
        self._retry()
        return True

    def _take_back(self, block: Block, key: Key) -> None:
        self._releases += 1
        card = self.cards[block.parent.card]
        card.give(block, self._releases)
        for returned in card.trim(self._machine.pool.idle_limit_bytes):
            self._log("pool", card.card, "return_to_driver", key, identifier=returned.base, bytes=returned.size)
        self._plan_moves(card, key)

    def _retry(self) -> None:
        """Let those that wait try again in order, before whoever comes later; nobody is overtaken."""
        self._jobs.extendleft(reversed(self._waiting))
        self._waiting.clear()

    def _plan_moves(self, card: PoolCard, key: Key) -> None:
        borrowed = [r for r in self.regions if r.borrower == card.card != r.card and not r.moving and not r.freed]
        for region in self._residency(card.card, borrowed, card.free):
            region.moving = True
            self._jobs.append(Job(region.key, lambda job, region=region: self._serve_move(job, region)))

    def _serve_move(self, job: Job, region: Region) -> bool:
        home = self.cards[region.borrower]
        if region.freed or not home.qualifies(region.size):
            region.moving = False
            return True
        block, _ = home.take(region.size)
        self._log("pool", home.card, "move", job.key, source=region.card, bytes=region.size)
        job.transfer = lambda done: self._copy(region, home.card, done)
        job.finish = lambda: self._end_move(region, block)
        return True

    def _end_move(self, region: Region, block: Block) -> None:
        self._log("pool", block.parent.card, "moved", region.key, source=region.card, bytes=region.size)
        old, region.block, region.moving = region.block, block, False
        self._moved(region, block)
        self._take_back(old, region.key)
        self._retry()
