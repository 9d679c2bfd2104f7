"""The log of RMM's logging adaptor: CSV with the columns Thread,Time,Action,Pointer,Size,Stream.

Times are those of a day, with microseconds; a log that runs past midnight goes on with the next day. A request that
failed is a refusal: the program that was recorded went on without it. Releases of RMM's own logs are called `free`,
its manual says `deallocate`; addresses come with or without `0x` (RMM 0.15 to 25, logging_resource_adaptor), and the
null pointer, which stands for no bytes, also as `(nil)` and `nullptr`. The per-thread default stream is another one in
every thread.
"""

from __future__ import annotations

import csv
import re
from collections import Counter
from collections.abc import Iterator

from workbench.errors import InputError, shown
from workbench.units import is_count
from workbench.workloads.importers.importer import Importer
from workbench.workloads.importers.memory_rows import MemoryRows, memory_trace
from workbench.workloads.importers.source import Source
from workbench.workloads.importers.trace import Trace

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
    says = "a CSV log of RMM (Thread,Time,Action,Pointer,Size,Stream)"

    def recognises(self, head: bytes) -> bool:
        header = head.removeprefix(b"\xef\xbb\xbf").split(b"\n", 1)[0].decode(errors="replace")
        return tuple(name.strip() for name in header.strip().split(",")) == _COLUMNS

    def read(self, source: Source) -> Trace:
        rows, counts = MemoryRows(), Counter[str]()
        threads, streams, queues = set[str](), set[str](), dict[tuple[str, str], int]()
        clock = _Clock()
        for where, row in _rows(source):
            thread, time, action, pointer, size, stream = (field.strip() for field in row)
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
        return memory_trace(
            source.path, self.format, rows.table(), {**noted, "threads": len(threads), "streams": len(streams)}
        )


def _rows(source: Source) -> Iterator[tuple[str, list[str]]]:
    """Yield every row below the header with its place."""
    lines = csv.reader(source.lines(), strict=True)
    try:
        next(lines)
        for row in lines:
            where = f"{source.where}: line {lines.line_num}"
            if row and len(row) != len(_COLUMNS):
                raise InputError(f"{where}: must have {len(_COLUMNS)} fields ({','.join(_COLUMNS)}). Got {len(row)}.")
            if row:
                yield where, row
    except csv.Error as problem:
        raise InputError(f"{source.where}: line {lines.line_num} is no CSV ({problem}).") from None


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
