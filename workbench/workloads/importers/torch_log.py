"""The columns of a PyTorch memory snapshot: history and segments of each card's allocator, and who asked for memory."""

from __future__ import annotations

import re
from array import array
from collections import Counter
from collections.abc import Mapping
from typing import Annotated, Any, NamedTuple

import msgspec
import numpy as np

from workbench.errors import InputError
from workbench.workloads.allocator_log import (
    ACTIONS,
    ACTIVE,
    AWAITING,
    INACTIVE,
    NO_POOL,
    OOM,
    OTHER,
    AllocatorLog,
    Blocks,
    Events,
    Segments,
)
from workbench.workloads.importers.stack_sites import Sites

PIECE = 4096
"""Events that are checked and copied at a time."""
_NUMBERS = {name: number for number, name in enumerate(ACTIONS)}
_Bytes = Annotated[int, msgspec.Meta(ge=0)]
_LIVE = re.compile(r"active_(pending|awaiting)?")
"""A block's state: active_allocated, active_pending_free (old), active_awaiting_free, or inactive."""


_NO_EVENTS = Events(*(np.zeros(0, kind) for kind in (np.int8, *(np.int64,) * 4, np.int32, np.int32)))


class _Once(msgspec.Struct):
    """A use of a block, in snapshots before PyTorch 2.1."""

    real_size: _Bytes
    frames: Any = None


class _BlockOfSegment(msgspec.Struct):
    size: _Bytes
    state: str
    address: int = -1
    requested_size: int = -1
    history: list[_Once] = []
    frames: Any = None

    @property
    def requested(self) -> int:
        if self.requested_size >= 0:
            return self.requested_size
        return self.history[0].real_size if self.history else self.size

    @property
    def stack(self) -> Any:
        return self.frames or (self.history[0].frames if self.history else None)


class _Segment(msgspec.Struct):
    address: int
    total_size: _Bytes
    blocks: list[_BlockOfSegment] = []
    device: int = 0
    segment_type: str = ""
    stream: int = 0
    segment_pool_id: tuple[int, int] = NO_POOL
    is_expandable: bool = False
    frames: Any = None


class _Event(msgspec.Struct):
    action: str
    addr: int = -1
    size: _Bytes = 0
    stream: int = 0
    time_us: int = -1
    device_free: int = -1
    pool_id: Any = None
    frames: Any = None


class _Snapshot(msgspec.Struct):
    """The outside alone; what the lists hold is checked piece by piece."""

    segments: list[Any]
    device_traces: list[list[Any]]
    allocator_settings: Any = None


class TorchLogs(NamedTuple):
    """What a snapshot holds."""

    logs: tuple[AllocatorLog, ...]
    """One a device that has a history or a segment, in the order of devices."""
    of_allocator: bool
    """Whether the segments are what an allocator got from its driver; they are all small or large then. A snapshot
    that was made of a profile has one segment a card, which spans all addresses that were seen."""
    actions: Mapping[str, int]
    """How many events there are of each action, those included that say nothing of memory."""


def torch_logs(values: Any, where: str, most: int, gathered: EventRows | None = None) -> TorchLogs:
    """Return the logs of a snapshot's values.

    Parameters
    ----------
    most : int
        Upper bound on the number of events, segments and blocks: the bytes of the file, as each takes some of its own.
    gathered : EventRows, optional
        The first device's events, where they were read piece by piece; its list is empty then.

    Raises
    ------
    InputError
        The values are not those of a snapshot, or name the same lists again and again.
    """
    try:
        outside = msgspec.convert(values, _Snapshot)
        _check_count(outside, where, most)
        sites = Sites()
        segments, blocks, pools, typed = _segments(outside.segments, sites)
        settings = outside.allocator_settings if isinstance(outside.allocator_settings, Mapping) else {}
        rows = [EventRows(device, where) for device in range(len(outside.device_traces))]
        rows[:1] = [gathered] if gathered else rows[:1]
        for own, events in zip(rows, outside.device_traces, strict=True):
            own.extend(events)
        traces = [own.events(sites, pools) for own in rows]
        counts = sum((own.counts for own in rows), Counter[str]())
    except (msgspec.ValidationError, RecursionError) as problem:
        raise InputError(f"{where}: is no memory snapshot of PyTorch ({problem}).") from None
    devices = sorted({*range(len(traces)), *segments})
    logs = (
        AllocatorLog(
            device=device,
            events=traces[device] if device < len(traces) else _NO_EVENTS,
            segments=_columns(Segments, segments.get(device, [])),
            blocks=_columns(Blocks, blocks.get(device, [])),
            pools=tuple(pools),
            sites=tuple(sites.names),
            stacks=tuple(sites.stacks),
            callers=tuple(sites.callers),
            settings=settings,
        )
        for device in devices
    )
    return TorchLogs(tuple(logs), typed, dict(sorted(counts.items())))


def _check_count(outside: _Snapshot, where: str, most: int) -> None:
    """Refuse lists that are longer, taken together, than the file could say one by one."""
    inner = (segment.get("blocks") for segment in outside.segments if isinstance(segment, dict))
    lists = [outside.segments, *outside.device_traces, *(it for it in inner if isinstance(it, list))]
    if sum(map(len, lists)) > most:
        raise InputError(f"{where}: names the same lists again and again, more than its {most:,} bytes could say.")


def _segments(
    raw_segments: list[Any], sites: Sites
) -> tuple[dict[int, list[Any]], dict[int, list[Any]], dict[tuple[int, int], int], bool]:
    """Return the rows of segments and of blocks by device, the pools that they are in, and whether an allocator had
    them."""
    segments: dict[int, list[Any]] = {}
    blocks: dict[int, list[Any]] = {}
    pools, typed = {NO_POOL: 0}, True
    for raw in raw_segments:
        segment = msgspec.convert(raw, _Segment)
        typed = typed and bool(segment.segment_type)
        pool = pools.setdefault(segment.segment_pool_id, len(pools))
        rows = segments.setdefault(segment.device, [])
        own = blocks.setdefault(segment.device, [])
        at = segment.address
        for block in segment.blocks:
            place = at if block.address < 0 else block.address
            own.append((len(rows), place, block.size, block.requested, _state(block.state), sites.number(block.stack)))
            at += block.size
        small = segment.segment_type == "small"
        site = sites.number(segment.frames)
        rows.append((segment.address, segment.total_size, segment.stream, small, segment.is_expandable, pool, site))
    return segments, blocks, pools, typed


def _state(text: str) -> int:
    live = _LIVE.match(text)
    if live is None:
        return INACTIVE
    return AWAITING if live[1] else ACTIVE


def _columns(kind: Any, rows: list[Any]) -> Any:
    columns = zip(*rows, strict=True) if rows else [()] * len(kind._fields)
    return kind(*(np.array(column, np.int64) for column in columns))


class EventRows:
    """The events of one device as columns, piece by piece."""

    def __init__(self, device: int, where: str) -> None:
        self.counts = Counter[str]()
        self._device, self._where = device, where
        self._columns = [array(code) for code in "bqqqqii"]
        self._sites = Sites()
        self._pools: dict[tuple[int, int], int] = {}

    def extend(self, events: list[Any]) -> None:
        """Add events, checked, so many at a time: whole they would take as much memory once more.

        Raises
        ------
        InputError, msgspec.ValidationError
            One of them is no event.
        """
        for start in range(0, len(events), PIECE):
            try:
                piece = msgspec.convert(events[start : start + PIECE], list[_Event])
            except msgspec.ValidationError as problem:
                raise msgspec.ValidationError(self._whole_path(str(problem))) from None
            self._add(piece)

    def events(self, sites: Sites, pools: dict[tuple[int, int], int]) -> Events:
        """Return the columns, with the numbers that the program's places and the private pools have among others."""
        own = self._sites
        number = {
            5: [sites.add(*it) for it in zip(own.names, own.stacks, own.callers, strict=True)],
            6: [pools.setdefault(pool, len(pools)) for pool in self._pools],
        }
        columns = [np.array(column) for column in self._columns]
        for place, numbers in number.items():
            known = columns[place] >= 0
            columns[place][known] = np.array(numbers, np.int32)[columns[place][known]]
        return Events(*columns)

    def _add(self, piece: list[_Event]) -> None:
        self.counts.update(event.action for event in piece)
        numbers = [_NUMBERS.get(event.action, OTHER) for event in piece]
        for number, event in zip(numbers, piece, strict=True):
            if number < OOM and event.addr < 0:
                raise InputError(
                    f"{self._where}: an event {event.action} of device {self._device} has no address; the file is "
                    "damaged."
                )
        number_of, pool_of = self._sites.number, self._pool
        columns = (
            numbers,
            [it.device_free if number == OOM else it.addr for number, it in zip(numbers, piece, strict=True)],
            [event.size for event in piece],
            [event.stream for event in piece],
            [event.time_us for event in piece],
            [number_of(event.frames) for event in piece],
            [-1 if event.pool_id is None else pool_of(event.pool_id) for event in piece],
        )
        for column, values in zip(self._columns, columns, strict=True):
            column.extend(values)

    def _pool(self, named: Any) -> int:
        """Return the number of a private pool by its id, two numbers; -1 = it is none."""
        if not isinstance(named, (tuple, list)) or len(named) != 2 or not all(isinstance(it, int) for it in named):
            return -1
        return self._pools.setdefault((named[0], named[1]), len(self._pools))

    def _whole_path(self, text: str) -> str:
        """Return the text on an event, with its place in the snapshot instead of that in the piece."""
        before = len(self._columns[0])
        return re.sub(r"`\$\[(\d+)\]", lambda at: f"`$.device_traces[{self._device}][{before + int(at[1])}]", text)


class Streamed(EventRows):
    """The same of a list that a pickle still fills: what was read of its events is let go of at once.

    An event that stands in the file twice is empty the second time, and then no event.
    """

    def extend(self, events: list[Any]) -> None:
        super().extend(events)
        for event in events:
            event.clear()
