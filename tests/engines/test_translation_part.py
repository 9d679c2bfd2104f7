"""Translation as a part of a larger simulation: stepped from outside it does as a whole run, and as the node's twin."""

from __future__ import annotations

import dataclasses
from copy import deepcopy
from random import Random
from typing import Any

import numpy as np
import pytest

from tests.engines.stepping import REFUSED, advance, ask, next_event
from tests.engines.translation_load_cases import Case, Row, drawn, drawn_with_walks
from tests.engines.translation_node_cases import PartRun, TwinRun
from tests.engines.translation_node_cases import drawn as drawn_load
from tests.engines.translation_stepping import (
    Answer,
    Asked,
    Begin,
    End,
    Request,
    Stall,
    Unmap,
    WalkRead,
    finished,
    record_of,
)
from tests.slow import compiled_only, seeds
from workbench.compiled import INTERPRETED
from workbench.compiled.memory_access import call, entry_of
from workbench.engines.kit import RANK
from workbench.engines.translation import Translation, engine
from workbench.engines.translation import part as routines
from workbench.engines.translation.part import BY_DIRECTORY, BY_TLB, IN_DIRECTORY, IN_TLB, NEEDS_ROOM
from workbench.engines.translation.state import COUNT
from workbench.errors import InputError, PolicyError
from workbench.policies.catalogue import load_all
from workbench.policies.policy import policies, read_policy
from workbench.policies.translation import CentralDirectory, Directory, Message, Oracle, OwnOnly, PushNeighbours
from workbench.policies.translation.fill import Fill
from workbench.records.translation import ACCESS
from workbench.structures.timetable import NEVER

pytestmark = pytest.mark.node
LOGGED = 1 << 16


def whole_run(case: Case, seed: int) -> tuple[Asked, list[Any]]:
    """Ask the rows of a case one after the other, and let what happens happen in bites of any length."""
    draw, state, told = Random(seed), Asked(case.setup(), case.seed, logged=LOGGED), list[Any]()
    for ticket, row in enumerate(case.rows):
        if draw.random() < 0.3:
            advance(state, (draw.randrange(row.cycle + 1), draw.randrange(RANK.touches)))
        assert ask(state, Request(*row)) == ticket
        if draw.random() < 0.5:
            told += finished(state)
    while next_event(state)[0] != NEVER:
        cycle, rank = next_event(state)
        advance(state, (cycle, rank + 1))
        assert next_event(state) > (cycle, rank)
        told += finished(state)
    return state, told


def assert_as_the_engine(case: Case, seed: int) -> None:
    """Every field of the record, the log with them, and every answer."""
    rows = sorted(case.rows, key=lambda row: (row.cycle, row.core))
    case = dataclasses.replace(case, warps=None, rows=rows)
    (state, told), expected = whole_run(case, seed), case.engine()
    result = record_of(state.part)
    result = result._replace(log=result.log[: len(expected.log)])
    assert not [k for k in expected._fields if not np.array_equal(getattr(result, k), getattr(expected, k))]
    answers, accesses = [it for it in told if isinstance(it, Answer)], expected.log[expected.log[:, 1] == ACCESS]
    assert sorted(answer.cycle for answer in answers) == sorted((accesses[:, 0] + accesses[:, 6]).tolist())
    assert [it.ticket for it in told if isinstance(it, Begin)] != [] or not answers
    assert len({answer.ticket for answer in answers}) == len(answers)


@pytest.mark.parametrize("seed", seeds(8, 232))
def test_a_part_that_is_asked_row_by_row_does_as_a_whole_run(seed: int) -> None:
    assert_as_the_engine((drawn_with_walks if seed % 2 else drawn)(seed), seed)


load_all()
NAMED = [
    (slot, name)
    for slot in Translation.slots
    for name, policy in policies(Translation().question_of(slot)).items()
    if policy.built_in
]


@pytest.mark.parametrize(("slot", "name"), NAMED)
def test_under_every_policy(slot: str, name: str) -> None:
    """Cores share some pages and compete for registers, walkers and entries."""
    draw = Random(f"{slot} {name}")
    rows = [Row(draw.randrange(2000), draw.randrange(4), draw.randrange(12), draw.random() < 0.02) for _ in range(40)]
    machine = {
        "cores": 4,
        "private_entries": 4,
        "private_mshrs": 2,
        "walkers": 1,
        "shared_entries": 6,
        "link_cycles": 1,
    }
    defaults = {"locate": Directory(scope=Oracle()), "fill": read_policy("fill", "push_pair").but(fill_threshold=1)}
    chosen = read_policy(Translation().question_of(slot), name, slot)
    changes = {"candidates": 2, "share_threshold": 2, "threshold": 1, "fill_threshold": 1}
    chosen = chosen.but(**{name: value for name, value in changes.items() if hasattr(chosen, name)})
    case = Case(rows, machine, {**defaults, slot: chosen})
    if slot == "shared_eviction" and chosen.most_threshold():
        with pytest.raises(InputError, match="there is one shared TLB, without a peer to share with"):
            Asked(case.setup(), 1)
    else:
        assert_as_the_engine(case, 1)


@pytest.mark.parametrize("seed", seeds(40, 960))
def test_the_part_does_as_the_nodes_twin(seed: int) -> None:
    """Every row in its order, with unmappings, stalls and walks whose bytes are under way; and where time went."""
    load = drawn_load(seed)
    twin, part = TwinRun(load).outcome(), PartRun(load).outcome()
    assert part.rows == twin.rows
    assert part.parts == twin.parts


def small(walks_wait: bool = False, policies: Any = None, **machine: Any) -> Asked:
    """Two cores whose walks take 100 cycles, all else as fast as can be."""
    plain = {"cores": 2, "private_entries": 4, "private_cycles": 1, "shared_entries": 0, "hop_cycles": 0}
    plain |= {"walk_levels": 1, "level_cycles": 100, "walkers": 1, "link_cycles": 0}
    return Asked(Case([], {**plain, **machine}, policies or {}).setup(), 1, walks_wait=walks_wait)


def answers(state: Asked) -> dict[int, int]:
    """The cycle of every answer, by ticket, once nothing will happen any more."""
    advance(state, (NEVER, 0))
    return {it.ticket: it.cycle for it in finished(state) if isinstance(it, Answer)}


def held(state: Asked, tag: int, how: int) -> list[int]:
    """Whether each core holds a page."""
    count = state.call("score_held", tag, how)
    scores = [state.call("take_score", core) for core in range(state.lent.rules.cores)]
    assert sum(scores) == count
    return scores


def test_a_page_counts_once_until_the_scores_are_taken() -> None:
    """Two pages are held; the first is scored before the other 70,000 and after them."""
    state = small()
    for page in (1, 2):
        ask(state, Request(5, 0, page))
    answers(state)
    for _ in range(2):
        for tag in (1, *range(2, 70_000), 1):
            state.call("score_held", tag, IN_TLB)
        assert [state.call("take_score", core) for core in (0, 1)] == [2, 0]


def test_what_happens_next_has_the_ranks_of_the_node() -> None:
    """An access is issued, comes to the walkers, its walk ends, it is answered; a hit is answered by an event, too."""
    state, told = small(), []
    ask(state, Request(5, 0, 1))
    for _ in range(4):
        told.append(next_event(state))
        advance(state, (told[-1][0], told[-1][1] + 1))
    assert told == [
        (5, RANK.issues), (6, RANK.translation_requests), (106, RANK.walk_ends), (106, RANK.translation_answers)
    ]  # fmt: skip
    finished(state)
    ask(state, Request(200, 0, 1))
    advance(state, (201, 0))
    assert finished(state) == [Begin(1, 200, "hit")]
    assert next_event(state) == (201, RANK.translation_answers)
    advance(state, (NEVER, 0))
    assert finished(state) == [Answer(1, 201, "private", 201, 201, 201, 201)]


def test_a_core_issues_its_queue_one_event_an_access() -> None:
    state = small()
    for _ in range(3):
        ask(state, Request(7, 1, 3))
    events = [state.call("take_next") for _ in range(3)]
    assert events == [1, 2, 3]
    assert [it.way for it in finished(state)] == ["took_register", "joined", "joined"]


def test_where_the_time_of_a_miss_goes() -> None:
    """One walker: the second page waits for it from 1 to 101; who joins its miss later has its times from there on."""
    state = small()
    ask(state, Request(0, 0, 1)), ask(state, Request(0, 1, 2)), ask(state, Request(50, 1, 2))
    advance(state, (NEVER, 0))
    told = {it.ticket: it for it in finished(state) if isinstance(it, Answer)}
    assert told[1] == Answer(1, 201, "walk", queued=1, begun=101, read=201, ended=201)
    assert told[2] == Answer(2, 201, "merged", queued=1, begun=101, read=201, ended=201)


def test_a_walk_waits_for_its_bytes_and_keeps_its_walker() -> None:
    state = small(walks_wait=True)
    ask(state, Request(0, 0, 1)), ask(state, Request(0, 1, 2))
    advance(state, (NEVER, 0))
    *_, read = finished(state)
    assert read == WalkRead(walk=read.walk, cycle=101, ticket=0)
    assert next_event(state) == (NEVER, 0)
    ask(state, End(140, read.walk))
    advance(state, (NEVER, 0))
    first, second = (it for it in finished(state) if not isinstance(it, Begin))
    assert first == Answer(0, 140, "walk", queued=1, begun=1, read=101, ended=140)
    assert (second.cycle, second.ticket) == (240, 1)
    assert ask(state, End(300, read.walk)) == REFUSED, "it waits for its bytes no more"


def test_a_core_that_is_stalled_issues_nothing_and_overlapping_stalls_end_with_the_later() -> None:
    state = small()
    ask(state, Request(10, 0, 1)), ask(state, Request(10, 1, 2))
    assert ask(state, Stall(20, 0, 70)) == 70
    ask(state, Request(30, 0, 3)), ask(state, Request(30, 1, 4))
    assert ask(state, Stall(60, 0, 100)) == 100
    assert ask(state, Stall(65, 0, 80)) == 100
    assert state.call("stalled", 0, 65) == 45, "20 to 65"
    advance(state, (NEVER, 0))
    issues = {it.ticket: it.cycle for it in finished(state) if isinstance(it, Begin)}
    assert issues == {0: 10, 1: 10, 2: 100, 3: 30}
    assert state.call("stalled", 0, 500) == 80 and state.call("stalled", 1, 500) == 0


def test_an_unmapping_tells_who_held_the_page_and_what_is_under_way_fills_nothing() -> None:
    state = small(cores=70)
    for core in (0, 64, 69):
        ask(state, Request(1000 * (core + 1), core, 7))
    advance(state, (100_000, 0))
    ask(state, Request(100_000, 3, 7))
    assert ask(state, Unmap(100_050, 7)) == 3
    assert list(iter(lambda: state.call("take_holder"), -1)) == [0, 64, 69]
    advance(state, (NEVER, 0))
    assert not any(held(state, 7, IN_TLB))
    assert ask(state, Unmap(200_000, 12)) == 0, "a page that nobody ever named"


def test_a_copy_of_an_unmapped_page_fills_nothing() -> None:
    """Core 1 is sent the page at 101, where it would be at 121."""
    for unmapped, holders in ((None, [1, 1]), (110, [0, 0]), (130, [0, 0])):
        state = small(policies={"fill": PushNeighbours(reach=1)}, hop_cycles=20)
        ask(state, Request(0, 0, 7))
        if unmapped:
            ask(state, Unmap(unmapped, 7))
        advance(state, (NEVER, 0))
        assert held(state, 7, IN_TLB) == holders


def test_the_next_event_is_the_least_of_all_kinds_of_events() -> None:
    """At 201 a hit is answered, which was entered after the request of a miss of that cycle."""
    state = small()
    ask(state, Request(0, 1, 1))
    advance(state, (200, 0))
    ask(state, Request(200, 0, 2)), ask(state, Request(200, 1, 1))
    advance(state, (201, 0))
    assert next_event(state) == (201, RANK.translation_answers)
    advance(state, (201, RANK.translation_answers + 1))
    assert next_event(state) == (201, RANK.translation_requests)


@pytest.mark.parametrize(
    ("locate", "directories", "told"),
    [
        (None, [0, 0, 0], []),
        (Directory(scope=Oracle()), [0, 1, 1], [0]),
        (Directory(scope=OwnOnly()), [0, 0, 0], [0]),
        (Directory(scope=Oracle(), update=Message(delay=50)), [0, 1, 1], [0]),
        (CentralDirectory(), [0, 0, 0], [0]),
    ],
)
def test_who_holds_a_page(locate: Any, directories: list[int], told: list[int]) -> None:
    """Core 0 holds it; of the directories those that cover what their core does not hold have a record of it."""
    state = small(cores=3, policies={"locate": locate} if locate else {})
    ask(state, Request(0, 0, 7))
    advance(state, (NEVER, 0))
    before = deepcopy(state.lent.state)
    assert held(state, 7, IN_TLB) == [1, 0, 0]
    assert held(state, 7, IN_DIRECTORY) == directories
    assert held(state, 7, IN_TLB | IN_DIRECTORY) == list(map(max, zip([1, 0, 0], directories)))
    assert held(state, 99, IN_TLB) == [0, 0, 0]
    after = state.lent.state
    before.counters[COUNT.scorings] = after.counters[COUNT.scorings]
    before = before._replace(scored=after.scored)
    unchanged = [np.array_equal(a, b) for a, b in zip(before, after) if isinstance(a, np.ndarray)]
    assert all(unchanged), "a question changes nothing but the note that it was asked"
    state.call("ask_unmap", 7, BY_DIRECTORY, 5000)
    assert list(iter(lambda: state.call("take_holder"), -1)) == told


def test_entries_stay_valid_when_arrays_become_longer() -> None:
    """Five thousand pages, far from each other: the tables by page grow several times."""
    state = small(walkers=64, private_entries=64, private_mshrs=64)
    asks, take = (entry_of(getattr(routines, name), state.part.kept) for name in ("ask_access", "take_next"))
    count = 300 if INTERPRETED else 5000
    for ticket in range(count):
        cycle, numbers = 1000 * ticket, (ticket % 2, ticket << 40, ticket, 1000 * ticket)
        while call(*asks, numbers) == NEEDS_ROOM:
            state.part.make_room()
        while next_event(state)[0] < cycle + 1000:
            while call(*take, ()) == NEEDS_ROOM:
                state.part.make_room()
    assert sorted(it.ticket for it in finished(state) if isinstance(it, Answer)) == list(range(count))


class Forgetful(PartRun):
    """A part that forgets, now and then, the pages that nothing knows any more."""

    def call(self, name: str, *numbers: int) -> int:
        if self.draw.random() < 0.03:
            self.part.play.forget_pages()
            self.part.make_room()
        return super().call(name, *numbers)

    @property
    def draw(self) -> Random:
        return self.__dict__.setdefault("_draw", Random(1))


@pytest.mark.parametrize("seed", seeds(8, 112))
def test_forgetting_pages_changes_nothing(seed: int) -> None:
    load = drawn_load(seed)
    assert Forgetful(load).outcome() == TwinRun(load).outcome()


@compiled_only
@pytest.mark.parametrize("locate", [Directory(scope=Oracle()), Directory(scope=Oracle(), update=Message(delay=300))])
def test_memory_does_not_grow_with_the_pages_that_were(locate: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """Three cores meet ever new pages, some of them often."""
    draw = Random(1)
    rows = [(40 * k, draw.randrange(3), (k if draw.random() < 0.4 else draw.randrange(9)) << 30) for k in range(9000)]
    told, sizes = list[Any](), list[int]()
    for forgets in (True, False):
        monkeypatch.setattr(engine, "MOST_NEW", 64)
        monkeypatch.setattr(engine, "may_forget", lambda *_, may=forgets: may)
        state = small(cores=3, walkers=4, shared_entries=16, policies={"locate": locate})
        for ticket, (cycle, core, tag) in enumerate(rows):
            state.call("advance_to", 32 * cycle)
            state.call("ask_access", core, tag, ticket, cycle)
        told.append(answers(state))
        sizes.append(state.lent.state.held.size)
    assert told[0] == told[1] and len(told[0]) == len(rows)
    assert sizes[0] == 1024 < sizes[1]


@pytest.mark.parametrize("delay", [7, 1500, 3000])
def test_looking_at_a_parts_next_event_changes_nothing(delay: int) -> None:
    """News that is due late stays where it is when something earlier is asked for after a look."""
    policies, told = {"locate": Directory(scope=Oracle(), update=Message(delay=delay))}, list[Any]()
    draw = np.random.default_rng(1)
    cycles = np.cumsum(draw.choice([0, 1, 3, 100, 400], 120)).tolist()
    requests = [Request(cycle, int(draw.integers(4)), int(draw.integers(12))) for cycle in cycles]
    for looks in (False, True):
        state = small(cores=4, private_entries=4, link_cycles=1, policies=policies)
        for request in requests:
            if looks:
                next_event(state)
            ask(state, request)
        told.append(answers(state))
    assert told[0] == told[1] and len(told[0]) == len(requests)


def test_a_part_refuses_what_is_over_and_what_does_not_exist() -> None:
    state = small()
    ask(state, Request(7, 0, 1))
    for name, *numbers in (
        ("ask_access", 0, 1, 1, 6),
        ("ask_unmap", 1, BY_TLB, 6),
        ("stall", 0, 9, 6),
        ("end_walk", 0, 6),
        ("ask_access", 99, 1, 1, 8),
        ("ask_access", 0, 1, 1 << 26, 8),
        ("ask_access", 0, 1, 1, 1 << 56),
        ("stall", 2, 9, 8),
        ("end_walk", 0, 8),
    ):
        assert state.call(name, *numbers) == REFUSED
    assert answers(state) == {0: 108}


class PushesToItself(Fill):
    def answer(see):
        see.push[0] = see.core
        return 1


def test_a_fault_of_a_users_policy_is_named_as_in_the_engine() -> None:
    state = small(policies={"fill": PushesToItself()})
    ask(state, Request(0, 0, 1))
    with pytest.raises(PolicyError) as raised:
        advance(state, (NEVER, 0))
    with pytest.raises(PolicyError) as expected:
        Case([Row(0, 0, 1, False)], {"cores": 2}, {"fill": PushesToItself()}).engine()
    assert str(raised.value).split(" at cycle")[0] == str(expected.value).split(" at cycle")[0]
