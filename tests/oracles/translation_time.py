"""Ways over the network, and calendars of what serves one after the other, in plain Python (spec 4, R4, E11)."""

from __future__ import annotations

from typing import Any

AHEAD = 512


class Calendar:
    """The cycles that are taken; a booking looks for room up to 512 cycles ahead, else queues behind all of it."""

    def __init__(self) -> None:
        self.taken: set[int] = set()
        self.behind = 0

    def first_free(self, now: int, wanted: int, length: int) -> int:
        for start in range(wanted, now + AHEAD - length + 1):
            if not self.taken & set(range(start, start + length)):
                return start
        return max(self.behind, now + AHEAD, wanted)

    def book(self, now: int, wanted: int, length: int) -> int:
        start = self.first_free(now, wanted, length)
        if start >= now + AHEAD:
            self.taken |= set(range(now + AHEAD, start + length))
            self.behind = start + length
        else:
            self.taken |= set(range(start, start + length))
        return start


def columns(cores: int) -> int:
    side = 1
    while side * side < cores:
        side += 1
    return side


def way_of(network: str, cores: int, sender: int, receiver: int) -> list[tuple[Any, ...]]:
    """The links of a message's way, each named by its ends; those of a crossbar by the core that they enter."""
    if sender == receiver:
        return []
    if network == "crossbar":
        return [("into", receiver)]
    way, here = list[tuple[Any, ...]](), sender
    while here != receiver:
        there = _next_mesh(cores, here, receiver) if network == "mesh" else _next_ring(cores, here, receiver)
        way.append((here, there, (there - here) % cores if network == "ring" and cores == 2 else 0))
        here = there
    return way


def _next_mesh(cores: int, here: int, receiver: int) -> int:
    """Along the row first, where the row has the column; else along the column."""
    width = columns(cores)
    (row, column), (goal, target) = divmod(here, width), divmod(receiver, width)
    if column != target and row * width + target < cores:
        return here + (1 if target > column else -1)
    return here + (width if goal > row else -width)


def _next_ring(cores: int, here: int, receiver: int) -> int:
    ahead = (receiver - here) % cores
    return (here + 1) % cores if 2 * ahead <= cores else (here - 1) % cores


def hops_between(network: str, cores: int, one: int, other: int) -> int:
    return len(way_of(network, cores, one, other))
