"""Serve recorded requests with a memory resource, and count what it gets from its upstream."""

from __future__ import annotations

from collections.abc import Callable
from itertools import accumulate
from typing import NamedTuple, Protocol

from workbench.studies.rmm.requests import CardRequests

Upstream = list[int]
"""The calls of the upstream, in their order: bytes that were got, below zero where they were given back."""
NO_ROOM = -1


class Resource(Protocol):
    """A memory resource of one card."""

    calls: Upstream

    def allocate(self, stream: int, size: int) -> int:
        """Return the address of so many bytes for work on a stream; `NO_ROOM` = it has none."""

    def free(self, stream: int, address: int, size: int) -> None:
        """Take back what was given, after the work on a stream so far."""


class Served(NamedTuple):
    """What became of the requests of one card."""

    failed_at: int
    """The first request that found no room; -1 = all were served."""
    calls: Upstream

    @property
    def reserved_peak(self) -> int:
        """Return the most bytes that were got from the upstream at a time."""
        return max(accumulate(self.calls), default=0)


def serve(resource: Resource, requests: CardRequests) -> Served:
    """Serve requests in their order, up to the first that finds no room.

    >>> from workbench.studies.rmm.pool import StreamPool
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
            return Served(row, resource.calls)
        address[block] = at
    return Served(-1, resource.calls)


def smallest(live_peak: int, step: int, serves: Callable[[int], bool]) -> int:
    """Return the least number of steps that serves, as far as is looked for by halves from what is live at the peak."""
    low = high = max(-(-live_peak // step), 1)
    while not serves(high):
        low, high = high + 1, high + high // 8 + 1
    while low < high:
        middle = (low + high) // 2
        low, high = (low, middle) if serves(middle) else (middle + 1, high)
    return high
