"""What T1 to T13 leave open, as the engine and its event-driven twin read it: a vector each (spec 4, T14-T21)."""

from __future__ import annotations

from typing import Any

import pytest

from tests.engines.translation_load_cases import Case, differences
from tests.oracles.translation_load import Row
from workbench.policies.translation import Always, Directory, FirstBit, LeastLoaded, Message, Never, OnResponse, Oracle
from workbench.policies.translation.remote_fill import RemoteFill
from workbench.records.translation import MESSAGES, TranslationRecord, events

BARE = {"cores": 4, "private_entries": 4, "shared_entries": 0, "walkers": 4}
"""Own look-up 1 cycle, walk 400, nothing between them."""
CROSSBAR = {"cores": 4, "private_entries": 4, "network": "crossbar"}
"""One link into each core, a hop of 1 cycle; own look-up 1, shared TLB 12, walk 400."""


def run(rows: list[tuple[Any, ...]], machine: dict[str, Any], **parts: Any) -> TranslationRecord:
    """The engine's record of a few accesses, with its log; the twin's is the same."""
    case = Case([Row(*row) for row in rows], machine, **parts)
    assert not differences(case)
    return case.engine()


def directory(**levers: Any) -> dict[str, Any]:
    return {"locate": Directory(scope=Oracle(), **levers), "peer": FirstBit()}


def accesses(record: TranslationRecord) -> list[tuple[str, int, int]]:
    """Who served each access, which peer, and its latency, in the order of their issue."""
    log = events(record)
    columns = zip(*(log[name].tolist() for name in ("cycle", "kind", "served_by", "peer", "latency")), strict=True)
    return [served[1:] for served in sorted((cycle, *rest) for cycle, kind, *rest in columns if kind == "access")]


def latencies(record: TranslationRecord) -> list[int]:
    return [latency for _, _, latency in accesses(record)]


@pytest.mark.parametrize(("own", "second", "waits", "latency"), [(1, 1, 399, 800), (3, 402, 0, 403), (3, 397, 3, 406)])
def test_t14_a_wait_for_a_register_counts_from_the_end_of_the_look_up(
    own: int, second: int, waits: int, latency: int
) -> None:
    machine = {**BARE, "private_mshrs": 1, "private_cycles": own}
    record = run([(0, 0, 1), (second, 0, 2)], machine)
    assert (record.mshr_wait_cycles, record.mshr_stalls) == (waits, 1)
    assert latencies(record) == [own + 400, latency]


@pytest.mark.parametrize(("later", "answered", "other", "waited"), [(10, 43, 43, 0), (12, 44, 43, 1), (21, 43, 53, 10)])
def test_t15_a_message_takes_its_link_when_it_leaves(later: int, answered: int, other: int, waited: int) -> None:
    """Core 0 looks page 5 up for core 1 at 3022 and answers at 3042, over the link into core 1. Core 2's request for
    page 6 takes that link 21 cycles after its issue: until 3041, until 3043, or behind the answer of the same cycle.
    """
    machine = {**CROSSBAR, "private_cycles": 20, "link_cycles": 10}
    rows = [(0, 0, 5), (1000, 1, 6), (3000, 1, 5), (3000 + later, 2, 6)]
    record = run(rows, machine, policies=directory(look_up_cycles=1), options={"news": "free"})
    assert latencies(record)[2:] == [answered, other]
    assert record.noc_queue_cycles == waited


@pytest.mark.parametrize(("news", "known", "trips"), [("links", 424, 3), ("free", 414, 0)])
@pytest.mark.parametrize("late", [0, 1])
def test_t16_news_that_rides_free_takes_no_way(news: str, known: int, trips: int, late: int) -> None:
    """Core 0 is filled at 414, and core 1 reads its directory at the cycle at which it knows, or one before."""
    rows = [(0, 0, 5), (known - 1 - late, 1, 5)]
    told = directory(update=Message(delay=0), look_up_cycles=1)
    record = run(rows, {**CROSSBAR, "hop_cycles": 10}, policies=told, options={"news": news})
    assert record.remote_requests == 1 - late
    fills = 2
    assert record.messages[MESSAGES.index("update")] == 3 * fills
    assert record.noc_trips == trips * fills + 2 * record.remote_requests


def test_t17_a_peer_is_chosen_at_the_request_s_departure_among_those_of_the_look_up() -> None:
    """Look-ups of 10 cycles: core 1 comes to hold page 5 after core 2 has read its record, and before it asks."""
    rows = [(0, 3, 5), (3000, 1, 5), (3010, 2, 5), (3020, 0, 5)]
    record = run(rows, CROSSBAR, policies=directory(look_up_cycles=10))
    assert [peer for _, peer, _ in accesses(record)] == [-1, 3, 3, 1]
    least = {**directory(look_up_cycles=10), "peer": LeastLoaded()}
    rows = [(0, 0, 5), (1000, 3, 5), (3000, 1, 5), (3005, 2, 5), (3030, 1, 9)]
    assert [peer for _, peer, _ in accesses(run(rows, CROSSBAR, policies=least))][1:4] == [0, 3, 0]


@pytest.mark.parametrize(("issued", "asks"), [(1008, 1), (1009, 0)])
def test_t18_beliefs_are_forgotten_when_the_shoot_down_arrives(issued: int, asks: int) -> None:
    """Core 3 unmaps at 1000 what core 0 holds; its shoot-down is at core 1 at 1010, before a look-up of that cycle."""
    rows = [(0, 0, 5), (1000, 3, 5, True), (issued, 1, 5)]
    record = run(rows, {**CROSSBAR, "hop_cycles": 10}, policies=directory(update=Message(delay=0)))
    assert (record.remote_requests, record.stale) == (asks, asks)


def test_t19_an_upper_level_is_used_when_a_walk_ends_not_when_it_is_read() -> None:
    """Walks of 2 levels, whose cache holds two upper levels: those of 0 and 512 are kept at 201 and 1201. Page 1's walk
    reads the first at 2151; at 2201 page 1024's walk ends and takes its place all the same, so page 2 finds it gone.
    """
    machine = {**BARE, "walk_levels": 2, "walk_cache_entries": 2}
    record = run([(0, 0, 0), (1000, 0, 512), (2000, 0, 1024), (2150, 1, 1), (2210, 2, 2)], machine)
    assert latencies(record) == [201, 201, 201, 101, 201]


@pytest.mark.parametrize(("page", "again"), [(9, 1), (2, 401)])
def test_t20_an_access_without_a_register_whose_page_is_unmapped_fills_nothing(page: int, again: int) -> None:
    rows = [(0, 0, 1), (1, 0, 2), (100, 1, page, True), (1000, 0, 2)]
    record = run(rows, {**BARE, "private_mshrs": 1})
    assert latencies(record) == [401, 800, again]
    assert (record.fills, record.mshr_wait_cycles) == (2, 399)


@pytest.mark.parametrize("entries", [1, 16])
def test_t21_an_answer_brings_the_list_as_it_stands_at_its_arrival(entries: int) -> None:
    """Core 2's answer leaves the shared TLB before core 1's has arrived, and still names it: when core 0 has lost the
    page, core 2 asks both.
    """
    rows = [(0, 0, 5), (1000, 1, 5), (1005, 2, 5), (2000, 0, 7), (2001, 2, 8), (3000, 2, 5)]
    machine = {**CROSSBAR, "private_entries": 1, "shared_entries": entries}
    record = run(rows, machine, policies=directory(update=OnResponse(), max_remote_tries=2))
    assert [served[:2] for served in accesses(record)][-1] == ("peer", 1)
    assert record.stale == 1


def test_t21_names_of_the_shared_tlb_are_learned_after_the_fill() -> None:
    """Core 0's directory keeps one record of a page that its own TLB lacks: page 5, which core 1 holds. The
    answer for page 6 names core 2. It is filled first, so its names need no record, and core 0 still asks core 1."""
    rows = [(0, 1, 5), (1000, 2, 6), (2000, 0, 5), (3000, 0, 7), (4000, 0, 6), (5000, 0, 5)]
    machine = {**CROSSBAR, "private_entries": 1, "shared_entries": 16}
    record = run(rows, machine, policies=directory(update=OnResponse(), entries=2))
    assert [served[:2] for served in accesses(record)][-2:] == [("shared", -1), ("peer", 1)]


@pytest.mark.parametrize(("remote_fill", "last"), [(Always(), ("peer", 1)), (Never(), ("shared", -1))])
def test_t21_a_peer_notes_an_asker_that_keeps_a_copy(remote_fill: RemoteFill, last: tuple[str, int]) -> None:
    """Core 1 asks core 0 for page 5. Core 0 loses the page, and asks core 1 for it only if that kept a copy."""
    rows = [(0, 0, 5), (1000, 1, 5), (2000, 1, 7), (3000, 1, 5), (4000, 0, 8), (5000, 0, 5)]
    machine = {**CROSSBAR, "private_entries": 1, "shared_entries": 16}
    policies = {**directory(update=OnResponse()), "remote_fill": remote_fill}
    record = run(rows, machine, policies=policies)
    assert [served[:2] for served in accesses(record)][3:] == [("peer", 0), ("walk", -1), last]
