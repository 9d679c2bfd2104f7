"""The state of a board's links: counters, fields, the ways between cards and their units (spec 6, R13)."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np

from workbench.engines.kit.faults import numbered
from workbench.machine.board import Board, Link
from workbench.machine.network import network_of
from workbench.machine.paths import Paths
from workbench.structures.timetable import new_tournament

NEEDS_ROOM, NOBODY, NONE = -2, -1, -1
"""Instead of a ticket: the arrays must grow first; only a latency has ended."""


class Counters(NamedTuple):
    """Where the links stand."""

    now: int
    """The cycle whose events stand in `due`."""
    due: int
    """How many these are."""
    free: int
    """The first free place, -1 = none."""
    begun: int
    """Transfers so far."""
    entered: int
    """Transfers so far whose latency is over."""


class Fields(NamedTuple):
    """What is known of a transfer."""

    way: int
    left: int
    """Units to be moved: of one that is alone or the first of its way; of others as they enter."""
    target: int
    """What `moved` of the way will be when one is done that is not the first."""
    at: int
    """When its latency is over."""
    high: int
    low: int
    ticket: int
    order: int
    """How many had begun before it."""
    entered: int
    """How many had entered before it."""
    phase: int
    before: int
    """On the list of those that wait for their latency, then of those on the way."""
    after: int
    place: int
    """In the heap of its way, -1 = it is not there."""


COUNT, OF = numbered(Counters), numbered(Fields)
SIZE = len(Fields._fields)
EARLY, MOVING, DONE = range(3)
"""Phases: its latency runs, it moves, all its bytes are there."""


class Ways(NamedTuple):
    """The paths of a board; a way is a pair of cards, source * cards + target."""

    capacity: np.ndarray
    """int64[resources], units a cycle, of each direction of a link, a channel, a port."""
    first: np.ndarray
    """int64[ways + 1], where the resources of each way begin in `resource`."""
    resource: np.ndarray
    latency: np.ndarray
    """int64[ways], cycles before the first byte."""
    hops: np.ndarray
    """int64[ways], links; -1 = no path, 0 = to itself."""


class Links(NamedTuple):
    """The board, and what is under way on it."""

    ways: Ways
    near: np.ndarray
    """int64[...], for each way those that share a resource with it, itself included."""
    near_first: np.ndarray
    """int64[ways + 1]."""
    users: np.ndarray
    """int64[resources], transfers on each."""
    running: np.ndarray
    """int64[ways], transfers on each."""
    lists: np.ndarray
    """int64[ways, 4], first and last that wait for their latency, first and last on the way, -1 = none."""
    rate: np.ndarray
    """int64[ways, 2], units a cycle of the first, of each other."""
    moved: np.ndarray
    """int64[ways], units that each but the first has moved since the way was idle, had it entered then."""
    since: np.ndarray
    """int64[ways], the cycle at which `moved` and what the first has left are true."""
    carried: np.ndarray
    """int64[ways], bytes that have arrived."""
    turns: np.ndarray
    """When something happens on each way next: a tournament."""
    counters: np.ndarray
    rows: np.ndarray
    """int64[places, fields], the transfers."""
    heap: np.ndarray
    """int64[ways, places], those on each way but its first, by `target`."""
    held: np.ndarray
    """int64[ways], how many stand in each heap."""
    due: np.ndarray
    """int64[places], the transfers to which something happens at this cycle: a heap by (high, low, order)."""


FIRST, OTHERS = range(2)
EARLY_FIRST, EARLY_LAST, WAY_FIRST, WAY_LAST = range(4)


def new_links(ways: Ways, places: int = 64) -> Links:
    """Return links on which nothing is under way, with space for so many transfers at a time.

    Examples
    --------
    >>> from workbench.engines.kit.order import cycle_of
    >>> from workbench.machine import Board, Card, Link
    >>> board = Board(cards=[Card(id="a"), Card(id="b")], links=[Link(between="a b", gbps=4)])
    >>> from workbench.engines.node.links import begin, next_moment, take_next
    >>> links = new_links(ways_of(board, board.paths(), clock_mhz=1000))
    >>> begin(links, 1, 400, 0, 0, 0, 7), begin(links, 1, 800, 0, 0, 1, 8)
    (0, 0)
    >>> [(take_next(links), int(cycle_of(next_moment(links)))) for _ in range(3)]
    [(-1, 0), (-1, 200), (7, 300)]
    """
    count = ways.hops.size
    near = [_near(ways, way) for way in range(count)]
    empty = Links(
        ways=ways,
        near=np.array([other for others in near for other in others], np.int64),
        near_first=np.cumsum([0, *map(len, near)]),
        users=np.zeros(ways.capacity.size, np.int64),
        running=np.zeros(count, np.int64),
        lists=np.full((count, 4), NONE),
        rate=np.zeros((count, 2), np.int64),
        moved=np.zeros(count, np.int64),
        since=np.zeros(count, np.int64),
        carried=np.zeros(count, np.int64),
        turns=new_tournament(count),
        counters=np.array([0, 0, NONE, 0, 0]),
        rows=np.zeros((0, SIZE), np.int64),
        heap=np.zeros((count, 0), np.int64),
        held=np.zeros(count, np.int64),
        due=np.zeros(0, np.int64),
    )
    return with_places(empty, places)


def with_places(links: Links, places: int) -> Links:
    """Return the same links with space for so many transfers, not fewer than before."""
    before = links.due.size
    rows, due = np.zeros((places, SIZE), np.int64), np.zeros(places, np.int64)
    heap = np.zeros((links.held.size, places), np.int64)
    rows[:before], due[:before], heap[:, :before] = links.rows, links.due, links.heap
    rows[before:, OF.after] = np.arange(before + 1, places + 1)
    if places > before:
        rows[-1, OF.after] = links.counters[COUNT.free]
        links.counters[COUNT.free] = before
    return links._replace(rows=rows, due=due, heap=heap)


def _near(ways: Ways, way: int) -> list[int]:
    def used(one: int) -> set[int]:
        return set(ways.resource[ways.first[one] : ways.first[one + 1]].tolist())

    return [one for one in range(ways.hops.size) if used(one) & used(way)]


UNIT = 1 << 16
"""Units of a byte: what is shared among transfers is a whole number of these."""


class _Ends(NamedTuple):
    """A link, or a card, with what it carries in units a cycle: as `network_of` reads them."""

    ends: tuple[str, str]
    total_gbps: int
    both_gbps: int
    channel: str


class _Port(NamedTuple):
    id: str
    port_gbps: int


def ways_of(board: Board, paths: Paths, clock_mhz: int, latency_ns: Sequence[int] = ()) -> Ways:
    """Return the ways of a board.

    Parameters
    ----------
    board : Board
        Parallel links add up.
    paths : Paths
        The path from each card to each other: the widest, of these the shortest, of these the lowest cards.
    clock_mhz : int
        The cards' clock.
    latency_ns : sequence of int
        Of each link of the board; of parallel ones the largest counts; empty = none takes any time.

    Examples
    --------
    >>> from workbench.machine import Board
    >>> ways = ways_of(board := Board(), board.paths(), clock_mhz=1000, latency_ns=[70, 30])
    >>> (ways.capacity // UNIT).tolist(), ways.hops[2], ways.latency[2]
    ([12, 12, 24, 24], np.int64(2), np.int64(100))
    """
    links = [_ends(it, it.count * units_of(it.gbps, clock_mhz)) for it in board.links]
    cards = [_Port(it.id, units_of(it.port_gbps, clock_mhz)) for it in board.cards]
    network, hops = network_of(cards, links, paths.routes), paths.hops.reshape(-1)
    crossing = _crossing(board, clock_mhz, latency_ns)
    routes = [[board.ids[card] for card in route] for row in paths.routes for route in row]
    latency = [sum(crossing[frozenset(pair)] for pair in pairwise(route)) for route in routes]
    resource = network.resource.astype(np.int64)
    return Ways(network.capacity.astype(np.int64), network.first, resource, np.array(latency, np.int64), hops)


def _ends(link: Link, units: int) -> _Ends:
    return _Ends(link.ends, units, int(units * link.duplex), link.channel)


def units_of(gbps: float, clock_mhz: int) -> int:
    """Return the whole units that a link carries in a cycle.

    >>> units_of(4.0, 1000) // UNIT, units_of(0.0, 1000)
    (4, 0)
    """
    return int(gbps * 1000 * UNIT // clock_mhz)


def cycles_of(nanoseconds: int, clock_mhz: int) -> int:
    """Return nanoseconds as cycles, rounded up (spec 6, R1).

    >>> cycles_of(1, 1410), cycles_of(100, 1410)
    (2, 141)
    """
    return -(-nanoseconds * clock_mhz // 1000)


def _crossing(board: Board, clock_mhz: int, latency_ns: Sequence[int]) -> dict[Any, int]:
    """Return the cycles that it takes to cross the links between each two cards."""
    cycles: dict[Any, int] = {}
    for link, nanoseconds in zip(board.links, latency_ns or [0] * len(board.links), strict=True):
        pair = frozenset(link.ends)
        cycles[pair] = max(cycles.get(pair, 0), cycles_of(nanoseconds, clock_mhz))
    return cycles
