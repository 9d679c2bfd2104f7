"""Requests of applications to the memory of several cards: what the engine `pool` serves."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

ALLOC, FREE, DIE = 0, 1, 2
"""The values of `PoolRequests.action`; an application that dies frees nothing more itself."""


class PoolRequests(NamedTuple):
    """Allocations and frees: one row a request, times not decreasing."""

    time: np.ndarray
    """int64[requests], nanoseconds."""
    app: np.ndarray
    """int64[requests], the application (process) that asks, from 0."""
    card: np.ndarray
    """int64[requests], the card on which the application runs: the index of it in the machine's cards."""
    action: np.ndarray
    """int8[requests]: `ALLOC`, `FREE` or `DIE`."""
    handle: np.ndarray
    """int64[requests], what an application calls the region; a free names the handle of an earlier allocation,
    a death names none."""
    bytes: np.ndarray
    """int64[requests], what is asked for; of a free, what was asked for when it was allocated."""
