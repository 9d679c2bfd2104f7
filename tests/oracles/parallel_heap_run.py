"""A slow twin of a run with a parallel heap: specification 2, R1-R31, E3-E6, written from its sentences alone.

The text leaves two things open. `during_lock_wait` hides the launch too here. A block that goes back at the cycle of
its answer is there for the next effect of that cycle.
"""

from __future__ import annotations

import heapq
from collections.abc import Generator, Iterator
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from tests.oracles.malloc import piece, rounded_up
from tests.oracles.parallel_heaps import HEAPS, Access, Ask, Grant, Pool, Word

Row = tuple[int, int, int, int]
"""(arrival, thread, bytes, free_at; -1 = never)"""


class Case(NamedTuple):
    """A setup in plain words; `serve` and `heap` have their name under "name"."""

    rows: list[Row]
    serve: dict[str, Any]
    heap: dict[str, Any]
    lock: dict[str, Any]
    options: dict[str, Any]
    machine: dict[str, int]
    """Its `compute_units`, `waves_a_unit` and `wave_size`."""


@dataclass
class Request:
    """One request to the heap, and what became of it."""

    number: int
    rows: list[int]
    sizes: list[int]
    arrival: int
    group: int
    block: int
    unit: int
    comes: int
    acquired: int = -1
    ended: int = -1
    ready: int = -1
    grants: list[Given] = field(default_factory=list)


@dataclass
class Given:
    """A block that a request got, for some of its rows."""

    grant: Grant
    request: Request
    rows: list[int]
    granted: int
    returned: int = -1


@dataclass
class Result:
    requests: list[Request]
    blocks: list[Given]
    acquisitions: int = 0
    atomics: int = 0
    in_vain: int = 0


class Serving(NamedTuple):
    """The serving policy in the words of sections 2 and 3."""

    unit: int
    header: int
    scan: int
    barrier: int
    divides: bool
    when: str
    on_failure: str
    frees: str


def serving(case: Case) -> Serving:
    serve, name = case.serve, case.serve["name"]
    width = {"warp_aggregated": "warp_size", "small_aggregated": "warp_size", "block_aggregated": "block_size"}.get(
        name
    )
    unit = serve[width] if width else 32
    warps = -(-unit // serve["warp_size"]) if name == "block_aggregated" else 0
    return Serving(
        unit=unit,
        header=serve.get("header_bytes", 0),
        scan=steps(unit) * case.options["scan_step_cycles"] if width else 0,
        barrier=(1 + steps(warps)) * case.options["barrier_step_cycles"] if warps else 0,
        divides=width is not None,
        when=serve.get("prefix_when", "before_request"),
        on_failure=serve.get("failure_policy", "all_null"),
        frees=serve.get("free_policy", "refcount"),
    )


def steps(lanes: int) -> int:
    return next(k for k in range(20) if 2**k >= lanes)


def cut(case: Case) -> Iterator[tuple[list[int], list[int]]]:
    """The rows and the bytes of each request: the rows of one arrival and one group are a call."""
    calls: dict[tuple[int, int], list[int]] = {}
    for row, (arrival, thread, _, _) in enumerate(case.rows):
        calls.setdefault((arrival, thread // serving(case).unit), []).append(row)
    for rows in calls.values():
        yield from small_together(case, rows) if case.serve["name"] == "small_aggregated" else together(case, rows)


def together(case: Case, rows: list[int]) -> Iterator[tuple[list[int], list[int]]]:
    serve = case.serve
    asking = [r for r in rows if case.rows[r][2] or serve.get("zero_policy") != "null"]
    first = case.rows[rows[0]][1] % serving(case).unit == 0 and rows[0] in asking
    if not asking or (serve.get("leader_rule") == "first" and not first):
        return
    for part in [[r] for r in asking] if serve["name"] == "per_thread" else [asking]:
        yield part, [piece(case.rows[r][2], serve["min_alloc"], serve["align"]) for r in part]


def small_together(case: Case, rows: list[int]) -> Iterator[tuple[list[int], list[int]]]:
    """The first small lane asks for all small ones, if they are several; each other lane for itself."""
    serve = case.serve
    small = [r for r in rows if case.rows[r][2] < serve["below_bytes"]]
    for row in rows:
        if row not in small or len(small) == 1:
            yield [row], [piece(case.rows[row][2], serve["min_alloc"], serve["align"])]
        elif row == small[0]:
            raised = [max(case.rows[r][2], serve["min_alloc"]) + serve["piece_header_bytes"] for r in small]
            sizes = [rounded_up(size, serve["align"]) for size in raised]
            sizes[0] += rounded_up(serve["block_header_bytes"], serve["align"])
            yield small, sizes


class Sent(NamedTuple):
    """An access with its time on its word."""

    access: Access
    issued: int
    group: int
    starts: int
    end: int


Acts = Generator[Access, None, None]


class Run:
    def __init__(self, case: Case) -> None:
        self.case, self.policy, self.now, self.serial = case, serving(case), 0, 0
        whole = case.options["heap_bytes"] // case.options["granule_bytes"]
        taken = int(case.options["occupancy"] * whole)
        pool = Pool(whole - taken)
        self.units = case.machine["compute_units"]
        self.heap = HEAPS[case.heap["name"]](case.heap, case.options["granule_bytes"], pool, self.units)
        self.latest: dict[Word, Sent] = {}
        self.under_way: list[tuple[int, int, Request, Acts]] = []
        self.to_return: list[tuple[int, int, Given]] = []
        self.result = Result([self._request(n, *given) for n, given in enumerate(cut(case))], [])
        self.come: list[Request] = []
        self.answered: list[Request] = []

    def _request(self, number: int, rows: list[int], sizes: list[int]) -> Request:
        arrival, thread, *_ = self.case.rows[rows[0]]
        policy, options = self.policy, self.case.options
        before = policy.barrier + (0 if policy.when == "during_lock_wait" else policy.scan)
        block = thread // options["block_threads"]
        comes = arrival + options["launch_cycles"] + before
        return Request(number, rows, sizes, arrival, thread // policy.unit, block, block % self.units, comes)

    def play(self) -> Result:
        to_come = self.result.requests[::-1]
        started = 0
        while to_come or self.under_way or started < len(self.come):
            if self.under_way and self.under_way[0][0] <= self._next_coming(to_come, started):
                self.now, _, request, acts = heapq.heappop(self.under_way)
            else:
                self.now = int(self._next_coming(to_come, started))
                if started == len(self.come):
                    while to_come and to_come[-1].comes <= self.now and self._has_room(to_come[-1]):
                        self.come.append(to_come.pop())
                request = self.come[started]
                acts = self._attempt(request, 0, len(request.rows))
                request.acquired = self.now
                started += 1
            self._give_back()
            access = next(acts, None)
            if access is None:
                self._answered(request)
            else:
                self._issue(access, request, acts)
        self.now = 2**62
        self._give_back()
        return self.result

    def _next_coming(self, to_come: list[Request], started: int) -> float:
        """The cycle at which a request issues its first access next, if no effect is before it (R27, R31)."""
        if started < len(self.come):
            return self.now
        if to_come and self._has_room(to_come[-1]):
            return max(to_come[-1].comes, self.now)
        return float("inf")

    def _has_room(self, request: Request) -> bool:
        """R31: its block is under way, or fewer blocks are than the machine holds."""
        blocks = {other.block for other in self.come if other not in self.answered}
        machine = self.case.machine
        slots = machine["waves_a_unit"] * machine["wave_size"] // self.case.options["block_threads"]
        return request.block in blocks or len(blocks) < self.units * max(slots, 1)

    def _issue(self, access: Access, request: Request, acts: Acts) -> None:
        self.serial += 1
        if access.kind == "wait":
            end = self.now + access.cycles
        else:
            end = self._on_its_word(access, request)
        heapq.heappush(self.under_way, (end, self.serial, request, acts))

    def _on_its_word(self, access: Access, request: Request) -> int:
        lock, last = self.case.lock, self.latest.get(access.word)
        reaches = self.now + lock["travel_cycles"]
        starts = max(reaches, last.end) if last else reaches
        cycles = {"swap": lock["swap_cycles"], "hold": access.cycles}.get(access.kind, lock["hold_cycles"])
        if access.kind == "hold" and lock["polls_a_cycle"]:
            cycles += (len(self.come) - len(self.answered)) // lock["polls_a_cycle"]
        merged = last is not None and self._merges(access, request, last)
        sent = last if last and merged else Sent(access, self.now, request.group, starts, starts + cycles)
        self.latest[access.word] = sent
        request.acquired = sent.starts
        self.result.acquisitions += access.kind == "hold"
        self.result.atomics += access.kind != "hold" and not merged
        self.result.in_vain += access.kind in ("swap", "hold") and starts > reaches
        return sent.end

    def _merges(self, access: Access, request: Request, last: Sent) -> bool:
        adds = access.kind == last.access.kind == "add"
        together = (last.issued, last.group) == (self.now, request.group)
        return self.case.lock["merge_lanes"] and adds and together

    def _attempt(self, request: Request, first: int, end: int) -> Acts:
        """Ask for the pieces from `first` up to `end`; where the heap refuses, go on as the policy says (E4)."""
        size = self.policy.header + sum(request.sizes[first:end])
        grant = yield from self.heap.serve(Ask(size, request.number, request.group, request.unit))
        if grant is not None:
            given = Given(grant, request, request.rows[first:end], self.now)
            request.grants.append(given)
            self.result.blocks.append(given)
        elif end - first > 1 and self.policy.on_failure == "per_thread_fallback":
            for k in range(first, end):
                yield from self._attempt(request, k, k + 1)
        elif end - first > 1 and self.policy.on_failure == "halve_and_retry":
            middle = first + (end - first + 1) // 2
            yield from self._attempt(request, first, middle)
            yield from self._attempt(request, middle, end)

    def _answered(self, request: Request) -> None:
        policy, options = self.policy, self.case.options
        request.ended = request.ready = self.now
        if policy.when == "during_lock_wait":
            request.ready = max(request.ready, request.arrival + options["launch_cycles"] + policy.scan)
        if policy.divides:
            request.ready += options["split_cycles"] + (policy.scan if policy.when == "after_grant" else 0)
        self.answered.append(request)
        if policy.frees == "refcount":
            for given in request.grants:
                self._returns_at([given])
        else:
            calls = [r for r in self.answered if r.group == request.group]
            if len(calls) == sum(r.group == request.group for r in self.result.requests):
                blocks = [given for call in calls for given in call.grants]
                self._returns_at(blocks[::-1], request.ready)

    def _returns_at(self, blocks: list[Given], not_before: int = 0) -> None:
        """Blocks go back together, in this order, when the last of their pieces is given up."""
        gives = [(self.case.rows[row][3], given.request.ready) for given in blocks for row in given.rows]
        stay = any(given.grant.back is None for given in blocks)
        if not gives or min(at for at, _ in gives) < 0 or stay:
            return
        until = max(not_before, *(max(pair) for pair in gives))
        for given in blocks:
            given.returned = until
            self.serial += 1
            heapq.heappush(self.to_return, (until, self.serial, given))

    def _give_back(self) -> None:
        while self.to_return and self.to_return[0][0] <= self.now:
            given = heapq.heappop(self.to_return)[-1]
            assert given.grant.back is not None
            given.grant.back()


def play(case: Case) -> Result:
    return Run(case).play()
