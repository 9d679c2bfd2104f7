"""What a program requests of a memory resource, card by card, with the stream of every request."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from workbench.workloads.memory_requests import cards_of, live_before, memory_events, requests_of_rank
from workbench.workloads.pool_requests import ALLOC
from workbench.workloads.recorded import TraceFile

GRANULE = 256
"""Bytes; every resource rounds a request up to a multiple of it."""


class CardRequests(NamedTuple):
    """One row a request of a card, as lists: they are served one after another."""

    block: list[int]
    """The number of the block that is asked for, or given back as -1 - number."""
    size: list[int]
    """Bytes, a multiple of `GRANULE`."""
    stream: list[int]
    """The number of the stream; that of a release is where it was given back."""

    @property
    def streams(self) -> int:
        """Return how many streams there are."""
        return len(set(self.stream))

    def live_peak(self) -> int:
        """Return the most bytes that were live at a time, rounded as the resources do."""
        change = np.where(np.array(self.block) >= 0, self.size, np.negative(self.size))
        return int(np.cumsum(change).max(initial=0))


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
    name = np.where(requests.action == ALLOC, requests.handle, -1 - requests.handle)
    size = -(-requests.bytes // GRANULE) * GRANULE
    cards = [np.flatnonzero(requests.card == card) for card in range(len(cards_of(rows)))]
    return [CardRequests(name[own].tolist(), size[own].tolist(), stream[own].tolist()) for own in cards]
