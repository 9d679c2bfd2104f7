"""Perfetto traces of AMD's rocprofv3 and rocprofiler-systems.

A packet of a Perfetto trace (`*.pftrace`, `perfetto-trace-*.proto`) may begin a slice of the category
`kernel_dispatch`. Its annotations are what rocprofiler-sdk knows of the dispatch. They are `begin_ns`, `end_ns`,
`agent`, `queue`, `grid_size` and `workgroup_size` (products over the axes, in work-items; rocprofiler-systems writes
the axes), `group_segment_size` or `LDS_Block_Size`, and registers. Names are numbers that each sequence of packets
interns for itself. With products alone, workgroups are the grid over the workgroup, rounded up. Packets may be
compressed (zlib); other packets, also those of other programs, are skipped.
"""

from __future__ import annotations

import re
import zlib
from collections import Counter
from collections.abc import Iterator
from typing import Any, NamedTuple

from workbench.errors import InputError, shown
from workbench.units import workgroups_for
from workbench.workloads.importers.importer import Importer
from workbench.workloads.importers.protobuf import (
    Schema,
    WireError,
    bytes_of,
    damaged,
    fields,
    named_fields,
    signed_of,
    text_of,
    top_fields,
    varint,
    whole_of,
)
from workbench.workloads.importers.source import Source, most_bytes
from workbench.workloads.importers.trace import Trace
from workbench.workloads.kernels import KernelRows, shape_of

_DISPATCH = "kernel_dispatch"
_BEGINS = 1
_CLEARED = 1
_AXES = re.compile(r"\(?\s*(\d{1,18})\s*,\s*(\d{1,18})\s*,\s*(\d{1,18})\s*\)?", re.ASCII)
_NUMBER = re.compile(r"\D*(\d{1,18})\D*", re.ASCII)
_IN_TRACK = re.compile(r"AGENT \[(\d{1,9})\]", re.IGNORECASE | re.ASCII)
_ANNOTATIONS = {
    "stream": ("stream_ID", "stream_id", "stream"),
    "shared_bytes": ("LDS_Block_Size", "lds_block_size", "group_segment_size"),
    "vgprs": ("VGPR_Count", "arch_vgpr_count"),
    "accum_vgprs": ("Accum_VGPR_Count", "accum_vgpr_count"),
    "sgprs": ("SGPR_Count", "sgpr_count"),
    "correlation": ("corr_id",),
    "queue": ("queue", "queue_id"),
}


class Perfetto(Importer):
    """Read packet by packet; memory holds the interned names and the columns of the kernels."""

    format = "perfetto_rocm"
    description = "a Perfetto trace (.pftrace) of AMD's rocprofv3 or rocprofiler-systems"
    counted = "dispatches"

    def recognises(self, head: bytes) -> bool:
        return _is_packet(head)

    def read(self, source: Source) -> Trace:
        reader = _Reader(source)
        try:
            for number, packet in top_fields(source):
                if number == 1:
                    reader.take(packet)
        except WireError:
            raise damaged(source) from None
        return self.trace(
            source,
            reader.rows.table(),
            noted={
                "packets": reader.counts["packets"],
                "slices": reader.counts["slices"],
                "agents": sorted(reader.agents),
                **({"dispatches_without_times": lost} if (lost := reader.counts["without_times"]) else {}),
            },
        )


def _is_packet(head: bytes) -> bool:
    """Return whether contents begin with a packet of a trace: a field that only packets have, of the right type."""
    try:
        if not head.startswith(b"\x0a"):
            return False
        length, place = varint(head, 1)
        first = head[place : place + length]
        if length == 0:
            return False
        result = dict(fields(first[:4096] if len(first) < length else first))
    except WireError:
        return False
    return isinstance(result.get(10), int) or isinstance(result.get(3), int) or isinstance(result.get(8), int)


class _Names:
    """What a sequence of packets has interned so far: kinds of names, each by number."""

    CATEGORIES, EVENTS, ANNOTATIONS, VALUES = 1, 2, 3, 29

    def __init__(self) -> None:
        self.of: dict[int, dict[int, str]] = {kind: {} for kind in (1, 2, 3, 29)}
        self.default_track = 0

    def take(self, interned: bytes) -> None:
        """Take the names of a packet."""
        for kind, entry in fields(interned):
            if kind in self.of:
                reply = dict(fields(bytes_of(entry)))
                name = reply.get(2, b"")
                self.of[kind][whole_of(reply.get(1, 0))] = text_of(name) if isinstance(name, bytes) else ""


class _Slice(NamedTuple):
    """The beginning of a slice."""

    name: str
    categories: list[str]
    track: int
    annotations: dict[str, Any]


class _Reader:
    """Gathers dispatches from packets."""

    def __init__(self, source: Source) -> None:
        self.rows = KernelRows()
        self.counts = Counter[str]()
        self.agents: set[str] = set()
        self._where = source.where
        self._sequences: dict[int, _Names] = {}
        self._tracks: dict[int, str] = {}
        self._unpacked_left = most_bytes()

    def take(self, packet: bytes) -> None:
        """Take a packet of any kind."""
        self.counts["packets"] += 1
        message = dict(fields(packet))
        if 50 in message:
            for inner in self._unpacked(bytes_of(message[50])):
                self.take(inner)
        sequence = whole_of(message.get(10, 0))
        if whole_of(message.get(13, 0)) & _CLEARED or sequence not in self._sequences:
            self._sequences[sequence] = _Names()
        names = self._sequences[sequence]
        if 12 in message:
            names.take(bytes_of(message[12]))
        if 59 in message:
            names.default_track = _default_track(bytes_of(message[59]))
        if 60 in message:
            track = dict(fields(bytes_of(message[60])))
            name = track.get(2, track.get(10, b""))
            if 1 in track and isinstance(name, bytes):
                self._tracks[whole_of(track[1])] = text_of(name)
        if 11 in message:
            begun = _slice(bytes_of(message[11]), names)
            self.counts["slices"] += begun is not None
            if begun is not None and any(category.endswith(_DISPATCH) for category in begun.categories):
                self._dispatch(begun)

    def _unpacked(self, compressed: bytes) -> Iterator[bytes]:
        """Yield the packets of a compressed one."""
        unpacker = zlib.decompressobj()
        try:
            contents = unpacker.decompress(compressed, min(self._unpacked_left, len(compressed) * 1100 + 64))
        except zlib.error:
            raise WireError from None
        self._unpacked_left -= len(contents)
        if unpacker.unconsumed_tail or self._unpacked_left <= 0:
            raise InputError(f"{self._where}: its packets are larger once unpacked than is read into memory.")
        yield from (bytes_of(value) for number, value in fields(contents) if number == 1)

    def _dispatch(self, begun: _Slice) -> None:
        annotations, place = begun.annotations, f"{self._where}: dispatch {self.counts['dispatches']}"
        self.counts["dispatches"] += 1
        start, end = _whole(annotations, "begin_ns", place), _whole(annotations, "end_ns", place)
        if start is None or end is None:
            self.counts["without_times"] += 1
            return
        if "agent" in annotations:
            self.agents.add(str(annotations["agent"]))
        numbers: dict[str, Any] = {field: _first(annotations, names, place) for field, names in _ANNOTATIONS.items()}
        self.rows.add(
            begun.name,
            **_shape(annotations, place),
            start_ns=start,
            duration_ns=end - start,
            device=self._device(begun, place),
            **numbers,
        )

    def _device(self, begun: _Slice, place: str) -> int:
        """Return the number of the agent: `2`, `Agent 2`, `GPU 0`, else that of the track, else 0."""
        agent = _first(begun.annotations, ("agent", "agent_id", "device"), place)
        if agent is not None:
            return agent
        match = _IN_TRACK.search(self._tracks.get(begun.track, ""))
        return int(match[1]) if match else 0


def _numbers(value: int | bytes) -> list[int]:
    """Return the numbers of a repeated field, packed or not."""
    if isinstance(value, int):
        return [value]
    result, place = [], 0
    while place < len(value):
        number, place = varint(value, place)
        result.append(number)
    return result


_EVENT: Schema = {
    3: ("iids[]", _numbers),
    4: ("annotations[]", bytes_of),
    9: ("kind", whole_of),
    10: ("name_iid", whole_of),
    11: ("track", whole_of),
    22: ("categories[]", text_of),
    23: ("name", text_of),
}


def _slice(event: bytes, names: _Names) -> _Slice | None:
    """Return the slice that an event begins, None for any other event."""
    entries = named_fields(event, _EVENT)
    if entries.get("kind") != _BEGINS:
        return None
    of_category, of_event = names.of[names.CATEGORIES], names.of[names.EVENTS]
    categories = [of_category.get(iid, "") for iids in entries["iids[]"] for iid in iids] + entries["categories[]"]
    name = entries["name"] if "name" in entries else of_event.get(entries.get("name_iid", 0), "")
    annotations = dict(_annotation(message, names) for message in entries["annotations[]"])
    return _Slice(name, categories, entries.get("track", names.default_track), annotations)


def _annotation(message: bytes, names: _Names) -> tuple[str, Any]:
    """Return name and value of an annotation: a number or a text; None for what is nested."""
    name = ""
    result: int | str | None = None
    for number, value in fields(message):
        if number == 1:
            name = names.of[names.ANNOTATIONS].get(whole_of(value), "")
        elif number == 10:
            name = text_of(value)
        elif number in (2, 3, 7):
            result = whole_of(value)
        elif number == 4:
            result = signed_of(value)
        elif number == 6:
            result = text_of(value)
        elif number == 17:
            result = names.of[names.VALUES].get(whole_of(value), "")
    return name, result


def _default_track(defaults: bytes) -> int:
    """Return the track of events that name none."""
    of_events = dict(fields(defaults)).get(11, b"")
    return whole_of(dict(fields(bytes_of(of_events))).get(11, 0))


def _shape(annotations: dict[str, Any], place: str) -> dict[str, Any]:
    """Return workgroups, threads of one, and its axes where they are told."""
    grid, block = (_axes(annotations.get(key)) for key in ("grid_size", "workgroup_size"))
    if grid and block and min(block) > 0:
        return shape_of(grid, block, in_work_items=True)
    items, threads = _whole(annotations, "grid_size", place), _whole(annotations, "workgroup_size", place)
    workgroups = None if items is None or not threads else workgroups_for(items, threads)
    return {"workgroups": workgroups, "threads": threads or None}


def _axes(value: Any) -> tuple[int, int, int] | None:
    result = _AXES.fullmatch(value) if isinstance(value, str) else None
    return (int(result[1]), int(result[2]), int(result[3])) if result else None


def _first(annotations: dict[str, Any], names: tuple[str, ...], place: str) -> int | None:
    """Return the first of some annotations that is there, as a whole number."""
    return next((number for name in names if (number := _whole(annotations, name, place)) is not None), None)


def _whole(annotations: dict[str, Any], name: str, place: str) -> int | None:
    """Return an annotation as a whole number: it may be a text such as `Agent 2`."""
    value = annotations.get(name)
    if value is None or isinstance(value, int):
        return value
    match = _NUMBER.fullmatch(value)
    if match is None:
        raise InputError(f"{place}: {name} must be a whole number. Got {shown(value)}.")
    return int(match[1])
