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


class FilledRequests(PoolRequests):
    """Requests of which it is known how full their regions are: a key-value cache reserves more than it writes.

    What is made of them by `_replace` or row by row is plain requests again, of which it is not known.
    """

    filled: np.ndarray
    """float64[requests], of an allocation: bytes that hold data, summed over the nanoseconds of its life; else 0."""

    @classmethod
    def of(cls, requests: PoolRequests, filled: np.ndarray) -> FilledRequests:
        """Return the requests with how full their regions are."""
        result = cls(*requests)
        result.filled = filled
        return result


def filled_of(requests: PoolRequests) -> np.ndarray | None:
    """Return how full the regions are, None where it is not known.

    >>> filled_of(PoolRequests(*np.zeros((6, 1)))) is None
    True
    """
    return requests.filled if isinstance(requests, FilledRequests) else None
