"""Requests of applications to the memory of several cards: what the engine `pool` serves."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

ALLOC, FREE = 0, 1
"""The values of `PoolRequests.action`."""


class PoolRequests(NamedTuple):
    """Allocations and frees: one row a request, times not decreasing."""

    time: np.ndarray
    """int64[requests], nanoseconds."""
    app: np.ndarray
    """int64[requests], the application (process) that asks, from 0."""
    card: np.ndarray
    """int64[requests], the card on which the application runs: the index of it in the machine's cards."""
    action: np.ndarray
    """int8[requests]: `ALLOC` or `FREE`."""
    handle: np.ndarray
    """int64[requests], what an application calls the region; a free names the handle of an earlier allocation."""
    bytes: np.ndarray
    """int64[requests], what is asked for; of a free, what was asked for when it was allocated."""
