"""Ways between cards as whole numbers: what each link carries in a cycle, how long it takes to cross (spec 6, R13)."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np

from workbench.machine.board import Board, network_of
from workbench.machine.paths import Paths

UNIT = 1 << 16
"""Units of a byte: what is shared among transfers is a whole number of these."""


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


class _Ends(NamedTuple):
    """A link, or a card, with what it carries in units a cycle: as `network_of` reads them."""

    ends: tuple[str, str]
    total_gbps: int
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
    links = [_Ends(it.ends, it.count * units_of(it.gbps, clock_mhz), it.channel) for it in board.links]
    cards = [_Port(it.id, units_of(it.port_gbps, clock_mhz)) for it in board.cards]
    network, hops = network_of(cards, links, paths.routes), paths.hops.reshape(-1)
    crossing = _crossing(board, clock_mhz, latency_ns)
    routes = [[board.ids[card] for card in route] for row in paths.routes for route in row]
    latency = [sum(crossing[frozenset(pair)] for pair in pairwise(route)) for route in routes]
    resource = network.resource.astype(np.int64)
    return Ways(network.capacity.astype(np.int64), network.first, resource, np.array(latency, np.int64), hops)


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
