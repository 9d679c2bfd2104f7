"""The device heap of an application on a card: a lock, critical sections, chunks (spec 2; spec 6, R14, E7, E8)."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field

from tests.oracles.node.calendar import Calendar, Key, Rank
from tests.oracles.node.description import Heap as Machine
from tests.oracles.node.description import Policies
from tests.oracles.node.log import Log
from tests.oracles.node.pages import rounded
from tests.oracles.node.policies import answer_of
from tests.oracles.node.touch import Trail

Grows = Callable[[int, Key, Callable[[bool], None]], None]
"""Asks for a chunk of so many bytes; calls back with whether it came."""


@dataclass(eq=False)
class Call:
    """A wave's call of malloc: one or more requests at the heap."""

    key: Key
    answered: Callable[[Call], None]
    requested_at: int
    open: int = 0  # requests that are not answered
    answered_at: int = -1
    nulls: int = 0
    blocks: list[Block] = field(default_factory=list)
    last: Request | None = None  # the request that was answered last

    def spans(self) -> list[tuple[int, int, str]]:
        """Return where the time of the call went: that of the request answered last, then the split."""
        assert self.last is not None
        return self.last.trail.spans(self.requested_at, self.answered_at)


@dataclass(eq=False)
class Request:
    """One entry of the critical section."""

    call: Call
    index: int
    size: int
    trail: Trail = field(default_factory=Trail)
    block: Block | None = None


@dataclass(eq=False)
class Block:
    """Granules of a chunk."""

    chunk: list[bool]
    start: int
    count: int


class Heap:
    """Chunks of granules behind one lock, which requests take in the order in which they come."""

    def __init__(
        self, calendar: Calendar, card: int, machine: Machine, policies: Policies, log: Log,
        grows: Grows | None = None, chunk_bytes: int = 0,
    ) -> None:  # fmt: skip
        self._calendar, self._card, self._machine, self._log = calendar, card, machine, log
        self._serve, self._place = answer_of("serve", policies.serve), answer_of("heap", policies.heap)
        self._grows, self._chunk_bytes = grows, chunk_bytes
        self._chunks = [[True] * (machine.heap_bytes // machine.granule_bytes)]
        self._queue: deque[Request] = deque()
        self._busy = self._planned = False
        self.attempts = self.failed_attempts = 0

    def call(self, key: Key, lanes: list[int], answered: Callable[[Call], None]) -> Call:
        """Enter a wave's call; lanes ask as the policy says."""
        call = Call(key, answered, self._calendar.now)
        self._log("malloc", self._card, "call", key, lanes=tuple(lanes))
        requests = self._serve(lanes, self._machine.min_alloc)
        call.open = len(requests)
        for index, sizes in enumerate(requests):
            self._enter_after_sum(Request(call, index, sum(sizes)))
        return call

    def free(self, key: Key, blocks: list[Block]) -> None:
        """Give blocks back, without the lock."""
        for block in blocks:
            assert not any(block.chunk[block.start : block.start + block.count]), "a block was given back twice"
            block.chunk[block.start : block.start + block.count] = [True] * block.count
            chunk = self._number(block)
            self._log("malloc", self._card, "free", key, chunk=chunk, start=block.start, count=block.count)

    def block(self, chunk: int, start: int, count: int) -> Block:
        """Return the block that stands at a place of a chunk."""
        return Block(self._chunks[chunk], start, count)

    def _number(self, block: Block) -> int:
        return next(number for number, chunk in enumerate(self._chunks) if chunk is block.chunk)

    @property
    def _aggregates(self) -> bool:
        return getattr(self._serve, "aggregates", False)

    def _enter_after_sum(self, request: Request) -> None:
        """Enter a request, once the lanes' sizes are summed up if it is for several."""
        steps = (self._machine.warp_size - 1).bit_length() if self._aggregates else 0
        if not steps * self._machine.scan_step_cycles:
            self._enter(request)
            return
        request.trail.mark(self._calendar.now, "malloc service")
        entry = self._calendar.now + steps * self._machine.scan_step_cycles
        self._calendar.at(entry, Rank.MALLOC_REQUEST, (*request.call.key, request.index), lambda: self._enter(request))

    def _enter(self, request: Request) -> None:
        request.trail.mark(self._calendar.now, "malloc lock")
        self._log("malloc", self._card, "request", request.call.key, lane=request.index, bytes=request.size)
        self.attempts += self._busy
        self.failed_attempts += self._busy
        self._queue.append(request)
        self._start()

    def _start(self) -> None:
        """Let the next section start when all that this cycle asks for is there, and given up (N50)."""
        if self._queue and not self._planned and not (self._busy and self._machine.locked):
            self._planned = True
            self._calendar.at(self._calendar.now, Rank.SERVICE, self._queue[0].call.key, self._take)

    def _take(self) -> None:
        self._planned = False
        while self._queue and not (self._busy and self._machine.locked):
            self._busy = True
            request = self._queue.popleft()
            self.attempts += 1 + len(self._queue)
            self.failed_attempts += len(self._queue)
            self._section(request)

    def _section(self, request: Request) -> None:
        self._log("malloc", self._card, "acquire", request.call.key, lane=request.index)
        if self._placed(request) or self._grows is None:
            self._hold(request)
            return
        request.trail.mark(self._calendar.now, "heap chunk")
        size = rounded(request.size, self._chunk_bytes)
        self._grows(size, request.call.key, lambda granted: self._grown(request, size if granted else 0))

    def _grown(self, request: Request, size: int) -> None:
        if size:
            self._chunks[0].extend([True] * (size // self._machine.granule_bytes))
            assert self._placed(request), "a fresh chunk does not hold the request that it was asked for"
        self._hold(request)

    def _hold(self, request: Request) -> None:
        request.trail.mark(self._calendar.now, "malloc service")
        end = self._calendar.now + self._machine.hold_cycles
        place = (*request.call.key, request.index)
        self._calendar.at(end, Rank.MALLOC_ANSWER, place, lambda: self._left(request))

    def _placed(self, request: Request) -> bool:
        """Take granules from the first chunk that has room."""
        count = -(-request.size // self._machine.granule_bytes)
        for chunk in self._chunks:
            start = self._place(chunk, count)
            if start is not None:
                chunk[start : start + count] = [False] * count
                request.block = Block(chunk, start, count)
                return True
        return False

    def _left(self, request: Request) -> None:
        """End a critical section: the lock goes to the next, the request is answered."""
        self._busy = False
        call, block = request.call, request.block
        chunk = -1 if block is None else self._number(block)
        start = -1 if block is None else block.start
        self._log("malloc", self._card, "grant", call.key, lane=request.index, chunk=chunk, start=start)
        if block is None:
            call.nulls += 1
        else:
            call.blocks.append(block)
        call.open -= 1
        if not call.open:
            self._split(call, request)
        self._start()

    def _split(self, call: Call, last: Request) -> None:
        call.last = last
        end = self._calendar.now + (self._machine.split_cycles if self._aggregates else 0)
        self._calendar.at(end, Rank.MALLOC_ANSWER, (*call.key, last.index), lambda: self._answer(call))

    def _answer(self, call: Call) -> None:
        call.answered_at = self._calendar.now
        self._log("malloc", self._card, "answer", call.key, nulls=call.nulls)
        call.answered(call)
