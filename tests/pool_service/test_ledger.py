"""The service's records against cards that are lists of bytes, the specification's vectors, what a journal keeps."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.oracles.pool_arenas import PlainBoard
from workbench.errors import InputError
from workbench.machine import Board, Card, Link
from workbench.policies.pool import (
    BestFit,
    BinaryBuddies,
    KeepAll,
    LeastRecentlyUsed,
    MaxBandwidth,
    MostFree,
    NoCache,
    PytorchCaching,
    SplitAndCoalesce,
    WeightedCards,
)
from workbench.pool_service.card_cache import CardCache, check_rules
from workbench.pool_service.free_ranges import FreeRanges
from workbench.pool_service.holdings import Holdings
from workbench.pool_service.journal import Journal
from workbench.pool_service.ledger import Ledger
from workbench.pool_service.protocol import place_of

SIZES = (40, 60, 50)
BOARD = Board(
    cards=tuple(Card(id=f"gpu{k}", memory_bytes=size) for k, size in enumerate(SIZES)),
    links=(Link(between="gpu0 gpu1", gbps=12), Link(between="gpu0 gpu2", gbps=24), Link(between="gpu1 gpu2", gbps=24)),
)
KINDS = {
    "kept": (SplitAndCoalesce(), MaxBandwidth(), KeepAll(), {}),
    "limited": (SplitAndCoalesce(), MostFree(), LeastRecentlyUsed(limit_bytes_a_card=20), {"limit": 20, "by": "free"}),
    "no cache": (NoCache(), MaxBandwidth(), KeepAll(), {"keeps": False}),
}
STEPS = st.lists(st.tuples(st.integers(0, 2), st.integers(1, 45), st.integers(0, 9)), max_size=40)


def ledger(cache=None, target=None, idle=None, board=BOARD):
    return Ledger(board, BestFit(), cache or SplitAndCoalesce(), target or MaxBandwidth(), idle or KeepAll())


@pytest.mark.parametrize("kind", KINDS)
@given(steps=STEPS)
@settings(max_examples=40, deadline=None)
def test_every_grant_is_that_of_plain_cards(kind, steps):
    cache, target, idle, levers = KINDS[kind]
    fast, live = ledger(cache, target, idle), []
    slow = PlainBoard(SIZES, BOARD.paths().gbps, **levers)
    for borrower, size, free in steps:
        if free < 4 and live:
            card, offset = live.pop(free % len(live))
            fast.give_back(card, offset)
            slow.cards[card].give_back(offset)
        found, expected = fast.alloc(borrower, size), slow.alloc(borrower, size)
        assert (None if found is None else tuple(found)) == expected
        if found is not None:
            live.append((found.card, found.offset))
        for card, plain in zip(fast.cards, slow.cards, strict=True):
            assert card.cached == sum(length for _, length in plain.cached())
            assert card.ranges.free_bytes == sum(length for _, length in plain.physical())


@given(st.lists(st.tuples(st.integers(1, 20), st.integers(0, 9)), max_size=40))
@settings(max_examples=40, deadline=None)
def test_ranges_are_those_of_a_list_of_bytes(steps):
    ranges, taken, live = FreeRanges(50), [False] * 50, []
    for size, free in steps:
        if free < 4 and live:
            start, length = live.pop(free % len(live))
            ranges.give_back(start, length)
            taken[start : start + length] = [False] * length
        starts = [at for at in range(51 - size) if not any(taken[at : at + size])]
        assert ranges.take(size) == (starts[0] if starts else None)
        if starts:
            live.append((starts[0], size))
            taken[starts[0] : starts[0] + size] = [True] * size
        assert ranges.free_bytes == taken.count(False)
        assert ranges.longest() == max(map(len, "".join("x" if it else " " for it in taken).split("x")))


def v6(coalesce):
    """Spec 5, V6: a card of 1000 B; allocate 96, free, allocate 64 and 32, free both, allocate 96."""
    card = CardCache(0, 1000, check_rules(SplitAndCoalesce(coalesce=coalesce)), BestFit(), KeepAll(), [])
    ids = [card.take(96, 96)[0]]
    card.give_back(0)
    ids += [card.take(size, size)[0] for size in (64, 32)]
    for offset in (0, 64):
        card.give_back(offset)
    return [*ids, card.take(96, 96)[0]], card.ranges.free_bytes, card.cached


def test_v6_without_and_with_coalescing():
    assert v6(coalesce=False) == ([0, 0, 64, 96], 808, 96)
    assert v6(coalesce=True) == ([0, 0, 64, 0], 904, 0)


@pytest.mark.parametrize(
    ("cached", "asked", "left"), [((32, 64, 96, 128), 64, [32, 96, 128]), ((32, 96, 128), 64, [32, 32, 128])]
)
def test_v2_v3_the_smallest_block_that_is_enough_is_taken_and_split(cached, asked, left):
    card = CardCache(0, 1000, check_rules(SplitAndCoalesce()), BestFit(), KeepAll(), [])
    starts = [card.take(size, size)[0] for size in cached]
    for start in starts:
        card.give_back(start)
    assert card.take(asked, asked)[1]
    assert card.cached == sum(left)


def test_v7_two_records_that_hold_enough_only_together_send_the_request_away():
    board = BOARD.but(cards=tuple(Card(id=f"gpu{k}", memory_bytes=100) for k in range(3)))
    found = ledger(board=board)
    blocks = [found.alloc(0, size) for size in (20, 20, 30)]
    for grant in blocks[:2]:
        found.give_back(0, grant.offset)
    assert (found.cards[0].cached, found.cards[0].ranges.free_bytes) == (40, 30)
    assert found.alloc(0, 35).card == 1, "over gpu2 it is as fast as gpu2 itself, and its id is lower"


def test_a_weighted_sum_asks_every_term():
    found = ledger(target=WeightedCards(weights=(1, 1, 1)))
    found.alloc(0, 40)
    assert [found.alloc(0, 10).card for _ in range(4)] == [1, 2, 1, 2], "who has lent is asked less"


def test_pytorchs_cache_takes_segments_of_two_and_twenty_mebibytes():
    board = BOARD.but(cards=tuple(Card(id=f"gpu{k}", memory_bytes=1 << 26) for k in range(3)))
    found = ledger(PytorchCaching(), board=board)
    found.alloc(0, 100)
    found.alloc(0, 3 << 20)
    assert [call.bytes >> 20 for call in found.calls] == [2, 20]


def test_caches_that_arenas_cannot_serve_are_refused():
    with pytest.raises(InputError, match="does not serve with the cache binary_buddies: it needs halving, growing or"):
        ledger(BinaryBuddies())


def test_many_blocks_make_room_for_more():
    board = BOARD.but(cards=tuple(Card(id=f"gpu{k}", memory_bytes=1 << 20) for k in range(3)))
    found = ledger(board=board)
    offsets = [found.alloc(0, 8).offset for _ in range(5000)]
    assert offsets == [8 * k for k in range(5000)]
    for offset in offsets:
        found.give_back(0, offset)
    assert found.cards[0].cached == 40_000


def state(holdings):
    told = holdings._told
    return told.segments, told.clients, told.regions, told.holders


@given(steps=STEPS)
@settings(max_examples=25, deadline=None)
def test_a_journal_brings_back_every_region_and_what_is_cached(tmp_path_factory, steps):
    place = tmp_path_factory.mktemp("journal") / "journal"
    first = ledger()
    holdings = Holdings(first, Journal(place))
    clients, live = [holdings.enter(100 + k, 7, k) for k in range(3)], []
    for serial, (borrower, size, free) in enumerate(steps, 1):
        if free < 4 and live:
            client, region = live.pop(free % len(live))
            assert holdings.free(client, region)
        found = holdings.alloc(clients[borrower], borrower, size, serial)
        if found:
            live.append((clients[borrower], found[0]))
            if free == 9 and borrower:
                holdings.open(clients[0], found[0])
    holdings.write()
    with place.open("ab") as file:
        file.write(b"cut off")
    second = ledger()
    again = Holdings(second, Journal(place))
    again.restore()
    assert state(again) == state(holdings)
    for one, other in zip(first.cards, second.cards, strict=True):
        assert (one.in_use, one.cached, one.ranges.free_bytes) == (other.in_use, other.cached, other.ranges.free_bytes)
    for client in clients:
        again.leave(client)
    assert all(card.in_use == 0 for card in second.cards)
    again._journal.rewrite(again._told)
    assert place.stat().st_size == 40 * len(again._told.segments)


def test_what_was_granted_but_never_answered_is_found_by_its_serial(tmp_path):
    holdings = Holdings(ledger(), Journal(tmp_path / "journal"))
    client = holdings.enter(1, 1, 0)
    region, size, _ = holdings.alloc(client, 0, 10, 77)
    assert holdings.granted(client, 77) == (region, size)
    assert holdings.granted(client, 78) is None


def test_a_region_is_back_when_the_last_that_holds_it_lets_go(tmp_path):
    found = ledger()
    holdings = Holdings(found, Journal(tmp_path / "journal"))
    one, other = (holdings.enter(number, 1, 0) for number in (1, 2))
    region, _, _ = holdings.alloc(one, 0, 10, 1)
    assert holdings.open(other, region) == 10
    assert holdings.open(other, region + 1) == 0
    assert holdings.free(one, region)
    assert not holdings.free(one, region)
    assert found.cards[0].in_use == 10
    holdings.leave(other)
    assert found.cards[0].in_use == 0
    assert not holdings.exists(region)
    assert place_of(region) == (0, 0)
    assert np.array_equal(found._lent, np.zeros((3, 3)))


def test_a_journal_that_contradicts_itself_is_refused(tmp_path):
    (tmp_path / "journal").write_bytes(bytes([5]) + bytes(39))
    with pytest.raises(InputError, match="journal: contradicts itself; clear the folder with --clear"):
        Holdings(ledger(), Journal(tmp_path / "journal")).restore()
