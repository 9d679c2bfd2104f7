"""Memory as a trace recorded it, as columns of allocations and releases.

An `AllocationTable` holds the allocations and releases of one trace; `MemoryRows` gathers them as a format is read.
"""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Mapping
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
    default_streams: tuple[int, ...] = ()
    """The numbers of `stream` that stand for CUDA's legacy default stream, which has two handles."""

    def of_device(self, device: int) -> AllocationTable:
        """Return the rows of one card, and the facts about it."""
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


UNKNOWN = -1
"""What a row has whose format does not tell a number."""


class Block(NamedTuple):
    """A block that was live before the first event."""

    bytes: int
    device: int
    address: int


class MemoryRows:
    """Rows card by card, each card's in the order of time; blocks that are released without having been allocated were
    live before."""

    def __init__(self) -> None:
        self._columns = {name: array("q") for name in ("time_ns", "bytes", "device", "address", "reserved", "stream")}
        self._refused = {name: array("q") for name in ("time_ns", "bytes", "device")}
        self._calls = {name: array("q") for name in ("time_ns", "bytes", "device")}
        self._live: dict[tuple[int, int], int] = {}
        self._before: list[Block] = []

    def allocate(
        self, time_ns: int, device: int, address: int, size: int, reserved: int = UNKNOWN, stream: int = UNKNOWN
    ) -> None:
        """Add an allocation."""
        _append(self._columns, time_ns, size, device, address, reserved, stream)
        self._live[device, address] = size

    def release(
        self, time_ns: int, device: int, address: int, size: int, reserved: int = UNKNOWN, stream: int = UNKNOWN
    ) -> None:
        """Add a release, of the size that was asked for when the block was allocated."""
        was = self._live.pop((device, address), None)
        if was is None:
            self._before.append(Block(size, device, address))
        _append(self._columns, time_ns, -(size if was is None else was), device, address, reserved, stream)

    def refuse(self, time_ns: int, device: int, size: int) -> None:
        """Add a request that the recorded allocator could not serve."""
        _append(self._refused, time_ns, size, device)

    def driver_call(self, time_ns: int, device: int, size: int) -> None:
        """Add a call of the driver, of a size below zero where it got memory back."""
        _append(self._calls, time_ns, size, device)

    def also_before(self, blocks: Iterable[Block]) -> None:
        """Add blocks that are live at the end and that no event allocated: they were live all the time."""
        known = {(block.device, block.address) for block in self._before}
        for block in blocks:
            place = (block.device, block.address)
            if place not in self._live and place not in known:
                self._before.append(block)

    def table(self, with_calls: bool = False) -> AllocationTable:
        """Return the columns, all cards in one order of time; bytes live after each row count what was live before.

        Parameters
        ----------
        calls_told : bool
            Whether the format tells the calls of the driver, also where there was none.
        """
        held = _by_time(self._columns)
        reserved, stream = held.pop("reserved"), held.pop("stream")
        blocks = [block for block in self._before if block.bytes]  # a log may free a null pointer, of no bytes
        sizes, devices, addresses = (np.array([b[k] for b in blocks], np.int64) for k in range(3))
        before = LiveBefore(sizes, devices, addresses)
        return AllocationTable(
            time_ns=held["time_ns"],
            bytes=held["bytes"],
            device=held["device"],
            address=held["address"],
            allocated_after=live_after(held["bytes"], held["device"], before),
            reserved_after=None if (reserved == UNKNOWN).any() or not len(reserved) else reserved,
            before=before,
            calls=DriverCalls(**_by_time(self._calls)) if with_calls else None,
            refusals=Refusals(**_by_time(self._refused)),
            stream=None if (stream == UNKNOWN).any() or not len(stream) else stream,
        )


def _append(columns: Mapping[str, array[int]], *row: int) -> None:
    for column, value in zip(columns.values(), row, strict=True):
        column.append(value)


def _by_time(columns: Mapping[str, array[int]]) -> dict[str, np.ndarray]:
    """Return the columns as int64[rows]; rows of equal time stay in their order."""
    arrays = {name: np.array(column, np.int64) for name, column in columns.items()}
    order = np.argsort(arrays["time_ns"], kind="stable")
    return {name: column[order] for name, column in arrays.items()}


def live_after(changes: np.ndarray, device: np.ndarray, before: LiveBefore) -> np.ndarray:
    """Return the bytes live on the row's card after each row: int64[rows].

    Parameters
    ----------
    changes, device : int64[rows]

    Examples
    --------
    >>> before = LiveBefore(np.array([100]), np.array([1]), None)
    >>> live_after(np.array([5, 7, -100]), np.array([0, 1, 1]), before)
    array([  5, 107,   7])
    """
    live = np.zeros(len(changes), np.int64)
    for card in np.unique(device):
        own = device == card
        live[own] = np.cumsum(changes[own]) + before.bytes[before.device == card].sum()
    return live
