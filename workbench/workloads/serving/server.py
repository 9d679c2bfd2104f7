"""One server: who is served when, which memory each request gets on the way, and who is preempted when it is full.

First come, first served. A request starts when its prompt has space; then a token comes every so many nanoseconds,
however many requests run at once. If a running one needs a block and none is left, the one that came last gives all of
its blocks back. It is computed again later, with what it has answered as part of its prompt. Who came first is never
preempted, so all come to an end.

How the key-value cache of a request is laid out is a policy (`CacheLayout`): one region for all that may come, or
blocks on demand.
"""

from __future__ import annotations

import heapq
from typing import NamedTuple

import numpy as np

from workbench.workloads.pool_requests import ALLOC, FREE, FilledRequests, PoolRequests
from workbench.workloads.serving.cache_layout import CacheLayout
from workbench.workloads.serving.traffic import NO_PREFIX, Traffic

_FINISH, _GROW, _ARRIVE = range(3)
"""What happens at one time, in this order."""


class ServerRules(NamedTuple):
    """What is the same for all requests."""

    layout: CacheLayout
    longest: int
    token_bytes: int
    prefill_ns: int
    token_ns: int
    prefix_tokens: int
    capacity_bytes: int

    @property
    def unit(self) -> int:
        """Return the tokens in which memory is dealt out."""
        return self.layout.block or 1

    @property
    def units(self) -> int:
        """Return the number of these that the server has."""
        return self.capacity_bytes // (self.unit * self.token_bytes)


class Served(NamedTuple):
    """What became of each request."""

    admitted: np.ndarray
    """int64[requests], nanoseconds, when it first got memory."""
    finished: np.ndarray
    """int64[requests], nanoseconds."""
    preemptions: np.ndarray
    """int64[requests], how often its blocks went to another one."""


class _Region(NamedTuple):
    row: int
    first: int
    """The first of its tokens."""
    end: int


class _Sequence:
    """One request on its way."""

    def __init__(self, number: int, prompt: int, answer: int, prefix: int) -> None:
        self.number, self.prompt, self.answer, self.prefix = number, prompt, answer, prefix
        self.done = 0
        """Tokens answered before it last started."""
        self.start = 0
        """How often it has started: what was planned for an earlier start does not happen."""
        self.regions: list[_Region] = []
        self.writing = Writing(0, 0, 0, 1)


class _Prefix:
    """The blocks that requests with one prefix share."""

    def __init__(self) -> None:
        self.users = 0
        self.rows: list[int] = []
        self.born = 0


class Server:
    """Serves traffic to its end; `rows` then hold its requests for memory."""

    def __init__(self, traffic: Traffic, rules: ServerRules, rows: Rows) -> None:
        self.rules, self.rows = rules, rows
        self._free = rules.units
        self._waiting: list[tuple[int, _Sequence]] = []
        self._running: dict[int, _Sequence] = {}
        self._agenda: list[tuple[int, int, int, int, _Sequence]] = []
        self._prefixes: dict[int, _Prefix] = {}
        count = len(traffic.arrival)
        self.served = Served(*(np.full(count, fill, np.int64) for fill in (-1, -1, 0)))
        columns = (column.tolist() for column in traffic)
        for number, (arrival, *reply) in enumerate(zip(*columns, strict=True)):
            self._plan(arrival, _ARRIVE, _Sequence(number, *reply))

    def run(self) -> Served:
        """Serve all that comes."""
        happens = {_FINISH: self._finish, _GROW: self._grow, _ARRIVE: self._arrive}
        while self._agenda:
            now, kind, _, start, sequence = heapq.heappop(self._agenda)
            if start == sequence.start:
                happens[kind](sequence, now)
        return self.served

    def _plan(self, when: int, kind: int, sequence: _Sequence) -> None:
        heapq.heappush(self._agenda, (when, kind, sequence.number, sequence.start, sequence))

    def _arrive(self, sequence: _Sequence, now: int) -> None:
        heapq.heappush(self._waiting, (sequence.number, sequence))
        self._admit(now)

    def _admit(self, now: int) -> None:
        """Start those that have waited longest, as long as they have space."""
        while self._waiting and self._needed(self._waiting[0][1]) <= self._free:
            _, sequence = heapq.heappop(self._waiting)
            self._begin(sequence, now)

    def _needed(self, sequence: _Sequence) -> int:
        """Return the units that a request starts with."""
        if not self.rules.layout.block:
            return self._reserved(sequence)
        shared = self._shared_tokens(sequence)
        own = -(-(sequence.prompt + sequence.done - shared) // self.rules.unit)
        prefix = self._prefixes.get(sequence.prefix)
        return own + (0 if prefix and prefix.users else shared // self.rules.unit)

    def _reserved(self, sequence: _Sequence) -> int:
        return self.rules.layout.tokens(sequence.prompt, sequence.answer, self.rules.longest)

    def _shared_tokens(self, sequence: _Sequence) -> int:
        """Return the tokens of a request's prefix that fill whole blocks."""
        if sequence.prefix == NO_PREFIX or not self.rules.layout.block:
            return 0
        return self.rules.prefix_tokens // self.rules.unit * self.rules.unit

    def _begin(self, sequence: _Sequence, now: int) -> None:
        known = sequence.prompt + sequence.done
        decode = now + known * self.rules.prefill_ns
        sequence.writing = Writing(now, known, decode, self.rules.token_ns)
        sequence.start += 1
        self._running[sequence.number] = sequence
        if self.served.admitted[sequence.number] < 0:
            self.served.admitted[sequence.number] = now
        if self.rules.layout.block:
            shared = self._share(sequence, now)
            for first in range(shared, known, self.rules.unit):
                self._take(sequence, first, self.rules.unit, now)
            self._plan_growth(sequence)
        else:
            self._take(sequence, 0, self._reserved(sequence), now)
        self._plan(decode + (sequence.answer - sequence.done) * self.rules.token_ns, _FINISH, sequence)

    def _share(self, sequence: _Sequence, now: int) -> int:
        """Join those that use a prefix, which gets its blocks with the first of them; return its tokens."""
        tokens = self._shared_tokens(sequence)
        if tokens:
            prefix = self._prefixes.setdefault(sequence.prefix, _Prefix())
            if not prefix.users:
                prefix.born = now
                prefix.rows = [self._got(now, self.rules.unit) for _ in range(tokens // self.rules.unit)]
            prefix.users += 1
        return tokens

    def _got(self, now: int, tokens: int) -> int:
        self._free -= tokens // self.rules.unit
        return self.rows.take(now, tokens * self.rules.token_bytes)

    def _take(self, sequence: _Sequence, first: int, tokens: int, now: int) -> None:
        sequence.regions.append(_Region(self._got(now, tokens), first, first + tokens))

    def _plan_growth(self, sequence: _Sequence) -> None:
        """Plan the next block: right before the first token that is not in one."""
        last = sequence.regions[-1].end if sequence.regions else self._shared_tokens(sequence)
        if last < sequence.prompt + sequence.answer:
            writing = sequence.writing
            self._plan(writing.decode + (last - writing.known) * writing.token_ns, _GROW, sequence)

    def _grow(self, sequence: _Sequence, now: int) -> None:
        while not self._free:
            last = self._running[max(self._running)]
            self._preempt(last, now)
            if last is sequence:
                return
        first = sequence.regions[-1].end if sequence.regions else self._shared_tokens(sequence)
        self._take(sequence, first, self.rules.unit, now)
        self._plan_growth(sequence)

    def _preempt(self, sequence: _Sequence, now: int) -> None:
        self._leave(sequence, now)
        sequence.done = min(sequence.done + sequence.writing.written(now), sequence.answer - 1)
        sequence.start += 1
        self.served.preemptions[sequence.number] += 1
        heapq.heappush(self._waiting, (sequence.number, sequence))

    def _finish(self, sequence: _Sequence, now: int) -> None:
        self._leave(sequence, now)
        self.served.finished[sequence.number] = now
        self._admit(now)

    def _leave(self, sequence: _Sequence, now: int) -> None:
        """Give back all that a request has, and the blocks of its prefix if no other request uses them."""
        del self._running[sequence.number]
        for row, first, end in sequence.regions:
            self._give(row, end - first, sequence.writing.filled(first, end, now), now)
        sequence.regions = []
        prefix = self._prefixes.get(sequence.prefix) if self._shared_tokens(sequence) else None
        if prefix is not None:
            prefix.users -= 1
            for row in [] if prefix.users else prefix.rows:
                self._give(row, self.rules.unit, self.rules.unit * (now - prefix.born), now)

    def _give(self, row: int, tokens: int, filled: int, now: int) -> None:
        self._free += tokens // self.rules.unit
        self.rows.give(now, row, float(filled * self.rules.token_bytes))


class Writing(NamedTuple):
    """When the tokens of a sequence are written, from the moment on at which it got its memory."""

    begin: int
    """Nanoseconds; what is known by then counts as written."""
    known: int
    """Tokens that are known then: the prompt, and what was answered before a preemption."""
    decode: int
    """Nanoseconds, when the first further token begins."""
    token_ns: int
    """Nanoseconds a token."""

    def written(self, now: int) -> int:
        """Return the number of further tokens by a moment.

        >>> Writing(begin=0, known=5, decode=100, token_ns=10).written(129)
        2
        """
        return max(now - self.decode, 0) // self.token_ns

    def filled(self, first: int, end: int, now: int) -> int:
        """Return the nanoseconds for which the tokens from `first` to `end` have been there by a moment, added up.

        >>> Writing(begin=0, known=5, decode=100, token_ns=10).filled(4, 8, 130)
        160
        """
        held = max(min(end, self.known) - first, 0) * (now - self.begin)
        low = max(first, self.known) - self.known
        high = min(end - self.known, self.written(now))
        if high <= low:
            return held
        numbers = (low + 1 + high) * (high - low) // 2
        return held + (high - low) * (now - self.decode) - numbers * self.token_ns


class Rows:
    """The rows of one server, which runs on one card."""

    def __init__(self, app: int, card: int) -> None:
        self.app, self.card = app, card
        self._rows: list[tuple[int, int, int, int]] = []
        self._filled: list[float] = []
        self._handles = 0

    def take(self, now: int, size: int) -> int:
        """Ask for a region; return its row."""
        self._rows.append((now, ALLOC, self._handles, size))
        self._filled.append(0.0)
        self._handles += 1
        return len(self._rows) - 1

    def give(self, now: int, row: int, filled: float) -> None:
        """Give the region of a row back, with the bytes that held data, summed over the nanoseconds of its life."""
        _, _, handle, size = self._rows[row]
        self._rows.append((now, FREE, handle, size))
        self._filled[row] = filled
        self._filled.append(0.0)

    def requests(self) -> FilledRequests:
        """Return all rows as requests."""
        time, action, handle, size = np.array(self._rows, np.int64).reshape(-1, 4).T
        columns = (time, np.full(len(time), self.app), np.full(len(time), self.card), action.astype(np.int8))
        return FilledRequests.of(PoolRequests(*columns, handle, size), np.array(self._filled))


def merged(servers: list[FilledRequests]) -> FilledRequests:
    """Return the requests of several servers by time; at one time those of the lower number come first."""
    time = np.concatenate([one.time for one in servers])
    order = np.argsort(time, kind="stable")
    columns = (np.concatenate(parts)[order] for parts in zip(*servers, strict=True))
    requests = PoolRequests(*(np.ascontiguousarray(column) for column in columns))
    first = np.cumsum([0, *(int(one.handle.max(initial=-1)) + 1 for one in servers)])
    return FilledRequests.of(
        requests._replace(handle=requests.handle + first[requests.app]),
        np.concatenate([one.filled for one in servers])[order],
    )
