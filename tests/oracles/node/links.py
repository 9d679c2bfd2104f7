"""Transfers over the links of the board, which share bytes a cycle in whole units (spec 6, R13)."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from dataclasses import dataclass, field

from tests.oracles.node.calendar import Calendar, Key, Rank
from tests.oracles.node.description import Machine
from tests.oracles.node.log import Log

UNIT = 2**16
"""Units of a byte: rates and what is left are whole numbers of 2^-16 byte."""

Hop = tuple[int, int]
"""A direction of a link: (from, to)."""


@dataclass(eq=False)
class Transfer:
    """Bytes under way over all hops of a path at once."""

    hops: tuple[Hop, ...]
    left: int  # in units
    key: Key
    done: Callable[[], None]
    rate: int = 0  # units a cycle
    plans: int = field(default=0)  # how often its end was planned; only the last plan counts


class Links:
    """All links of a board and what is under way on them."""

    def __init__(self, calendar: Calendar, machine: Machine, log: Log) -> None:
        self._calendar, self._log, self._links = calendar, log, machine.links
        self._rates, self._latencies = _directions(machine)
        self._paths = _Paths(self._rates, machine.pool.max_hops)
        self._under_way: list[Transfer] = []
        self._since = 0

    def bandwidth(self, source: int, target: int) -> float:
        """Return the GB/s of the widest path; 0 where there is none."""
        path = self._paths.widest(source, target)
        return min((self._gbps(hop) for hop in path), default=0.0)

    def _gbps(self, hop: Hop) -> float:
        return sum(link.gbps for link in self._links if hop in (link.cards, link.cards[::-1]))

    def send(self, source: int, target: int, size: int, key: Key, done: Callable[[], None]) -> None:
        """Send bytes over the widest path: its latencies first, then its bytes."""
        path = self._paths.widest(source, target)
        assert path, f"no path of links leads from card {source} to card {target}"
        self._log("link", target, "send", key, source=source, bytes=size)
        transfer = Transfer(path, size * UNIT, key, done)
        arrival = self._calendar.now + sum(self._latencies[hop] for hop in path)
        self._calendar.at(arrival, Rank.LINK_END, key, lambda: self._enter(transfer))

    def _enter(self, transfer: Transfer) -> None:
        self._move()
        if transfer.left == 0:
            self._finish(transfer)
            return
        self._under_way.append(transfer)
        self._share()

    def _move(self) -> None:
        elapsed = self._calendar.now - self._since
        for transfer in self._under_way:
            transfer.left -= transfer.rate * elapsed
        self._since = self._calendar.now

    def _share(self) -> None:
        for transfer in self._under_way:
            transfer.rate = min(self._share_of(transfer, hop) for hop in transfer.hops)
        for transfer in self._under_way:
            self._plan(transfer)

    def _share_of(self, transfer: Transfer, hop: Hop) -> int:
        sharing = [one for one in self._under_way if hop in one.hops]
        share, rest = divmod(self._rates[hop], len(sharing))
        return share + (rest if sharing[0] is transfer else 0)

    def _plan(self, transfer: Transfer) -> None:
        transfer.plans += 1
        plan = transfer.plans
        if transfer.rate or transfer.left <= 0:
            cycles = -(-max(transfer.left, 0) // max(transfer.rate, 1))
            end = self._calendar.now + cycles
            self._calendar.at(end, Rank.LINK_END, transfer.key, lambda: self._end(transfer, plan))

    def _end(self, transfer: Transfer, plan: int) -> None:
        if plan != transfer.plans:
            return
        self._move()
        transfer.plans += 1
        self._under_way.remove(transfer)
        self._share()
        self._finish(transfer)

    def _finish(self, transfer: Transfer) -> None:
        self._log("link", transfer.hops[-1][1], "arrive", transfer.key)
        transfer.done()


def _directions(machine: Machine) -> tuple[dict[Hop, int], dict[Hop, int]]:
    rates: dict[Hop, int] = {}
    latencies: dict[Hop, int] = {}
    for link in machine.links:
        for hop in (link.cards, link.cards[::-1]):
            rates[hop] = rates.get(hop, 0) + int(link.gbps * 1000 * UNIT / machine.clock_mhz)
            latencies[hop] = max(latencies.get(hop, 0), cycles_of(link.latency_ns, machine.clock_mhz))
    return rates, latencies


def cycles_of(nanoseconds: int, clock_mhz: int) -> int:
    """Return nanoseconds in cycles, rounded up (R1)."""
    return -(-nanoseconds * clock_mhz // 1000)


class _Paths:
    """Paths of links: the widest, then the shortest, then the lowest cards (spec 5, E8)."""

    def __init__(self, rates: dict[Hop, int], max_hops: int) -> None:
        self._rates, self._max_hops = rates, max_hops
        self._cards = sorted({card for hop in rates for card in hop})

    def widest(self, source: int, target: int) -> tuple[Hop, ...]:
        """Return the hops of the best path, none if no path is short enough."""
        ranked = sorted((-min(self._rates[hop] for hop in path), len(path), path) for path in self._all(source, target))
        return ranked[0][2] if ranked else ()

    def _all(self, source: int, target: int) -> list[tuple[Hop, ...]]:
        between = [card for card in self._cards if card not in (source, target)]
        ways = (way for n in range(self._max_hops) for way in itertools.permutations(between, n))
        paths = (tuple(itertools.pairwise((source, *way, target))) for way in ways)
        return [path for path in paths if all(hop in self._rates for hop in path)]
