"""Formats that record memory alone: RMM's log and PyTorch's memory timeline.

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
from collections import Counter

import msgspec
import numpy as np

from workbench.errors import InputError, shown
from workbench.units import is_count
from workbench.workloads.allocations import AllocationTable, LiveBefore, MemoryRows, live_after
from workbench.workloads.importers.csv_tables import Header, csv_rows, has_header
from workbench.workloads.importers.importer import Importer
from workbench.workloads.importers.source import Source
from workbench.workloads.importers.trace import Trace

_COLUMNS = ("Thread", "Time", "Action", "Pointer", "Size", "Stream")
_ALLOCATE, _FREES, _FAILED = "allocate", ("free", "deallocate"), "allocate failure"
_NULL = ("(nil)", "nullptr")
_PER_THREAD = ("2", "0x2", "0x0000000000000002")
"""The handle that CUDA gives the per-thread default stream."""
_LEGACY = (*_NULL, *(f"{prefix}{number}" for prefix in ("", "0x", "0x000000000000000") for number in "01"))
"""The handles of the legacy default stream: null and 1, which RMM takes for the same."""
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
        default = tuple(number for (stream, _), number in queues.items() if stream in _LEGACY)
        return self.trace(source, allocations=rows.table()._replace(default_streams=default), noted=noted)


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
        **{name: {str(key): count for key, count in sorted(table.items())} for name, table in counts.items()},
        "preexisting_bytes": int(of(_BEFORE).sum()),
        "created_bytes": int(of(_CREATE).sum()),
        "destroyed_bytes": -int(of(_DESTROY).sum()),
        "version_change_net_bytes": int(of(_CHANGE).sum()),
        "running_peak_bytes": int(running.max(initial=0)),
        "live_bytes_at_end": int(running[-1]) if len(running) else 0,
    }
