"""The history of PyTorch's allocators as columns.

An `AllocatorLog` holds what the allocator of one card did, event by event, and its segments after the last event.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

import numpy as np

ACTIONS = (
    "alloc",
    "free_requested",
    "free_completed",
    "segment_alloc",
    "segment_free",
    "segment_map",
    "segment_unmap",
    "oom",
)
"""The actions that concern memory, by their numbers in `Events.action`."""
ALLOC, FREE_REQUESTED, FREE_COMPLETED, SEGMENT_ALLOC, SEGMENT_FREE, SEGMENT_MAP, SEGMENT_UNMAP, OOM = range(8)
OTHER = len(ACTIONS)
INACTIVE, ACTIVE, AWAITING = range(3)
"""What a block is: free, allocated, free as soon as other streams are done with it."""
NO_POOL = (0, 0)
"""The private pool of what is in none."""


def rows_of(*columns: np.ndarray, piece: int = 4096) -> Iterator[tuple[Any, ...]]:
    """Yield the rows of columns as plain numbers, read so many at a time: lists of all take five times their memory.

    >>> list(rows_of(np.array([1, 2, 3]), np.array([4, 5, 6]), piece=2))
    [(1, 4), (2, 5), (3, 6)]
    """
    for start in range(0, len(columns[0]), piece):
        yield from zip(*(column[start : start + piece].tolist() for column in columns), strict=True)


class Events(NamedTuple):
    """The events that a card's ring kept, oldest first; one row an event."""

    action: np.ndarray
    """int8[events], a place in `ACTIONS`, `OTHER` = it says nothing of memory."""
    address: np.ndarray
    """int64[events]; of `oom` the bytes that the driver still had, -1 = not told."""
    size: np.ndarray
    """int64[events], bytes asked for, or got from the driver."""
    stream: np.ndarray
    """int64[events], the stream's handle."""
    time_us: np.ndarray
    """int64[events], -1 = not told."""
    site: np.ndarray
    """int32[events], which of `AllocatorLog.sites` asked, -1 = the snapshot holds no stack."""
    pool: np.ndarray
    """int32[events], which of `AllocatorLog.pools` it is of, -1 = not told: older versions of PyTorch do not."""


class Segments(NamedTuple):
    """What the card's allocator held after the last event; one row a segment."""

    address: np.ndarray
    size: np.ndarray
    stream: np.ndarray
    small: np.ndarray
    """bool[segments], whether it serves requests of at most 1 MiB."""
    expandable: np.ndarray
    pool: np.ndarray
    """int64[segments], which of `AllocatorLog.pools`."""
    site: np.ndarray
    """int64[segments], which of `AllocatorLog.sites` asked when the driver gave it, -1 = no stack was recorded."""


class Blocks(NamedTuple):
    """The blocks of these segments, in the order of addresses within each; one row a block."""

    segment: np.ndarray
    """int64[blocks], the row of its segment."""
    address: np.ndarray
    size: np.ndarray
    requested: np.ndarray
    """int64[blocks], bytes that were asked for."""
    state: np.ndarray
    """int8[blocks], `INACTIVE`, `ACTIVE` or `AWAITING`."""
    site: np.ndarray
    """int32[blocks], as of `Events.site`."""


class AllocatorLog(NamedTuple):
    """The history of one card's allocator."""

    device: int
    events: Events
    segments: Segments
    blocks: Blocks
    pools: tuple[tuple[int, int], ...]
    """The ids of private pools, `NO_POOL` first."""
    sites: tuple[str, ...]
    """Places in the program that asked for memory, from the stacks; one a stack, so that names come several times."""
    stacks: tuple[tuple[str, ...], ...]
    """Of each of `sites` the innermost Python frames that asked, the innermost first: file:line and function."""
    callers: tuple[tuple[str, ...], ...]
    """Of each of `sites` the frames of the program's own code that led there, the outermost first."""
    settings: Mapping[str, Any]
    """What the snapshot says under `allocator_settings`."""

    @property
    def allocations(self) -> int:
        """Return the number of allocations in the history."""
        return int(np.count_nonzero(self.events.action == ALLOC))

    @property
    def reserved_at_end(self) -> int:
        """Return the bytes got from the driver after the last event."""
        return int(self.segments.size.sum())
