"""Traces of AMD's profilers: rocprofv3's JSON, and Perfetto's of rocprofv3 and rocprofiler-systems.

JSON has every dispatch with its LDS and its kernel's registers. Grids are in work-items on each axis and become
workgroups rounded up; `group_segment_size` of a dispatch is the LDS of a workgroup, static and dynamic together. The
card's number is its agent's among the GPUs (`logical_node_type_id`). The contents are held while they are decoded:
memory is about their size and half a kilobyte a dispatch.

A packet of a Perfetto trace (`*.pftrace`, `perfetto-trace-*.proto`) may begin a slice of the category
`kernel_dispatch`, whose annotations are what rocprofiler-sdk knows of the dispatch: `begin_ns`, `end_ns`, `agent`,
`queue`, `grid_size` and `workgroup_size` (products over the axes, in work-items; rocprofiler-systems writes the axes),
`group_segment_size` or `LDS_Block_Size`, and registers. Names are numbers that each sequence of packets interns for
itself. With products alone, workgroups are the grid over the workgroup, rounded up. Packets may be compressed (zlib);
other packets, also those of other programs, are skipped.
"""

from __future__ import annotations

import re
import zlib
from collections import Counter
from collections.abc import Iterator
from typing import Any, NamedTuple

import msgspec

from workbench.errors import InputError, shown
from workbench.units import kib, workgroups_for
from workbench.workloads.importers.binary_formats import (
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
from workbench.workloads.importers.importer import Importer
from workbench.workloads.importers.source import Source, most_bytes
from workbench.workloads.importers.trace import Card, Trace
from workbench.workloads.kernels import KernelRows, shape_of

_GPU = 2


class Handle(msgspec.Struct):
    """A number by which a process names something."""

    handle: int


class _Axes(msgspec.Struct):
    x: int
    y: int
    z: int


class _Dispatched(msgspec.Struct):
    agent_id: Handle
    queue_id: Handle
    kernel_id: int
    workgroup_size: _Axes
    grid_size: _Axes
    group_segment_size: int | None = None


class _Correlation(msgspec.Struct):
    internal: int


class _Record(msgspec.Struct):
    start_timestamp: int
    end_timestamp: int
    dispatch_info: _Dispatched
    stream_id: Handle | None = None
    correlation_id: _Correlation | None = None


class _Symbol(msgspec.Struct):
    kernel_id: int
    kernel_name: str
    formatted_kernel_name: str = ""
    arch_vgpr_count: int | None = None
    accum_vgpr_count: int | None = None
    sgpr_count: int | None = None


class AgentFacts(msgspec.Struct):
    """What rocprofiler-sdk knows of a processor."""

    cu_count: int | None = None
    simd_per_cu: int | None = None
    max_waves_per_simd: int | None = None
    wave_front_size: int | None = None
    lds_size_in_kb: int | None = None


class _Agent(AgentFacts, kw_only=True):
    id: Handle
    type: int
    name: str = ""
    product_name: str = ""
    logical_node_type_id: int | None = None


class _Buffers(msgspec.Struct):
    kernel_dispatch: list[_Record] = []


class _Process(msgspec.Struct):
    agents: list[_Agent]
    kernel_symbols: list[_Symbol]
    buffer_records: _Buffers


class _File(msgspec.Struct):
    processes: list[_Process] = msgspec.field(name="rocprofiler-sdk-tool")


_file = msgspec.json.Decoder(_File)


class Rocprofv3(Importer):
    """Every process of a file; their dispatches one after the other."""

    format = "rocprofv3_json"
    description = "JSON output of AMD's rocprofv3"
    counted = "dispatches"

    def recognises(self, head: bytes) -> bool:
        return head.lstrip()[:1] == b"{" and b'"rocprofiler-sdk-tool"' in head

    def read(self, source: Source) -> Trace:
        try:
            processes = _file.decode(source.whole()).processes
        except (msgspec.DecodeError, UnicodeDecodeError) as problem:
            raise InputError(f"{source.where}: is not as rocprofv3 writes it ({problem}).") from None
        rows = KernelRows()
        for process in processes:
            _add(process, rows, source.where)
        cards = {number: agent for process in processes for number, agent in _gpus(process)}
        infos = [r.dispatch_info for p in processes for r in p.buffer_records.kernel_dispatch]
        return self.trace(
            source,
            rows.table(),
            cards=tuple(card_of_agent(k, it.name, it.product_name, it) for k, it in sorted(cards.items())),
            noted={
                "kernel_ids": len({info.kernel_id for info in infos}),
                "queues": len({(info.agent_id.handle, info.queue_id.handle) for info in infos}),
            },
        )


def _add(process: _Process, rows: KernelRows, where: str) -> None:
    symbols = {symbol.kernel_id: symbol for symbol in process.kernel_symbols}
    cards = {agent.id.handle: number for number, agent in _gpus(process)}
    for place, record in enumerate(process.buffer_records.kernel_dispatch):
        info = record.dispatch_info
        symbol, card = symbols.get(info.kernel_id), cards.get(info.agent_id.handle)
        if symbol is None or card is None:
            what = f"kernel {info.kernel_id}" if symbol is None else f"GPU agent {info.agent_id.handle}"
            raise InputError(f"{where}: dispatch {place} names {what}, which the file does not list.")
        block = (info.workgroup_size.x, info.workgroup_size.y, info.workgroup_size.z)
        if min(block) < 1:
            raise InputError(f"{where}: dispatch {place} has the workgroup size {block}; each axis must be 1 or more.")
        grid = (info.grid_size.x, info.grid_size.y, info.grid_size.z)
        rows.add(
            symbol.formatted_kernel_name or symbol.kernel_name,
            **shape_of(grid, block, in_work_items=True),
            start_ns=record.start_timestamp,
            duration_ns=record.end_timestamp - record.start_timestamp,
            device=card,
            stream=record.stream_id.handle if record.stream_id else None,
            shared_bytes=info.group_segment_size,
            vgprs=symbol.arch_vgpr_count,
            accum_vgprs=symbol.accum_vgpr_count,
            sgprs=symbol.sgpr_count,
            correlation=record.correlation_id.internal if record.correlation_id else None,
            queue=info.queue_id.handle,
        )


def _gpus(process: _Process) -> list[tuple[int, _Agent]]:
    """Return the GPU agents, numbered as the runtime numbers them, or in the order of the file."""
    gpus = [agent for agent in process.agents if agent.type == _GPU]
    return [(k if a.logical_node_type_id is None else a.logical_node_type_id, a) for k, a in enumerate(gpus)]


def card_of_agent(number: int, name: str, product: str, agent: AgentFacts) -> Card:
    """Return a GPU as AMD's libraries describe it."""
    simds, waves = agent.simd_per_cu, agent.max_waves_per_simd
    return Card(
        number=number,
        name=product or name,
        architecture=name or None,
        compute_units=agent.cu_count,
        wave_size=agent.wave_front_size,
        simds_a_unit=simds,
        waves_a_unit=simds * waves if simds and waves else None,
        shared_memory_bytes=None if agent.lds_size_in_kb is None else kib(agent.lds_size_in_kb),
    )


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
        told = dict(fields(packet))
        if 50 in told:
            for inner in self._unpacked(bytes_of(told[50])):
                self.take(inner)
        sequence = whole_of(told.get(10, 0))
        if whole_of(told.get(13, 0)) & _CLEARED or sequence not in self._sequences:
            self._sequences[sequence] = _Names()
        names = self._sequences[sequence]
        if 12 in told:
            names.take(bytes_of(told[12]))
        if 59 in told:
            names.default_track = _default_track(bytes_of(told[59]))
        if 60 in told:
            track = dict(fields(bytes_of(told[60])))
            name = track.get(2, track.get(10, b""))
            if 1 in track and isinstance(name, bytes):
                self._tracks[whole_of(track[1])] = text_of(name)
        if 11 in told:
            begun = _slice(bytes_of(told[11]), names)
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
        told, place = begun.annotations, f"{self._where}: dispatch {self.counts['dispatches']}"
        self.counts["dispatches"] += 1
        start, end = _whole(told, "begin_ns", place), _whole(told, "end_ns", place)
        if start is None or end is None:
            self.counts["without_times"] += 1
            return
        if "agent" in told:
            self.agents.add(str(told["agent"]))
        numbers: dict[str, Any] = {field: _first(told, names, place) for field, names in _ANNOTATIONS.items()}
        self.rows.add(
            begun.name,
            **_shape(told, place),
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


def _slice(event: bytes, names: _Names) -> _Slice | None:
    """Return the slice that an event begins, None for any other event."""
    told = named_fields(event, _EVENT)
    if told.get("kind") != _BEGINS:
        return None
    of_category, of_event = names.of[names.CATEGORIES], names.of[names.EVENTS]
    categories = [of_category.get(iid, "") for iids in told["iids[]"] for iid in iids] + told["categories[]"]
    name = told["name"] if "name" in told else of_event.get(told.get("name_iid", 0), "")
    annotations = dict(_annotation(message, names) for message in told["annotations[]"])
    return _Slice(name, categories, told.get("track", names.default_track), annotations)


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


def _shape(told: dict[str, Any], place: str) -> dict[str, Any]:
    """Return workgroups, threads of one, and its axes where they are told."""
    grid, block = (_axes(told.get(key)) for key in ("grid_size", "workgroup_size"))
    if grid and block and min(block) > 0:
        return shape_of(grid, block, in_work_items=True)
    items, threads = _whole(told, "grid_size", place), _whole(told, "workgroup_size", place)
    workgroups = None if items is None or not threads else workgroups_for(items, threads)
    return {"workgroups": workgroups, "threads": threads or None}


def _axes(value: Any) -> tuple[int, int, int] | None:
    result = _AXES.fullmatch(value) if isinstance(value, str) else None
    return (int(result[1]), int(result[2]), int(result[3])) if result else None


def _first(told: dict[str, Any], names: tuple[str, ...], place: str) -> int | None:
    """Return the first of some annotations that is there, as a whole number."""
    return next((found for name in names if (found := _whole(told, name, place)) is not None), None)


def _whole(told: dict[str, Any], name: str, place: str) -> int | None:
    """Return an annotation as a whole number: it may be a text such as `Agent 2`."""
    value = told.get(name)
    if value is None or isinstance(value, int):
        return value
    match = _NUMBER.fullmatch(value)
    if match is None:
        raise InputError(f"{place}: {name} must be a whole number. Got {shown(value)}.")
    return int(match[1])
