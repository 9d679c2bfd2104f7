"""A memory resource of one card, and what becomes of recorded requests that it serves in their order."""

from __future__ import annotations

from collections.abc import Callable
from itertools import accumulate
from typing import NamedTuple, Protocol

import numpy as np

from workbench.workloads.pool_requests import ALLOC
from workbench.workloads.recorded import TraceFile
from workbench.workloads.recorded_memory import cards_of, live_before, memory_events, requests_of_rank

GRANULE = 256
"""Bytes; every resource rounds a request up to a multiple of it."""
NO_ROOM = -1
"""Instead of the address of a request that does not fit."""
_NEVER_FULL = 1 << 62
DEFAULT_STREAM = -1
"""The number of the legacy default stream, to which the first block of a resource belongs."""


class Driver:
    """The driver of one card: the calls that it served, and the bytes that it can still give.

    >>> driver = Driver(1024)
    >>> driver.get(768), driver.get(512), driver.calls, driver.free_bytes()
    (0, -1, [768], 256)
    """

    def __init__(self, card_bytes: int | None = None) -> None:
        self.calls: list[int] = []
        """Bytes that were got, below zero where they were given back."""
        self.card_bytes = card_bytes
        """None = the card never runs out."""
        self._held = self._next = 0

    def free_bytes(self) -> int:
        """Return the bytes that the card still has."""
        return (_NEVER_FULL if self.card_bytes is None else self.card_bytes) - self._held

    def get(self, size: int) -> int:
        """Return the address of a new block; `NO_ROOM` = the card has too little. No two blocks touch."""
        if size > self.free_bytes():
            return NO_ROOM
        self.calls.append(size)
        self._held += size
        self._next += size + GRANULE
        return self._next - size - GRANULE

    def give(self, size: int) -> None:
        """Take a block back."""
        self.calls.append(-size)
        self._held -= size


class Resource(Protocol):
    """A memory resource of one card."""

    driver: Driver

    def allocate(self, stream: int, size: int) -> int:
        """Return the address of so many bytes for work on a stream; `NO_ROOM` = it has none."""

    def free(self, stream: int, address: int, size: int) -> None:
        """Take back what was given, after the work on a stream so far."""


class CardRequests(NamedTuple):
    """One row a request of a card, as lists: they are served one after another."""

    block: list[int]
    """The number of the block that is asked for, or given back as -1 - number."""
    size: list[int]
    """Bytes, a multiple of `GRANULE`."""
    stream: list[int]
    """The number of the stream; that of a release is where it was given back. `DEFAULT_STREAM` is the default one."""

    def live_peak(self) -> int:
        """Return the most bytes that were live at a time, rounded as the resources do."""
        change = np.where(np.array(self.block) >= 0, self.size, np.negative(self.size))
        return int(np.cumsum(change).max(initial=0))


class Served(NamedTuple):
    """What became of the requests of one card."""

    failed_at: int
    """The first request that found no space; -1 = all were served."""
    calls: list[int]
    """As of `Driver`."""

    @property
    def reserved_peak(self) -> int:
        """Return the most bytes that were got from the upstream at a time."""
        return max(accumulate(self.calls), default=0)


class Direct:
    """No pool: the driver serves every request.

    >>> serve(Direct(), CardRequests([0, -1, 1], [512, 512, 1024], [0, 0, 0]))
    Served(failed_at=-1, calls=[512, -512, 1024])
    """

    def __init__(self, driver: Driver | None = None) -> None:
        self.driver = driver or Driver()

    def allocate(self, _: int, size: int) -> int:
        """Return the address of so many bytes."""
        return self.driver.get(size)

    def free(self, _: int, __: int, size: int) -> None:
        """Give a block back to the driver."""
        self.driver.give(size)


def serve(resource: Resource, requests: CardRequests) -> Served:
    """Serve requests in their order, up to the first that finds no space.

    >>> from workbench.advice.rmm import StreamPool
    >>> serve(StreamPool(1024), CardRequests([0, -1, 1], [512, 512, 1024], [0, 0, 0]))
    Served(failed_at=-1, calls=[1024])
    """
    address: dict[int, int] = {}
    for row, (block, size, stream) in enumerate(zip(*requests, strict=True)):
        if block < 0:
            resource.free(stream, address.pop(-1 - block), size)
            continue
        at = resource.allocate(stream, size)
        if at == NO_ROOM:
            return Served(row, resource.driver.calls)
        address[block] = at
    return Served(-1, resource.driver.calls)


def smallest_size(cards: list[CardRequests], step: int, serves: Callable[[int, CardRequests], bool]) -> int:
    """Return the least size, in steps, that serves every card, as far as is looked for by halves from what is live at
    the peak."""

    def is_enough(steps: int) -> bool:
        return all(serves(steps * step, requests) for requests in cards)

    low = high = max(-(-max((requests.live_peak() for requests in cards), default=0) // step), 1)
    while not is_enough(high):
        low, high = high + 1, high + high // 8 + 1
    while low < high:
        middle = (low + high) // 2
        low, high = (low, middle) if is_enough(middle) else (middle + 1, high)
    return step * high


def requests_by_card(file: TraceFile) -> list[CardRequests]:
    """Return the requests that a trace tells of, what was live before it first, of each card.

    Raises
    ------
    InputError
        The trace holds no memory events.
    """
    rows = memory_events(file, -1)
    requests = requests_of_rank(file, -1, True, 0)
    before = len(live_before(rows).bytes)
    stream = np.zeros(len(requests.handle), np.int64)
    if rows.stream is not None:
        stream[before:] = rows.stream
    stream[np.isin(stream, rows.default_streams if rows.stream is not None else 0)] = DEFAULT_STREAM
    name = np.where(requests.action == ALLOC, requests.handle, -1 - requests.handle)
    size = -(-requests.bytes // GRANULE) * GRANULE
    cards = [np.flatnonzero(requests.card == card) for card in range(len(cards_of(rows)))]
    return [CardRequests(name[own].tolist(), size[own].tolist(), stream[own].tolist()) for own in cards]
