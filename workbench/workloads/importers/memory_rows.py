"""Gathers the allocations and releases of a format that records memory alone into its table."""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from workbench.workloads.allocations import AllocationTable, DriverCalls, LiveBefore, Refusals
from workbench.workloads.importers.trace import Trace
from workbench.workloads.kernels import KernelRows

UNKNOWN = -1


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

    def table(self, calls_told: bool = False) -> AllocationTable:
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
            **held,
            allocated_after=live_after(held["bytes"], held["device"], before),
            reserved_after=None if (reserved == UNKNOWN).any() or not len(reserved) else reserved,
            before=before,
            calls=DriverCalls(**_by_time(self._calls)) if calls_told else None,
            refusals=Refusals(**_by_time(self._refused)),
            stream=None if (stream == UNKNOWN).any() or not len(stream) else stream,
        )


def _append(columns: Mapping[str, array[int]], *row: int) -> None:
    for column, value in zip(columns.values(), row, strict=True):
        column.append(value)


def _by_time(columns: Mapping[str, array[int]]) -> dict[str, np.ndarray]:
    """Return the columns as int64[rows]; rows of equal time stay in their order."""
    found = {name: np.array(column, np.int64) for name, column in columns.items()}
    order = np.argsort(found["time_ns"], kind="stable")
    return {name: column[order] for name, column in found.items()}


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


def memory_trace(path: Path, format_name: str, table: AllocationTable, noted: Mapping[str, Any]) -> Trace:
    """Return a trace of memory alone."""
    return Trace(path, format_name, "", KernelRows().table(), allocations=table, noted=noted)
