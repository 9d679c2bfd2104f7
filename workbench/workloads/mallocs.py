"""Calls of `malloc` and `free` by GPU threads: what the engine `malloc` serves."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np


class Mallocs(NamedTuple):
    """Allocations by threads: one row a call, arrivals not decreasing; a thread that is not named did not call.

    Rows of one arrival whose threads are of one warp are one call of that warp, its other lanes being inactive.
    """

    arrival: np.ndarray
    """int64[calls], the cycle at which each thread calls."""
    thread: np.ndarray
    """int64[calls], the thread's number in the whole grid, from 0; increasing among the rows of one arrival."""
    bytes: np.ndarray
    """int64[calls], what each asks for, at least 0."""
    free_at: np.ndarray
    """int64[calls], the cycle from which each gives back what it got; -1 = never."""
