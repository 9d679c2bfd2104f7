"""The service's records against the engine's, what they do in the arenas, and what a journal keeps of them."""

import itertools
import os

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.engines.pool_cases import Case
from tests.slow import LONG, examples
from workbench.engines.pool.live import LiveBoard
from workbench.errors import InputError
from workbench.machine import Board, Card, Link
from workbench.policies.pool import (
    Bfc,
    BinaryBuddies,
    CacheFit,
    Largest,
    LeastRecentlyUsed,
    MostFree,
    NoCache,
    PytorchCaching,
    RmmPool,
    SizeClasses,
    SplitAndCoalesce,
    WeightedCards,
)
from workbench.pool_service.arenas import PAGE, Slots, addresses_for
from workbench.pool_service.holdings import CLIENT, GONE, HOLD, Holdings, Journal
from workbench.pool_service.ledger import Driver, Ledger
from workbench.pool_service.protocol import NO_JOURNAL, NO_PAGES, OUT_OF_MEMORY, POLICY_FAILED, Refusal, place_of
from workbench.records.pool import CACHED, STITCHED
from workbench.workloads.pool_requests import ALLOC, FREE

SIZES = (4000, 6000, 5000)
BOARD = Board(
    cards=tuple(Card(id=f"gpu{k}", memory_bytes=size) for k, size in enumerate(SIZES)),
    links=(Link(between="gpu0 gpu1", gbps=12), Link(between="gpu0 gpu2", gbps=24), Link(between="gpu1 gpu2", gbps=24)),
)
KINDS = {
    "split_and_coalesce": {},
    "most_free, limited": {"target": MostFree(), "idle_release": LeastRecentlyUsed(limit_bytes_a_card=700)},
    "apart": {"cache": SplitAndCoalesce(coalesce=False)},
    "no_cache": {"cache": NoCache()},
    "size_classes": {"cache": SizeClasses(), "target": WeightedCards(weights=(1, 1, 1))},
    "buddies": {"cache": BinaryBuddies(segment=1024), "idle_release": Largest(limit_bytes_a_card=2000)},
    "bfc": {"cache": Bfc(first_region=256)},
    "rmm_pool": {"cache": RmmPool(initial=512)},
    "pytorch_caching": {"cache": PytorchCaching()},
}
STEPS = st.lists(st.tuples(st.integers(0, 2), st.integers(1, 1800), st.integers(0, 9)), min_size=10, max_size=60)


def board_of(kind):
    """PyTorch's segments are of mebibytes; all other caches are tried on cards of kilobytes."""
    large = kind == "pytorch_caching"
    return (
        BOARD.but(cards=tuple(card.but(memory_bytes=card.memory_bytes << 12) for card in BOARD.cards))
        if large
        else BOARD
    )


def asked(steps):
    """The requests of some steps: handles count allocations; frees name any live one."""
    rows, live = [], []
    for time, (card, size, free) in enumerate(steps):
        if free < 4 and live:
            rows.append((time, 0, card, FREE, live.pop(free % len(live)), 0))
        else:
            rows.append((time, 0, card, ALLOC, time, size))
            live.append(time)
    return rows


def ledger(board=BOARD, noted=lambda segment: None, drivers=None, **policies):
    drivers = drivers or [Driver(card.memory_bytes) for card in board.cards]
    return Ledger(Case([], board, policies).setup(), drivers, False, noted)


@pytest.mark.parametrize("kind", KINDS)
@given(steps=STEPS)
@settings(max_examples=15 if LONG else 5, deadline=None)
def test_what_is_granted_one_at_a_time_is_what_the_engine_grants(kind, steps):
    """Card, address, bytes, cached or from the driver; and in the arenas nothing overlaps."""
    board, rows, regions, rows_of = board_of(kind), asked(steps), {}, {}
    record = Case(rows, board, KINDS[kind], seed=0).simulate()
    live, arenas = LiveBoard(Case([], board, KINDS[kind]).setup()), ledger(board, **KINDS[kind])
    for row, (_, _, card, action, handle, size) in enumerate(rows):
        if action == FREE:
            if rows_of[handle] is not None:
                live.free(rows_of[handle])
                arenas.give_back(regions.pop(handle).region)
            continue
        result = live.allocate(card, size)
        rows_of[handle] = None if result is None else result.row
        assert (result is not None) == (record.outcome[row] <= STITCHED)
        if result is None:
            with pytest.raises(Refusal) as refused:
                arenas.alloc(card, size)
            assert refused.value.status == OUT_OF_MEMORY
            continue
        expected = (record.card[row], record.identifier[row], record.taken[row], record.outcome[row] == CACHED)
        assert (result.card, result.address, result.taken, result.cached) == expected
        regions[handle] = grant = arenas.alloc(card, size)
        assert (place_of(grant.region)[0], grant.bytes, grant.cached) == (result.card, result.taken, result.cached)
        spans = sorted((it.region, it.region + it.bytes) for it in regions.values())
        assert all(end <= start for (_, end), (start, _) in itertools.pairwise(spans))
    assert [arenas.state(k) for k in range(3)] == [(live.in_use(k), live.cached(k)) for k in range(3)]


def test_a_run_without_an_end_makes_room_for_more():
    board = BOARD.but(cards=tuple(card.but(memory_bytes=1 << 20) for card in BOARD.cards))
    live = LiveBoard(Case([], board).setup())
    rows = [live.allocate(0, 8) for _ in range(3000)]
    assert [it.address for it in rows] == [8 * k for k in range(3000)]
    for it in rows:
        live.free(it.row)
    assert (live.in_use(0), live.cached(0)) == (0, 24_000)


class Raises(CacheFit):
    """Fails at requests of 13 bytes."""

    def answer(see):
        return 1 // (see.size - 13)


def test_a_policy_that_fails_is_told_of_and_the_service_goes_on(capsys):
    result = ledger(cache_fit=Raises())
    with pytest.raises(Refusal) as refused:
        result.alloc(0, 13)
    assert refused.value.status == POLICY_FAILED
    assert "raises (cache_fit) raised ZeroDivisionError" in capsys.readouterr().err


@given(st.lists(st.tuples(st.integers(1, 3 * PAGE), st.integers(0, 9)), max_size=40))
@examples(13, 200)
def test_slots_never_overlap_never_run_out_and_are_pages_where_they_are_large(steps):
    size = 20 * PAGE
    slots, live = Slots(size), {}
    for wanted, free in steps:
        if free < 4 and live:
            start = sorted(live)[free % len(live)]
            slots.give_back(start, live.pop(start))
        if sum(live.values()) + wanted > size:
            continue
        start = slots.take(wanted)
        assert all(start + wanted <= its or its + length <= start for its, length in live.items())
        assert start + wanted <= addresses_for(size)
        assert wanted < PAGE or start % PAGE == 0
        live[start] = wanted
    again = Slots(size)
    again.take_all(list(live.items()))
    assert again.take(5) not in live


class NoPages(Driver):
    """A driver of a system that has no pages left."""

    def take(self, size):
        raise Refusal(NO_PAGES)


def test_a_grant_without_pages_is_undone():
    drivers, noted = [Driver(4000), NoPages(6000), Driver(5000)], []
    result = ledger(drivers=drivers, noted=noted.append, cache=BinaryBuddies(segment=1024))
    with pytest.raises(Refusal) as refused:
        result.alloc(1, 100)
    assert refused.value.status == NO_PAGES
    assert result.state(1) == (0, 0)
    assert not noted
    assert place_of(result.alloc(0, 100).region)[0] == 0


def over(place, **policies):
    holdings = Holdings(Journal(place))
    result = ledger(noted=holdings.note, **policies)
    holdings.over(result)
    return holdings, result


@pytest.mark.parametrize("kind", ["split_and_coalesce", "most_free, limited", "buddies", "rmm_pool"])
@given(steps=STEPS)
@settings(max_examples=12 if LONG else 4, deadline=None)
def test_a_journal_brings_back_every_region_and_what_is_cached(tmp_path_factory, kind, steps):
    place = tmp_path_factory.mktemp("journal") / "journal"
    holdings, first = over(place, **KINDS[kind])
    clients, live = [holdings.enter(100 + k, 7, k) for k in range(3)], []
    for serial, (borrower, size, free) in enumerate(steps, 1):
        if free < 4 and live:
            holdings.free(*live.pop(free % len(live)))
        try:
            region = holdings.alloc(clients[borrower], borrower, size, serial).region
        except Refusal:
            continue
        live.append((clients[borrower], region))
        if free == 9 and borrower:
            holdings.open(clients[0], region)
    holdings.write()
    with place.open("r+b") as file:
        file.seek(holdings._journal._bytes)
        file.write(b"cut off by a kill")
    again, second = over(place, **KINDS[kind])
    assert again._state == holdings._state
    assert [second.state(k) for k in range(3)] == [first.state(k) for k in range(3)]
    for size in (300, 70):
        assert granted(second, size) == granted(first, size)
    for client in clients:
        assert again.leave(client)
    assert again._journal.rewrite(again._state)
    assert again._journal._bytes == 40 * len(again._state.segments)


def granted(result, size):
    try:
        grant = result.alloc(0, size)
    except Refusal as refusal:
        return refusal.status
    return place_of(grant.region)[0], grant.bytes, grant.cached


def test_what_was_granted_but_never_answered_is_found_by_its_serial(tmp_path):
    holdings, _ = over(tmp_path / "journal")
    client = holdings.enter(1, 1, 0)
    grant = holdings.alloc(client, 0, 10, 77)
    holdings.open(holdings.enter(2, 1, 0), grant.region)
    holdings.write()
    again, _ = over(tmp_path / "journal")
    assert again.granted(client, 77)[:2] == grant[:2]
    assert again.granted(client, 78) is again.granted(client + 1, 0) is None
    again.free(client, grant.region)
    assert again.granted(client, 77) is None


def test_a_region_is_back_when_the_last_that_holds_it_lets_go(tmp_path):
    holdings, result = over(tmp_path / "journal")
    one, other = (holdings.enter(number, 1, 0) for number in (1, 2))
    region = holdings.alloc(one, 0, 10, 1).region
    assert holdings.open(other, region) == 10
    with pytest.raises(Refusal):
        holdings.open(other, region + 1)
    holdings.free(one, region)
    with pytest.raises(Refusal):
        holdings.free(one, region)
    assert result.state(0) == (10, 0)
    assert holdings.leave(other)
    assert result.state(0) == (0, 10)


def test_a_client_with_many_regions_leaves_step_by_step(tmp_path):
    holdings, result = over(tmp_path / "journal")
    client = holdings.enter(1, 1, 0)
    for serial in range(100):
        holdings.alloc(client, 0, 8, serial)
    assert not holdings.leave(client)
    assert result.state(0)[0] > 0
    assert holdings.leave(client)
    assert result.state(0)[0] == 0
    assert client not in holdings.clients


def as_many_as_can_be(holdings, client):
    """Regions of a byte, until they are refused; and why they are."""
    held = []
    for serial in range(1, 4000):
        try:
            held.append(holdings.alloc(client, 0, 1, serial).region)
        except Refusal as refusal:
            return held, refusal.status
        holdings.write()
    return None


@pytest.mark.slow
def test_a_full_disk_refuses_what_is_new_and_takes_back_what_there_is(tmp_path, monkeypatch):
    """What is reserved lasts for every release; and for a journal that is mostly past, until it can be written anew."""
    holdings, result = over(tmp_path / "journal")
    client = holdings.enter(1, 1, 0)

    def full(*_):
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as disk:
        disk.setattr(os, "posix_fallocate", full)
        disk.setattr(os, "open", full)
        held, status = as_many_as_can_be(holdings, client)
        assert status == NO_JOURNAL
        assert len(held) > 100
        assert result.state(0)[0] == len(held)
        reserved = (tmp_path / "journal").stat().st_size
        for region in held:
            holdings.free(client, region)
        holdings.write()
        assert holdings._journal._bytes <= reserved
        assert result.state(0)[0] == 0
    again, second = over(tmp_path / "journal")
    assert again._state == holdings._state
    assert second.state(0) == result.state(0)


def test_a_journal_that_contradicts_itself_is_refused(tmp_path):
    journal = Journal(tmp_path / "journal")
    journal.note(GONE, 3)
    journal.write()
    with pytest.raises(InputError, match="journal: contradicts itself; clear the folder with --clear"):
        over(tmp_path / "journal")
    with pytest.raises(InputError, match=r"cannot be opened \(Is a directory\)\."):
        Journal(tmp_path)


def test_a_record_whose_kind_was_not_written_is_none(tmp_path):
    """Of a batch that a kill cuts off anywhere, the whole records count, and what is written next replaces the rest."""
    journal = Journal(tmp_path / "journal")
    journal.note(CLIENT, 1, 2, 3, 4)
    assert journal.has_room()
    journal.write()
    with (tmp_path / "journal").open("r+b") as file:
        file.seek(40)
        file.write(b"\1" * 32)
    again = Journal(tmp_path / "journal")
    assert list(again.read().clients) == [1]
    again.note(HOLD, 1, 5, 6, 7)
    again.write()
    assert Journal(tmp_path / "journal").read().regions == {5: 6}
