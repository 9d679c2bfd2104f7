"""What a run of the engine `node` leaves behind."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np


class NodeRecord(NamedTuple):
    """A row of times a group, counts, and the log of messages where it was kept."""

    makespan: int
    """The cycle of the last end of a step."""
    began: np.ndarray
    """int64[groups], when each was dispatched first, -1 = never."""
    ended: np.ndarray
    """int64[groups], -1 = never."""
    times: np.ndarray
    """int64[groups, 11], where each one's time went, from the end of the step before its kernel to its own end: wait
    for memory, in the channel, compute, issue, walkers, other translation, link, malloc lock, malloc service, heap
    chunk, shoot-down."""
    refused: np.ndarray
    """bool[applications], which were refused memory."""
    counts: dict[str, int]
    messages: np.ndarray
    """int64[messages, 10]: moment, kind, card, two words of K, five values; no rows without the event log."""
    details: np.ndarray
    """Numbers that messages point to."""
