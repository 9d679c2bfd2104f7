"""The heap as a part of a larger simulation: stepped from outside it does as a whole run (spec 6, R2, R14, R17, E8)."""

from __future__ import annotations

import itertools
import random
from typing import Any, NamedTuple

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.engines.malloc_cases import Fixed, cases, setup
from tests.engines.stepping import REFUSED, Stepped, advance, ask, next_event
from tests.junk import refusal
from tests.slow import examples
from workbench.engines.kit import RANK
from workbench.engines.kit.engine import Setup
from workbench.engines.malloc import Malloc, part
from workbench.engines.malloc.state import COUNT
from workbench.engines.node.parts import Growth, new_heap
from workbench.errors import InputError, PolicyError
from workbench.policies.catalogue import load_all
from workbench.policies.malloc import (
    BitmapArena,
    BumpPointer,
    CircularList,
    ParallelHeap,
    PerThread,
    SizeArenas,
    SizeClasses,
    TrylockSpin,
    WarpAggregated,
    WarpArenas,
    WordByWord,
)
from workbench.policies.placement import FirstFit
from workbench.policies.policy import policies, read_policy
from workbench.records.malloc import MallocRecord, address
from workbench.structures.timetable import NEVER


class Request(NamedTuple):
    """The calls of one request to the heap, made together."""

    cycle: int
    request: int


class Free(NamedTuple):
    """A call gives up what it got; its block goes back when all calls that share it have given it up."""

    cycle: int
    call: int


class Chunk(NamedTuple):
    """The pool's answer to a request that needs a chunk: granules, 0 = refused."""

    cycle: int
    ticket: int
    granules: int


class Answer(NamedTuple):
    """A request was served; the address is that of the lowest piece that it got, -1 where it got none."""

    ticket: int
    cycle: int
    address: int


class Need(NamedTuple):
    """A request found its heap empty; it goes on when a `Chunk` of so many bytes is answered."""

    ticket: int
    cycle: int
    bytes: int


ASKED = {Request: ("ask_request",), Free: ("ask_free",), Chunk: ("ask_chunk",)}


def new_part(given: Setup, growth: Growth | None = None) -> Stepped:
    return Stepped(new_heap(given, 1, growth), ASKED, part)


def finished(state: Stepped) -> list[Answer | Need]:
    """What was answered since the last call, each once; a cycle may lie ahead."""
    now = state.lent.state
    rows = now.answers[: now.counters[COUNT.answered]].tolist()
    state.called("forget_answers")
    return [Need(*row) if row[2] else Answer(*row[:2], min(addresses(state, row[0]), default=-1)) for row in rows]


def addresses(state: Stepped, request: int) -> list[int]:
    """Where the pieces of a request lie that got one, by call."""
    return [at for at, its in zip(address(record_of(state)), state.lent.cuts.request) if its == request and at >= 0]


def record_of(state: Stepped) -> MallocRecord:
    """What happened so far, as the engine has it; calls arrived when they were asked."""
    record: MallocRecord = state.part.engine.record(state.part.run, state.part.play)
    return record


def without_frees(given: Setup) -> Setup:
    """The same calls, of which nobody knows when they are given up."""
    calls = given.workload.mallocs(given.machine, None)
    rows = np.stack([*calls[:3], np.full(len(calls.arrival), -1)]).T
    return Setup(given.engine, given.machine, Fixed(rows.tolist()), given.policies, given.options)


def stepped(case: Setup, chance: random.Random, asks_frees: bool = True) -> tuple[Stepped, list[Answer | Need]]:
    """A part that is asked each request at its arrival, and each return at its cycle, with bites of time between."""
    calls = case.workload.mallocs(case.machine, None)
    state = new_part(without_frees(case) if asks_frees else case)
    arrival = calls.arrival[state.lent.cuts.leader].tolist()
    asked: list[tuple[int, int, Any]] = [(cycle, 1, Request(cycle, request)) for request, cycle in enumerate(arrival)]
    if asks_frees:
        frees = [(cycle, row) for row, cycle in enumerate(calls.free_at.tolist()) if cycle >= 0]
        chance.shuffle(frees)
        asked += [(cycle, 0 if cycle > calls.arrival[row] else 2, Free(cycle, row)) for cycle, row in frees]
    answers: list[Answer | Need] = []
    for cycle, _, request in sorted(asked, key=lambda one: one[:2]):
        while chance.random() < 0.5 and next_event(state) < (cycle, RANK.frees):
            bite = chance.choice(
                [next_event(state), (chance.randint(next_event(state)[0], cycle), chance.randrange(3))]
            )
            advance(state, min(bite, (cycle, RANK.frees)))
        ask(state, request)
        answers += finished(state) if chance.random() < 0.5 else []
    advance(state, (NEVER, 0))
    return state, answers + finished(state)


def assert_equal(result: MallocRecord, expected: MallocRecord, given_up: np.ndarray) -> None:
    """Field by field; what a null row was to be given up at nobody may have asked for."""
    for name, one, other in zip(expected._fields, result._replace(free_at=given_up), expected, strict=True):
        assert np.array_equal(one, other), name


def assert_as_the_engine(case: Setup, seed: int) -> None:
    expected = Malloc().simulate(case, 1)
    for asks_frees in (True, False):
        state, answers = stepped(case, random.Random(seed), asks_frees)
        result = record_of(state)
        assert_equal(result, expected, expected.free_at if asks_frees else result.free_at)
        ready = {answer.ticket: answer.cycle for answer in answers}
        assert ready == dict(enumerate(expected.ready.tolist()))
        assert next_event(state) == (NEVER, 0)


@pytest.mark.slow
@examples(60, 600)
@given(cases(), st.integers(0, 1 << 20))
def test_a_part_that_is_asked_call_by_call_does_as_a_whole_run(case, seed):
    assert_as_the_engine(setup(case.rows, **case.policies, **case.options), seed)


load_all()
BUSY = [
    (40 * k, thread, 3 + 7 * thread % 11, 40 * k + 900 + 50 * (thread % 3)) for k in range(8) for thread in range(16)
]
NAMED = [
    (slot, name) for slot in ("serve", "heap", "lock", "arenas") for name, it in policies(slot).items() if it.built_in
]
NAMED += [("placement", name) for name, it in policies("placement").items() if it.built_in]


@pytest.mark.parametrize(("slot", "name"), NAMED)
def test_under_every_policy(slot, name):
    try:
        chosen = {"heap": BitmapArena(placement=name)} if slot == "placement" else {slot: read_policy(slot, name)}
        if isinstance(chosen.get("heap"), ParallelHeap):
            chosen["lock"] = WordByWord(travel_cycles=7)
        elif isinstance(chosen.get("lock"), WordByWord):
            chosen["heap"] = CircularList(section_cycles=90)
        case = setup(BUSY, **{"serve": WarpAggregated(warp_size=4), **chosen}, heap_bytes=512, granule_bytes=4)
        Malloc().validate(case, 1)
    except InputError:
        assert name in ("compaction", "byte_counter", "paged_memory"), "moves what is allocated, or has no addresses"
        return
    assert_as_the_engine(case, 7)


def small(rows: list[tuple[int, ...]], growth: Growth | None = None, **more: Any) -> Stepped:
    """A heap of 64 bytes whose section lasts 10 cycles, each call a request of its own."""
    usual: dict[str, Any] = {"serve": PerThread(min_alloc=1, align=1), "lock": TrylockSpin(hold_cycles=10)}
    options = {"heap_bytes": 64, "granule_bytes": 4}
    return new_part(setup(rows, **{**usual, **options, **more}), growth)


GROWING = Growth(chunk_bytes=64, most_bytes=192)
FILLS = [(0, 0, 64, -1), (1, 0, 16, -1), (1, 1, 16, -1), (2, 0, 100, -1)]


def test_what_happens_next_has_the_ranks_of_the_node():
    """Spec 6, R3: a request comes, its section starts when all have come, and ends; then what is due goes back."""
    state = small([(0, 0, 64, -1)])
    assert next_event(state) == (NEVER, 0)
    ask(state, Request(5, 0))
    told = []
    while next_event(state)[0] < NEVER:
        told.append(next_event(state))
        advance(state, (told[-1][0], told[-1][1] + 1))
    ask(state, Free(30, 0))
    assert told == [(5, RANK.malloc_requests), (5, RANK.services), (15, RANK.malloc_answers)]
    assert next_event(state) == (30, RANK.frees)
    assert finished(state) == [Answer(0, 15, 0)] and finished(state) == []


def test_a_return_that_is_asked_for_makes_room_in_its_own_cycle():
    """Returns come before requests of their cycle, in whatever order both are asked for."""
    for first in (Request(40, 1), Free(40, 0)):
        state = small(FILLS)
        ask(state, Request(0, 0))
        for request in (first, Free(40, 0) if isinstance(first, Request) else Request(40, 1)):
            ask(state, request)
        advance(state, (NEVER, 0))
        assert finished(state) == [Answer(0, 10, 0), Answer(1, 50, 0)]


def test_what_goes_back_in_one_cycle_does_so_in_the_order_of_the_grants():
    """A class of sizes gives the block again that came back last, so the order is seen in the next address."""
    for order in ((0, 1, 2), (2, 1, 0), (1, 2, 0), (2, 0, 1)):
        state = small([(0, thread, 4, -1) for thread in range(4)], heap=SizeClasses(chunk_bytes=256), heap_bytes=256)
        for request in range(3):
            ask(state, Request(0, request))
        for call in order:
            ask(state, Free(100, call))
        ask(state, Request(100, 3))
        advance(state, (NEVER, 0))
        assert finished(state)[-1] == Answer(3, 110, 8), order


@pytest.mark.parametrize("frees", ["arena", "refcount"])
def test_what_is_shared_goes_back_with_the_last_of_its_pieces(frees):
    """Of three calls of a warp one's end is known before (500); the others say when they are asked to."""
    rows = [(0, 0, 8, -1), (0, 1, 8, 500), (0, 2, 8, -1)]
    for last, back in ((600, 600), (300, 500)):
        state = new_part(setup(rows, WarpAggregated(warp_size=4, free_policy=frees)))
        ask(state, Request(0, 0)), ask(state, Free(100, 0))
        advance(state, (200, 0))
        assert record_of(state).returned.tolist() == [-1]
        ask(state, Free(last, 2))
        advance(state, (NEVER, 0))
        assert record_of(state).returned.tolist() == [max(back, int(record_of(state).ready[0]))]


def test_an_empty_heap_answers_null_at_once_unless_it_may_grow():
    state = small(FILLS)
    ask(state, Request(0, 0)), ask(state, Request(20, 1))
    advance(state, (NEVER, 0))
    assert finished(state) == [Answer(0, 10, 0), Answer(1, 30, -1)]


def test_a_section_that_finds_no_room_keeps_the_lock_until_its_chunk_is_there():
    """Both of cycle 20 need room: the first one's section waits for a chunk, the other one comes after it."""
    state = small(FILLS, GROWING)
    for cycle, request in ((0, 0), (20, 1), (20, 2)):
        ask(state, Request(cycle, request))
    advance(state, (NEVER, 0))
    assert finished(state) == [Answer(0, 10, 0), Need(1, 20, 64)]
    assert next_event(state) == (NEVER, 0), "two requests wait for what somebody else decides"
    ask(state, Chunk(100, 1, 16))
    advance(state, (NEVER, 0))
    assert finished(state) == [Answer(1, 110, 64), Answer(2, 120, 80)]
    assert state.lent.state.held[1:3].tolist() == [80, 0], "cycles that they waited for it"
    result = record_of(state)
    assert result.heap_bytes == 128 and address(result)[:3].tolist() == [0, 64, 80]


def test_a_chunk_that_is_refused_is_null_and_is_asked_for_anew_by_the_next():
    """Spec 6, E8."""
    state = small(FILLS, GROWING)
    for cycle, request in ((0, 0), (20, 1), (20, 2)):
        ask(state, Request(cycle, request))
    advance(state, (50, 0))
    ask(state, Chunk(60, 1, 0))
    advance(state, (NEVER, 0))
    assert finished(state)[2:] == [Answer(1, 70, -1), Need(2, 70, 64)]
    ask(state, Chunk(90, 2, 0)), ask(state, Request(200, 3))
    advance(state, (NEVER, 0))
    assert finished(state) == [Answer(2, 100, -1), Need(3, 200, 128)]
    ask(state, Chunk(300, 3, 32))
    advance(state, (NEVER, 0))
    assert finished(state) == [Answer(3, 310, 64)]


def test_a_request_beyond_what_is_set_aside_is_null_at_once():
    state = small([(0, 0, 300, -1)], GROWING)
    ask(state, Request(0, 0))
    advance(state, (NEVER, 0))
    assert finished(state) == [Answer(0, 10, -1)]


@pytest.mark.parametrize(
    "heap", [BitmapArena(), BitmapArena(placement=FirstFit()), BumpPointer(), SizeClasses(chunk_bytes=256)]
)
@pytest.mark.parametrize("arenas", [None, WarpArenas(arenas=2, probes=2), SizeArenas(arenas=2)])
def test_every_heap_grows_until_all_have_memory(heap, arenas):
    """No two pieces lie upon each other, and each lies within what its arena has by then."""
    rows = [(0, thread, 4 + 4 * (thread % 5), -1) for thread in range(60)]
    state = small(rows, Growth(64, 1 << 12), heap=heap, arenas=arenas, heap_bytes=128)
    for request in range(60):
        ask(state, Request(request, request))
    needs, answers, cycle = 1, [], 0
    while needs:
        advance(state, (NEVER, 0))
        told = finished(state)
        answers += [one for one in told if isinstance(one, Answer)]
        waiting = [one for one in told if isinstance(one, Need)]
        for need in waiting:
            cycle += 10_000
            ask(state, Chunk(cycle, need.ticket, need.bytes // 4))
        needs = len(waiting)
    assert sorted(answer.ticket for answer in answers) == list(range(60))
    taken = sorted((answer.address, rows[answer.ticket][2]) for answer in answers)
    assert taken[0][0] >= 0
    assert all(at + size <= after for (at, size), (after, _) in itertools.pairwise(taken))
    limit, region = state.lent.arena.limit, state.lent.rules.region
    ends = {
        at: max(end for end in (a + s for a, s in taken) if (end - 1) // 4 // region == at) for at in range(limit.size)
    }
    assert all((end + 3) // 4 - at * region <= limit[at] for at, end in ends.items())


def test_pieces_of_a_warp_are_told_one_by_one():
    state = new_part(setup([(0, thread, 8, -1) for thread in range(3)], WarpAggregated(warp_size=4)))
    ask(state, Request(0, 0))
    advance(state, (NEVER, 0))
    assert state.lent.cuts.request.tolist() == [0, 0, 0]
    assert addresses(state, 0) == [0, 8, 16]


REFUSALS: list[tuple[str, list[Any]]] = [
    ("a request in the past", [Request(9, 1), Request(8, 2)]),
    ("a return in the past", [Request(9, 1), Free(8, 1)]),
    ("no such request", [Request(9, 4)]),
    ("asked before", [Request(9, 1), Request(9, 1)]),
    ("a call that was not made", [Free(9, 1)]),
    ("no such call", [Free(9, 7)]),
    ("given up before", [Request(9, 1), Free(9, 1), Free(10, 1)]),
    ("needs no chunk", [Chunk(9, 1, 16)]),
    ("too late", [Request(1 << 56, 0)]),
]


@pytest.mark.parametrize("asked", [asked for _, asked in REFUSALS], ids=[name for name, _ in REFUSALS])
def test_what_cannot_be_asked_for_is_refused_and_changes_nothing(asked):
    state = small(FILLS, GROWING)
    for request in asked[:-1]:
        ask(state, request)
    before = [array.copy() for array in state.lent.state if isinstance(array, np.ndarray)]
    assert ask(state, asked[-1]) == REFUSED
    after = [array for array in state.lent.state if isinstance(array, np.ndarray)]
    assert all(np.array_equal(one, other) for one, other in zip(before, after, strict=True))


def test_a_chunk_is_at_least_a_granule():
    assert refusal(small, FILLS, Growth(1, 192)) == "chunk_bytes must be at least a granule (4). Got 1."


class Rude(FirstFit):
    """Answers the first granule, whatever is there."""

    name = "rude_part_fit"

    @staticmethod
    def answer(see: Any) -> int:
        return 0


def test_a_fault_of_a_users_policy_is_named_as_in_the_engine():
    case = setup([(0, 0, 8, -1), (9, 1, 8, -1)], PerThread(), BitmapArena(placement=Rude()))
    with pytest.raises(PolicyError) as expected:
        Malloc().simulate(case, 1)
    state = new_part(case)
    ask(state, Request(0, 0)), ask(state, Request(9, 1))
    with pytest.raises(PolicyError) as result:
        advance(state, (NEVER, 0))
    assert str(result.value) == str(expected.value)
