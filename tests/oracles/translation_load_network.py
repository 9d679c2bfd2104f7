"""Messages of the event-driven translation twin: each crosses its links one by one, in the cycle in which it is there.

A mesh has ceil(sqrt(cores)) columns; a message goes along its row first, unless a router on that way is missing. A
ring goes the shorter way, upwards at a tie. A crossbar has one link into each core.
"""

from __future__ import annotations

import math
from collections import Counter
from itertools import pairwise
from typing import Any

from tests.oracles.translation_load_clock import Action, Clock, Key


def _ends(cells: list[int]) -> list[tuple[int, int]]:
    return list(pairwise(cells))


def _walk(one: int, other: int) -> list[int]:
    step = 1 if other > one else -1
    return list(range(one, other + step, step)) if one != other else [one]


def mesh_route(cores: int, one: int, other: int) -> list[tuple[int, int]]:
    """Return the links from one core to another in a mesh."""
    columns = math.isqrt(cores - 1) + 1 if cores > 1 else 1
    (row, column), (last_row, last_column) = divmod(one, columns), divmod(other, columns)
    along = [row * columns + c for c in _walk(column, last_column)]
    down = [r * columns + last_column for r in _walk(row, last_row)]
    cells = along + down[1:]
    if max(cells) >= cores:
        first = [r * columns + column for r in _walk(row, last_row)]
        cells = first + [last_row * columns + c for c in _walk(column, last_column)][1:]
    return _ends(cells)


def ring_route(cores: int, one: int, other: int) -> list[tuple[int, int]]:
    """Return the links from one core to another around a ring."""
    up = (other - one) % cores
    step = 1 if 2 * up <= cores else -1
    return _ends([(one + step * k) % cores for k in range(min(up, cores - up) + 1)])


def crossbar_route(cores: int, one: int, other: int) -> list[tuple[int, int]]:
    """Return the one link into the other core."""
    return [(-1, other)] if one != other else []


ROUTES = {"mesh": mesh_route, "ring": ring_route, "crossbar": crossbar_route}


class Network:
    """Links, and what is counted of the messages on them."""

    def __init__(self, clock: Clock, machine: Any, over_time: Counter[tuple[int, str]]) -> None:
        self.clock, self.machine, self.over_time = clock, machine, over_time
        self.free: dict[tuple[int, int], int] = {}
        self.messages: Counter[str] = Counter()
        self.queue_cycles = self.trips = 0

    def route(self, one: int, other: int) -> list[tuple[int, int]]:
        """Return the links from one core to another."""
        return ROUTES[self.machine.network](self.machine.cores, one, other)

    def hops(self, one: int, other: int) -> int:
        """Return how many links there are from one core to another."""
        return len(self.route(one, other))

    def send(self, kind: str, rank: int, key: Key, one: int, other: int, leaves: int, arrive: Action) -> None:
        """Let a message leave at a cycle and do something where it arrives; a core sends nothing to itself."""
        route = self.route(one, other)

        def leave() -> None:
            if one != other:
                self.count(kind)
                self.trips += 1
            if self.machine.link_cycles:
                self._cross(rank, key, route, arrive)
            else:
                self.clock.at(self.clock.now + len(route) * self.machine.hop_cycles, rank, key, arrive)

        self.clock.at(leaves, rank, key, leave)

    def count(self, kind: str) -> None:
        """Count a message that leaves now."""
        self.messages[kind] += 1
        self.over_time[self.clock.now, "messages"] += 1

    def _cross(self, rank: int, key: Key, links: list[tuple[int, int]], arrive: Action) -> None:
        if not links:
            arrive()
            return
        now = self.clock.now
        start = max(now, self.free.get(links[0], 0))
        self.free[links[0]] = start + self.machine.link_cycles
        self.queue_cycles += start - now
        self.over_time[now, "noc_queue_cycles"] += start - now
        self.clock.at(start + self.machine.hop_cycles, rank, key, lambda: self._cross(rank, key, links[1:], arrive))
