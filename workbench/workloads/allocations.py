"""The allocations and releases of device memory in one trace, as columns."""

from __future__ import annotations

from typing import Any, NamedTuple, TypeVar

import numpy as np


class LiveBefore(NamedTuple):
    """What is known of memory that was live before a trace began; one row a block."""

    bytes: np.ndarray
    """int64[blocks], above zero."""
    device: np.ndarray
    """int64[blocks], the number of the card."""
    address: np.ndarray | None
    """int64[blocks], where; None when the trace holds no addresses."""


class DriverCalls(NamedTuple):
    """What the recorded allocator got from its driver and gave back to it; one row a call, in the order of time."""

    time_ns: np.ndarray
    """int64[calls], on the clock of the allocations; a call that an allocation needed is not later than it."""
    bytes: np.ndarray
    """int64[calls], below zero where it was given back."""
    device: np.ndarray
    """int64[calls], the number of the card."""


class Refusals(NamedTuple):
    """What the recorded allocator could not serve; one row a request, in the order of time."""

    time_ns: np.ndarray
    """int64[requests], on the clock of the allocations."""
    bytes: np.ndarray
    """int64[requests], how many were asked for."""
    device: np.ndarray
    """int64[requests], the number of the card."""


class AllocationTable(NamedTuple):
    """One row an allocation (bytes above zero) or a release (below zero), in the order of time."""

    time_ns: np.ndarray
    """int64[rows], when, in nanoseconds of the trace's own clock."""
    bytes: np.ndarray
    """int64[rows], how many, negative for a release."""
    device: np.ndarray
    """int64[rows], the number of the card."""
    address: np.ndarray | None
    """int64[rows], where; None when the trace holds no addresses."""
    allocated_after: np.ndarray | None
    """int64[rows], bytes live on the card afterwards, those from before the trace included; None = not held."""
    reserved_after: np.ndarray | None
    """int64[rows], bytes got from the driver so far; None = not held."""
    before: LiveBefore | None = None
    """The blocks from before the trace; None = the trace does not tell which they were."""
    calls: DriverCalls | None = None
    """The calls of the driver within the trace; None = the format does not tell them."""
    refusals: Refusals | None = None
    """The requests that failed; None = the format does not tell them."""
    stream: np.ndarray | None = None
    """int64[rows], the number of the stream, from 0 in the order of their first requests; None = not held."""

    def of_device(self, device: int) -> AllocationTable:
        """Return the rows of one card, and what is told of it beside them."""
        calls, refusals = self.calls, self.refusals
        return _rows_of(self, self.device == device)._replace(
            before=None if self.before is None else _rows_of(self.before, self.before.device == device),
            calls=None if calls is None else _rows_of(calls, calls.device == device),
            refusals=None if refusals is None else _rows_of(refusals, refusals.device == device),
        )

    def cached_before(self, device: int) -> int:
        """Return the bytes that a card's allocator held cached when the trace began; 0 where the trace does not tell.

        A format without the calls of the driver tells it after the card's first row at the earliest.
        """
        rows = np.flatnonzero(self.device == device)
        if self.reserved_after is None or self.allocated_after is None or not len(rows):
            return 0
        first = rows[0]
        reserved, live = int(self.reserved_after[first]), int(self.allocated_after[first])
        if self.calls is not None:
            within = (self.calls.device == device) & (self.calls.time_ns <= self.time_ns[first])
            reserved, live = reserved - int(self.calls.bytes[within].sum()), live - int(self.bytes[first])
        return max(reserved - live, 0)

    def without_empty(self) -> AllocationTable:
        """Return the rows that move a byte: profilers record allocations of nothing, which no service is asked for."""
        moving = self.bytes != 0
        return self if moving.all() else _rows_of(self, moving)

    def facts(self) -> dict[str, int]:
        """Return counts and sums; the peak of live bytes only where the trace holds it.

        Without it the trace does not tell what was live before it began; `peak_window_bytes` is the peak of what was
        allocated within it, all cards together.
        """
        grown = self.bytes[self.bytes > 0]
        live = np.cumsum(self.bytes)
        result = {
            "allocations": len(grown),
            "frees": int(np.count_nonzero(self.bytes < 0)),
            "allocated_bytes": int(grown.sum()),
            "freed_bytes": -int(self.bytes[self.bytes < 0].sum()),
            "largest_allocation_bytes": int(grown.max(initial=0)),
            "peak_window_bytes": int(live.max(initial=0)),
        }
        if self.allocated_after is not None:
            result["peak_live_bytes"] = int(self.allocated_after.max(initial=0))
        if self.reserved_after is not None:
            result["peak_reserved_bytes"] = int(self.reserved_after.max(initial=0))
        if self.before is not None:
            result["live_before_bytes"] = int(self.before.bytes.sum())
        if self.address is not None:
            result["addresses"] = len(np.unique(self.address))
        return result


Rows = TypeVar("Rows", bound=Any)
"""A table of columns of equal length, some of which may be missing."""


def _rows_of(table: Rows, kept: np.ndarray) -> Rows:
    """Return the same table with the rows that are kept: bool[rows]."""
    columns = {name: value[kept] for name, value in table._asdict().items() if isinstance(value, np.ndarray)}
    return table._replace(**columns)
