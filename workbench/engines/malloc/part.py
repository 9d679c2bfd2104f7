"""A heap as a part of a larger simulation: its events are taken as far as another clock allows (spec 6, R2, R14).

What may be asked is known before: the calls of the workload, cut into requests. When they are made is not: `ask` names
a request and a cycle; the arrivals of the workload only say which calls of a warp belong together, and in which order
the requests are numbered. Returns are those of the workload, or are asked for. A heap that may grow says that it needs
a chunk before a request goes on. Times are cycles.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from workbench.engines.engine import Setup, at_slot
from workbench.engines.kit import Attempt
from workbench.engines.kit import frame as kit
from workbench.engines.kit.frame import NEVER, advance, next_event
from workbench.engines.kit.order import LAST_CYCLE
from workbench.engines.malloc import part_api
from workbench.engines.malloc.engine import Malloc, Play, Reading
from workbench.engines.malloc.part_api import REFUSED
from workbench.engines.malloc.prepare import Case, check_policies, check_warps, columns_of, granules_of, rules_of
from workbench.engines.malloc.state import COUNT, NEEDS, Columns, Rules, Run
from workbench.errors import InputError, wrong_value
from workbench.records.malloc import MallocRecord

# fmt: off
__all__ = [
    "NEVER", "Answer", "Chunk", "Free", "Growth", "Need", "Part", "Request", "addresses", "advance", "ask",
    "finished", "new_part", "next_event", "record_of",
]
# fmt: on

NULL = -1


class Request(NamedTuple):
    """The calls of one request to the heap, made together."""

    cycle: int
    request: int
    """Its number: see `Part.requests`."""


class Free(NamedTuple):
    """A call gives up what it got; its block goes back when all calls that share it have given it up."""

    cycle: int
    call: int
    """The row of the workload."""


class Chunk(NamedTuple):
    """The pool's answer to a request that needs a chunk."""

    cycle: int
    ticket: int
    bytes: int
    """What the heap got, 0 = refused."""


class Answer(NamedTuple):
    """A request was served."""

    ticket: int
    cycle: int
    address: int
    """Of the lowest piece that it got, `NULL` where it got none."""


class Need(NamedTuple):
    """A request found its heap empty; it goes on when a `Chunk` is answered."""

    ticket: int
    cycle: int
    bytes: int
    """Of the chunk, the heap's chunks put together where one is too small for it."""


class Growth(NamedTuple):
    """How far a heap may grow."""

    chunk_bytes: int = 2 << 20
    """What it asks for at a time (spec 6, E8)."""
    most_bytes: int = 1 << 30
    """Of the heap with all its chunks: the addresses that are set aside for it, equal parts for its arenas."""


class Part(kit.Part):
    """The state of a heap and its locks, and what has been asked of it."""

    def __init__(self, setup: Setup, seed: int, growth: Growth | None) -> None:
        self.engine = Malloc()
        self.reading = _read(self.engine.given(setup, seed), growth)
        checked = not all(policy.built_in for policy in self.engine.asked(self.reading))
        attempt = Attempt({"taken": 0, "refusals": 0}, events=False, checked=checked)
        self.play: Play = self.engine.begin(self.reading, attempt)
        self.run: Run = self.play.run()
        super().__init__(part_api, self.run)

    @property
    def requests(self) -> np.ndarray:
        """Return the number of the request that each call is a part of: int64[calls], below 0 = it gets nothing, at
        once."""
        return self.run.cuts.request

    def check(self) -> None:
        self.engine.check(self.reading, self.run.state.counters, self.run.state)


def new_part(setup: Setup, seed: int, growth: Growth | None = None) -> Part:
    """Return the state of a heap that was asked for nothing yet.

    Parameters
    ----------
    setup : Setup
        Its workload is the table of calls.
    seed : int
    growth : Growth, optional
        Without it an empty heap answers null, as in a run of the engine.

    Raises
    ------
    InputError
        The calls or the policies do not go with the machine, or the heap cannot grow so.

    Examples
    --------
    >>> from workbench.engines.malloc import MallocOptions
    >>> from workbench.machine import Machine
    >>> from workbench.policies.policy import read_policy
    >>> from workbench.workloads.malloc_calls import RandomMallocs
    >>> policies = {slot: read_policy(slot, name) for slot, name in Malloc.slots.items()}
    >>> setup = Setup("malloc", Machine(), RandomMallocs(threads=64), policies, MallocOptions())
    >>> state = new_part(setup, seed=1)
    >>> ask(state, Request(cycle=100, request=1)), next_event(state)
    (1, (120, 14))
    >>> advance(state, (NEVER, 0))
    >>> finished(state)
    [Answer(ticket=1, cycle=540, address=0)]
    """
    return Part(setup, seed, growth)


def ask(state: Part, request: Request | Free | Chunk) -> int:
    """Ask for something at a cycle, after all that precedes it, and return its ticket: the request's or call's number.

    Raises
    ------
    InputError
        The cycle is over, or there is no such thing to be asked for.
    PolicyError
        A policy raised, or gave an answer that its question does not allow.
    """
    kit.refuse_past(request.cycle, int(state.run.state.counters[COUNT.now]))
    if isinstance(request, Chunk):
        granules = request.bytes // state.run.rules.granule
        ticket = state.call("ask_chunk", request.ticket, granules, request.cycle)
    elif isinstance(request, Free):
        ticket = state.call("ask_free", request.call, request.cycle)
    else:
        ticket = state.call("ask_request", request.request, request.cycle)
    if ticket == REFUSED:
        raise InputError(_why_refused(state, request))
    return ticket


def finished(state: Part) -> list[Answer | Need]:
    """Return what was answered since the last call, each once; a cycle may lie ahead."""
    counters, answers = state.run.state.counters, state.run.state.answers
    rows = answers[: counters[COUNT.answered]].tolist()
    counters[COUNT.answered] = 0
    return [Need(*row) if row[2] else Answer(row[0], row[1], _lowest(state, row[0])) for row in rows]


def addresses(state: Part, ticket: int) -> dict[int, int]:
    """Return where the piece of each call of a request lies that got one, by call."""
    run, base = state.run, state.reading.given.options.base_address
    rows = run.cuts.order[run.cuts.first[ticket] : run.cuts.first[ticket + 1]]
    rows = rows[run.state.block[rows] >= 0]
    block = run.state.block[rows]
    inside = run.rules.header + run.cuts.offset[rows] - run.state.origin[block]
    where = base + run.state.base[block] * run.rules.granule + inside
    return dict(zip(rows.tolist(), where.tolist(), strict=True))


def record_of(state: Part) -> MallocRecord:
    """Return what happened so far, as the engine has it; calls arrived when they were asked."""
    return state.engine.record(state.reading, state.play)


def _read(given: Case, growth: Growth | None) -> Reading:
    """Return what the setup determines, with a table of calls that may be written."""
    check_warps(given)
    with at_slot(given.setup, "arenas"):
        check_policies(given)
    rules = _growing(given, rules_of(given, any_frees=True), growth)
    calls = columns_of(given.setup.workload.mallocs(given.machine, given.streams), rules)
    return Reading(given, rules, Columns(*(np.array(column) for column in calls)), part=True)


def _growing(given: Case, rules: Rules, growth: Growth | None) -> Rules:
    """Return the rules of a heap that may grow."""
    if growth is None:
        return rules
    chunk, region = growth.chunk_bytes // rules.granule, growth.most_bytes // rules.granule // rules.arenas
    if chunk < 1:
        raise wrong_value("", "chunk_bytes", f"must be at least a granule ({rules.granule})", growth.chunk_bytes)
    if region < granules_of(given):
        heap = given.options.heap_bytes
        raise wrong_value("", "most_bytes", f"must be at least heap_bytes ({heap})", growth.most_bytes, heap)
    return rules._replace(grows=chunk, region=region)


def _lowest(state: Part, ticket: int) -> int:
    return min(addresses(state, ticket).values(), default=NULL)


def _why_refused(state: Part, request: Request | Free | Chunk) -> str:
    """Return the sentence for what cannot be asked for."""
    run = state.run
    if isinstance(request, Chunk):
        needs = sorted(set(run.state.growth[:, NEEDS].tolist()) - {-1})
        return f"request {request.ticket} needs no chunk; those that do: {needs or 'none'}."
    if request.cycle > LAST_CYCLE:
        return f"cycle {request.cycle} is too late; cycles are below 2^56."
    if isinstance(request, Request):
        count = len(run.cuts.leader)
        if 0 <= request.request < count:
            return f"request {request.request} was asked before; each request of the table is asked once."
        return f"there is no request {request.request}; the calls were cut into {count} requests, numbered from 0."
    calls = len(run.columns.free_at)
    if not 0 <= request.call < calls:
        return f"there is no call {request.call}; there are {calls}, numbered from 0."
    if run.columns.free_at[request.call] >= 0:
        return f"call {request.call} gives up its piece at cycle {run.columns.free_at[request.call]} already."
    return f"call {request.call} was not made, so there is nothing to give up."
