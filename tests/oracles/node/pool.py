"""The memory pool over all cards: a service with a queue, caches, physical frames (spec 5; spec 6, R9, R10, R13)."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field

from tests.oracles.node.calendar import Calendar, Key, Rank
from tests.oracles.node.description import Machine, Policies
from tests.oracles.node.frames import Frames, Runs, part_of
from tests.oracles.node.gauge import Gauge
from tests.oracles.node.links import cycles_of
from tests.oracles.node.log import Log
from tests.oracles.node.policies import answer_of, no_cache


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
        limit = 0 if self._fit is no_cache else limit
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
class Move:
    """A region that goes home in the service of a job; the memory that it leaves is free, the copy still to come."""

    region: Region
    source: int
    block: Block
    ns: int  # of the job's work before the copy begins
    copy_ns: int = 0  # where no links are waited for


@dataclass(eq=False)
class Job:
    """A request at the service: an allocation or a release, and the moves that follow from it."""

    key: Key
    serve: Callable[[Job], bool]  # False: it must wait for a release
    finish: Callable[[], None] = lambda: None
    ns: int = 0  # without copies over links
    moves: list[Move] = field(default_factory=list)
    waited: bool = False  # it has had the time of a request


class Pool:
    """The service: one job after the other, each decided when its service begins, answered when that ends."""

    def __init__(
        self, calendar: Calendar, machine: Machine, granule: int, policies: Policies, log: Log,
        bandwidth: Callable[[int, int], float], copy: Callable[[Region, int, int, Callable[[], None]], None] | None,
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
                self._let_wait(job)
                continue
            self._measure()
            self._busy = True
            self._go_on(job, self._calendar.now, deque(job.moves))

    def _let_wait(self, job: Job) -> None:
        """Let a request wait for a release; the service has read it, which takes its time, once."""
        self._waiting.append(job)
        cycles = 0 if job.waited else self._cycles(self._machine.pool.request_ns)
        job.waited = True
        if cycles:
            self._busy = True
            self._calendar.at(self._calendar.now + cycles, Rank.POOL_ANSWER, job.key, self._read)

    def _read(self) -> None:
        self._busy = False
        self._next()

    def _go_on(self, job: Job, start: int, moves: deque[Move]) -> None:
        """Go on with a job that began at a cycle, which is later by as long as copies over links have taken."""
        if not moves:
            end = start + self._cycles(job.ns)
            self._calendar.at(end, Rank.POOL_ANSWER, job.key, lambda: self._finished(job))
            return
        move = moves.popleft()
        begin = start + self._cycles(move.ns)
        self._calendar.at(begin, Rank.POOL_ANSWER, job.key, lambda: self._begin_move(job, start, move, moves))

    def _begin_move(self, job: Job, start: int, move: Move, moves: deque[Move]) -> None:
        region, card, begun = move.region, move.block.parent.card, self._calendar.now
        self._log("pool", card, "move", region.key, source=move.source, bytes=region.size)

        def copied(at: int, late: int) -> None:
            self._calendar.at(at, Rank.POOL_ANSWER, job.key, lambda: self._end_move(job, start + late, move, moves))

        if self._copy:
            now = self._calendar
            self._copy(region, move.source, card, lambda: copied(now.now, now.now - begun))
        else:
            copied(start + self._cycles(move.ns + move.copy_ns), 0)

    def _end_move(self, job: Job, start: int, move: Move, moves: deque[Move]) -> None:
        region, card = move.region, move.block.parent.card
        self._log("pool", card, "moved", region.key, source=move.source, bytes=region.size)
        self._moved(region, move.block)
        self._go_on(job, start, moves)

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
        job.ns = driver if job.waited else self._machine.pool.request_ns + driver
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
        job.ns = self._machine.pool.release_ns
        self.regions.remove(region)
        self.freed_bytes += region.size
        card = region.card
        self._take_back(region.block, job.key)
        self._bring_home(job, card)
        self._retry()
        return True

    def _take_back(self, block: Block, key: Key) -> None:
        self._releases += 1
        card = self.cards[block.parent.card]
        card.give(block, self._releases)
        for returned in card.trim(self._machine.pool.idle_limit_bytes):
            self._log("pool", card.card, "return_to_driver", key, identifier=returned.base, bytes=returned.size)

    def _retry(self) -> None:
        """Let those that wait try again in order, before whoever comes later; nobody is overtaken."""
        self._jobs.extendleft(reversed(self._waiting))
        self._waiting.clear()

    def _bring_home(self, job: Job, card: int) -> None:
        """Move regions home as long as one fits, the lowest card's first; what they leave is room for others."""
        roomy = {card}
        while roomy:
            home = self.cards[min(roomy)]
            borrowed = [one for one in self.regions if one.borrower == home.card != one.card]
            fitting = [one for one in borrowed if home.qualifies(one.size)]
            chosen = self._residency(home.card, fitting, home.free)
            if chosen:
                roomy.add(chosen[0].card)
                self._move(job, chosen[0], home)
            else:
                roomy.remove(home.card)

    def _move(self, job: Job, region: Region, home: PoolCard) -> None:
        """Take memory at home and give back what the region leaves; the service waits for the copy."""
        old, (block, source) = region.block, home.take(region.size)
        if source == "physical":
            job.ns += self._machine.pool.driver_ns
        move = Move(region, region.card, block, job.ns)
        if not self._copy:
            move.copy_ns = int(region.size / self._bandwidth(region.card, home.card))
            job.ns += move.copy_ns
        job.moves.append(move)
        region.block = block
        self._take_back(old, job.key)
