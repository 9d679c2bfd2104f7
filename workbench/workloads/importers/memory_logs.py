"""Formats that record memory alone, RMM's log and PyTorch's memory timeline, and the rows that such formats gather.

The log of RMM's logging adaptor is CSV with the columns Thread,Time,Action,Pointer,Size,Stream. Times are those of a
day, with microseconds; a log that runs past midnight goes on with the next day. A request that failed is a refusal: the
program that was recorded went on without it. Releases of RMM's own logs are called `free`, its manual says
`deallocate`; addresses come with or without `0x` (RMM 0.15 to 25, logging_resource_adaptor), and the null pointer,
which stands for no bytes, also as `(nil)` and `nullptr`. The per-thread default stream is another one in every thread.

The raw memory timeline that PyTorch's profiler exports and Holistic Trace Analysis reads is a JSON list of [time in ns,
action, bytes, category]: 1 what was there before, 2 created, 3 another category or version (in pairs that cancel out),
4 destroyed. There are no addresses: a block is told by its size alone.
"""

from __future__ import annotations

import re
from array import array
from collections import Counter
from collections.abc import Iterable, Mapping
from typing import NamedTuple

import msgspec
import numpy as np

from workbench.errors import InputError, shown
from workbench.units import is_count
from workbench.workloads.allocations import AllocationTable, DriverCalls, LiveBefore, Refusals
from workbench.workloads.importers.importer import Importer, Trace
from workbench.workloads.importers.source import Source
from workbench.workloads.importers.text_formats import Header, csv_rows, has_header

_COLUMNS = ("Thread", "Time", "Action", "Pointer", "Size", "Stream")
_ALLOCATE, _FREES, _FAILED = "allocate", ("free", "deallocate"), "allocate failure"
_NULL = ("(nil)", "nullptr")
_PER_THREAD = ("2", "0x2", "0x0000000000000002")
"""The handle that CUDA gives the per-thread default stream."""
_OF_DAY = re.compile(r"(\d{1,2}):(\d\d):(\d\d)[.:](\d{1,9})$")
_OF_EPOCH = re.compile(r"(\d{1,12})(?:\.(\d{1,9}))?$")
_SECONDS_OF_DAY, _NS = 86_400, 10**9
_MOST_BYTES = 1 << 60


class RmmLog(Importer):
    """Read line by line; the card is not in the log and is called 0."""

    format = "rmm_log_csv"
    description = "a CSV log of RMM (Thread,Time,Action,Pointer,Size,Stream)"

    def recognises(self, head: bytes) -> bool:
        return has_header(head.removeprefix(b"\xef\xbb\xbf").partition(b"\n")[0], _is_header)

    def read(self, source: Source) -> Trace:
        rows, counts = MemoryRows(), Counter[str]()
        threads, streams, queues = set[str](), set[str](), dict[tuple[str, str], int]()
        clock = _Clock()
        for row in csv_rows(source, _is_header, "an RMM log"):
            where = row.where
            thread, time, action, pointer, size, stream = (field.strip() for field in row.fields)
            now = clock.read(time, where)
            counts[action] += 1
            threads.add(thread)
            streams.add(stream)
            queue = queues.setdefault((stream, thread if stream in _PER_THREAD else ""), len(queues))
            if action == _ALLOCATE:
                rows.allocate(now, 0, _address(pointer, where), _size(size, where), stream=queue)
            elif action in _FREES:
                rows.release(now, 0, _address(pointer, where), _size(size, where), stream=queue)
            elif action == _FAILED:
                rows.refuse(now, 0, _size(size, where))
            else:
                raise InputError(f"{where}: Action must be allocate, free or allocate failure. Got {shown(action)}.")
        noted = {"records": sum(counts.values()), "failed_allocations": counts[_FAILED]}
        noted |= {"threads": len(threads), "streams": len(streams)}
        return self.trace(source, allocations=rows.table(), noted=noted)


def _is_header(header: Header) -> bool:
    return tuple(name.strip() for name in header.names) == _COLUMNS


class _Clock:
    """Times of the log as nanoseconds that never decrease: threads may write a little out of order."""

    def __init__(self) -> None:
        self._last = 0
        self._days = 0

    def read(self, text: str, where: str) -> int:
        time = _time(text, where) + self._days * _SECONDS_OF_DAY * _NS
        if self._last - time > _SECONDS_OF_DAY * _NS // 2:
            self._days += 1
            time += _SECONDS_OF_DAY * _NS
        self._last = max(self._last, time)
        return self._last


def _time(text: str, where: str) -> int:
    if of_day := _OF_DAY.match(text):
        hours, minutes, seconds, rest = of_day.groups()
        return (int(hours) * 3600 + int(minutes) * 60 + int(seconds)) * _NS + int(rest.ljust(9, "0"))
    if of_epoch := _OF_EPOCH.match(text):
        return int(of_epoch[1]) * _NS + int((of_epoch[2] or "").ljust(9, "0"))
    raise InputError(f"{where}: Time must be like 10:44:12.123456. Got {shown(text)}.")


def _address(text: str, where: str) -> int:
    try:
        return 0 if text in _NULL else int(text, 16)
    except ValueError:
        raise InputError(f"{where}: Pointer must be a hexadecimal address. Got {shown(text)}.") from None


def _size(text: str, where: str) -> int:
    if not is_count(text) or int(text) > _MOST_BYTES:
        raise InputError(f"{where}: Size must be a whole number of bytes. Got {shown(text)}.")
    return int(text)


_BEGINS = re.compile(rb"\s*\[\s*\[\s*-?\d+\s*,\s*[1-4]\s*,\s*-?\d+\s*,\s*\d+\s*\]")
_BEFORE, _CREATE, _CHANGE, _DESTROY = 1, 2, 3, 4
_records = msgspec.json.Decoder(list[tuple[int, int, int, int]])


class TorchTimeline(Importer):
    """Read as a whole: a record is some forty bytes."""

    format = "torch_memory_timeline_raw"
    description = "a raw memory timeline of PyTorch's profiler"

    def recognises(self, head: bytes) -> bool:
        return _BEGINS.match(head) is not None

    def read(self, source: Source) -> Trace:
        try:
            records = np.array(_records.decode(source.whole()), np.int64).reshape(-1, 4)
        except msgspec.DecodeError as problem:
            raise InputError(f"{source.where}: is no whole memory timeline ({problem}).") from None
        _check(records, source.where)
        moved = records[np.isin(records[:, 1], (_CREATE, _DESTROY))]
        moved = moved[np.argsort(moved[:, 0], kind="stable")]
        held = records[records[:, 1] == _BEFORE, 2]
        before = LiveBefore(held, np.zeros(len(held), np.int64), None)
        device = np.zeros(len(moved), np.int64)
        live = live_after(moved[:, 2], device, before)
        table = AllocationTable(moved[:, 0].copy(), moved[:, 2].copy(), device, None, live, None, before)
        return self.trace(source, allocations=table, noted=_noted(records))


def _check(records: np.ndarray, where: str) -> None:
    """Refuse actions that there are not, and bytes whose sign says otherwise than their action."""
    action, size = records[:, 1], records[:, 2]
    wrong = (action < _BEFORE) | (action > _DESTROY)
    wrong |= ((action <= _CREATE) & (size < 0)) | ((action == _DESTROY) & (size > 0))
    if wrong.any():
        row = int(np.argmax(wrong))
        raise InputError(
            f"{where}: record {row} must have an action from 1 to 4, and bytes below zero where it is 4 alone. "
            f"Got action {action[row]} with {size[row]} bytes."
        )


def _noted(records: np.ndarray) -> dict[str, object]:
    def of(action: int) -> np.ndarray:
        return records[records[:, 1] == action, 2]

    running = np.cumsum(records[:, 2])
    counts = {name: Counter(records[:, k].tolist()) for name, k in (("actions", 1), ("categories", 3))}
    return {
        "records": len(records),
        **{name: {str(key): count for key, count in sorted(found.items())} for name, found in counts.items()},
        "preexisting_bytes": int(of(_BEFORE).sum()),
        "created_bytes": int(of(_CREATE).sum()),
        "destroyed_bytes": -int(of(_DESTROY).sum()),
        "version_change_net_bytes": int(of(_CHANGE).sum()),
        "running_peak_bytes": int(running.max(initial=0)),
        "live_bytes_at_end": int(running[-1]) if len(running) else 0,
    }


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
