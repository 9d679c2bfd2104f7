"""What the profilers of JAX and TensorFlow write: XLA's Chrome traces (`*.trace.json.gz`) and `*.xplane.pb`.

In the Chrome trace a process is a card (`/device:GPU:0`), a thread a stream, an event a kernel if its arguments have
`kernel_details`. It holds at most a million events, the rest is cut by the profiler; the `.xplane.pb` beside it has
all.

The `.xplane.pb` is a protobuf `XSpace` of planes, lines and events: a plane is a card, a line a stream, an event of a
line a kernel if it has `kernel_details`. Numbers of names and statistics are resolved by the tables of the plane. Times
are picoseconds from the start of the line, which is in nanoseconds; they are rounded to nanoseconds. The schema is read
as it is published (tsl/profiler/protobuf/xplane.proto); other fields are skipped.

`kernel_details` says how a kernel was launched, as one line of `key:value` pairs. On NVIDIA it has registers, static
and dynamic shared memory, grid in thread blocks and block; on AMD `group_mem`, the LDS of a workgroup, and the grid in
workgroups too. Older versions of XLA wrote NVIDIA's line for AMD's cards, where registers and shared memory are then
whatever stood in memory (`regs:2191500840`): such values are left out and counted.
"""

from __future__ import annotations

import re
from collections import Counter
from typing import Any, NamedTuple

import msgspec
import numpy as np

from workbench.errors import InputError, shown
from workbench.workloads.importers.binary_formats import (
    WireError,
    bytes_of,
    damaged,
    fields,
    signed_of,
    text_of,
    top_fields,
    varint,
    whole_of,
)
from workbench.workloads.importers.importer import Card, Importer, Trace
from workbench.workloads.importers.kineto_events import EMPTY, decoded, nanoseconds
from workbench.workloads.importers.source import Source
from workbench.workloads.importers.text_formats import JsonArray
from workbench.workloads.kernels import KernelRows, KernelTable

_SIGNS = (b'"kernel_details"', b'"/device:GPU:', b'"highres-ticks"')
_GPU = re.compile(r"/device:GPU:(\d{1,6})", re.ASCII)
_STREAM = re.compile(r"Stream #(\d{1,12})", re.ASCII)
_OPERATIONS = {"memcpy_details": "memcpys", "memset_details": "memsets"}

MOST_REGISTERS = 512
"""Of a thread: 255 on NVIDIA, 512 with accumulation registers on AMD."""
_MOST_DIGITS = 18


class KernelDetails(NamedTuple):
    """How a kernel was launched; None is not told."""

    grid: tuple[int, int, int] | None
    block: tuple[int, int, int] | None
    shared_bytes: int | None
    registers: int | None
    implausible: bool
    """Whether registers and shared memory were told and cannot be true."""

    @property
    def workgroups(self) -> int | None:
        """Return the workgroups of the grid."""
        return self.grid and self.grid[0] * self.grid[1] * self.grid[2]

    @property
    def threads(self) -> int | None:
        """Return the threads of a workgroup."""
        return self.block and self.block[0] * self.block[1] * self.block[2]


def kernel_details(line: str, where: str) -> KernelDetails:
    """Return what a line tells.

    Raises
    ------
    InputError
        A value is no whole number, or grid or block are no three of them.

    Examples
    --------
    >>> kernel_details("regs:32 static_shared:1024 dynamic_shared:512 grid:16,2,1 block:128,1,1 occ_pct:50", "t")[:4]
    ((16, 2, 1), (128, 1, 1), 1536, 32)
    >>> kernel_details(" grid:6240,1,1 block:256,1,1 private_mem:0 group_mem:2112 occ_pct:0", "t").shared_bytes
    2112
    """
    reply = dict(part.partition(":")[::2] for part in line.split())
    registers = _whole_number(reply, "regs", where)
    shared = _shared(reply, where)
    implausible = registers is not None and registers > MOST_REGISTERS
    return KernelDetails(
        grid=_triple(reply, "grid", where),
        block=_triple(reply, "block", where),
        shared_bytes=None if implausible else shared,
        registers=None if implausible else registers,
        implausible=implausible,
    )


def _shared(told: dict[str, str], where: str) -> int | None:
    """Return the shared memory of a workgroup: AMD's, NVIDIA's static and dynamic together, or as XLA of 2021 did."""
    for whole in ("group_mem", "shared"):
        if whole in told:
            return _whole_number(told, whole, where)
    static, dynamic = _whole_number(told, "static_shared", where), _whole_number(told, "dynamic_shared", where)
    return None if static is None or dynamic is None else static + dynamic


def _whole_number(told: dict[str, str], key: str, where: str) -> int | None:
    return _digits(told[key], key, where) if key in told else None


def _triple(told: dict[str, str], key: str, where: str) -> tuple[int, int, int] | None:
    if key not in told:
        return None
    parts = told[key].split(",")
    if len(parts) != 3:
        raise InputError(f"{where}: {key} of kernel_details must be three whole numbers. Got {shown(told[key])}.")
    x, y, z = (_digits(part, key, where) for part in parts)
    return x, y, z


def _digits(text: str, key: str, where: str) -> int:
    if not (text.isascii() and text.isdigit()) or len(text) > _MOST_DIGITS:
        raise InputError(f"{where}: {key} of kernel_details must be a whole number. Got {shown(text)}.")
    return int(text)


class _Args(msgspec.Struct):
    """The arguments that are used; XLA writes all values as texts."""

    kernel_details: str | None = None
    memcpy_details: str | None = None
    memset_details: str | None = None
    correlation_id: str | int | None = None
    name: str | None = None


class _Event(msgspec.Struct):
    ph: str | None = None
    pid: int = 0
    tid: int = 0
    name: str | None = None
    ts: msgspec.Raw = EMPTY
    dur: msgspec.Raw = EMPTY
    args: _Args | None = None


_events = msgspec.json.Decoder(list[_Event])


def is_xla_trace(head: bytes) -> bool:
    """Return whether contents begin as a Chrome trace of XLA's."""
    return head.lstrip()[:1] == b"{" and b'"traceEvents"' in head and any(sign in head for sign in _SIGNS)


class JaxTrace(Importer):
    """Read in pieces: memory holds the columns of the kernels, not the file."""

    format = "jax_trace_json"
    says = "*.trace.json.gz of JAX or TensorFlow (XLA's profiler)"

    def recognises(self, head: bytes) -> bool:
        return is_xla_trace(head)

    def read(self, source: Source) -> Trace:
        events = JsonArray(source.pieces(), "traceEvents", source.where)
        reader = _Reader(source.where)
        for batch in events.batches():
            for event in decoded(_events, batch, source.where, "its traceEvents are not as XLA writes them"):
                reader.take(event)
        return Trace(
            path=source.path,
            format=self.format,
            counted="kernels",
            kernels=reader.table(),
            noted={name: reader.counts[name] for name in ("events", "memcpys", "memsets")}
            | ({"kernels_with_implausible_registers": bad} if (bad := reader.counts["implausible"]) else {}),
        )


class _Reader:
    """Gathers kernels, and the names of processes and threads, which may come behind them."""

    def __init__(self, where: str) -> None:
        self.counts = Counter[str]()
        self._where = where
        self._rows = KernelRows()
        self._cards: dict[int, int] = {}
        self._streams: dict[tuple[int, int], int] = {}

    def take(self, event: _Event) -> None:
        """Take an event of any kind."""
        self.counts["events"] += 1
        args = event.args
        if args is None:
            return
        if event.ph == "M":
            self._name(event, args.name or "")
        elif event.ph == "X" and args.kernel_details is not None:
            self._kernel(event, args.kernel_details, args.correlation_id)
        elif event.ph == "X":
            self.counts["memcpys"] += args.memcpy_details is not None
            self.counts["memsets"] += args.memset_details is not None

    def table(self) -> KernelTable:
        """Return the kernels, cards and streams by their own numbers where they were named."""
        table = self._rows.table()
        pairs = list(zip(table.device.tolist(), [] if table.stream is None else table.stream.tolist()))
        device = np.array([self._cards.get(pid, pid) for pid, _ in pairs], np.int64)
        stream = np.array([self._streams.get(pair, pair[1]) for pair in pairs], np.int64)
        return table._replace(device=device, stream=stream if table.stream is not None else None)

    def _name(self, event: _Event, name: str) -> None:
        if event.name == "process_name" and (gpu := _GPU.search(name)):
            self._cards[event.pid] = int(gpu[1])
        elif event.name == "thread_name" and (stream := _STREAM.match(name)):
            self._streams[event.pid, event.tid] = int(stream[1])

    def _kernel(self, event: _Event, line: str, correlation: Any) -> None:
        place = f"event {self.counts['events']}"
        details = kernel_details(line, f"{self._where}: {place}")
        self.counts["implausible"] += details.implausible
        add_kernel(
            self._rows,
            event.name or "",
            details,
            nanoseconds(event.ts, self._where, f"ts of {place}"),
            nanoseconds(event.dur, self._where, f"dur of {place}"),
            event.pid,
            event.tid,
            _correlation(correlation, self._where, place),
        )


def _correlation(value: Any, where: str, place: str) -> int | None:
    if value is None or isinstance(value, int):
        return value
    if not (value.isascii() and value.isdigit()) or len(value) > 18:
        raise InputError(f"{where}: correlation_id of {place} must be a whole number. Got {value[:40]!r}.")
    return int(value)


_NAMES = ("/host:", "/device:", "Task Environment")
_PS_A_NS = 1000


class XPlane(Importer):
    """Read plane by plane; memory holds the largest plane and the columns of the kernels."""

    format = "xplane_pb"
    says = "*.xplane.pb of JAX or TensorFlow (XLA's profiler)"

    def recognises(self, head: bytes) -> bool:
        return _first_name(head).startswith(_NAMES)

    def read(self, source: Source) -> Trace:
        kernels, counts, cards = KernelRows(), Counter[str](), []
        try:
            for number, message in top_fields(source):
                if number == 1:
                    counts["planes"] += 1
                    plane = _plane(message)
                    if gpu := _GPU.fullmatch(plane.name):
                        cards.append(_card(int(gpu[1]), plane))
                        _add(plane, int(gpu[1]), kernels, counts, source.where)
        except WireError:
            raise damaged(source) from None
        garbage = {"kernels_with_implausible_registers": counts["implausible"]} if counts["implausible"] else {}
        return Trace(
            path=source.path,
            format=self.format,
            counted="kernels",
            kernels=kernels.table(),
            cards=tuple(cards),
            noted={**{name: counts[name] for name in ("planes", "memcpys", "memsets")}, **garbage},
        )


def _first_name(head: bytes) -> str:
    """Return the name of the first plane, empty where contents do not begin with one."""
    try:
        if not head.startswith(b"\x0a"):
            return ""
        length, place = varint(head, 1)
        for number, value in fields(head[place : place + min(length, 4096)]):
            if number == 2:
                return text_of(value)
            if number > 2:
                return ""
    except WireError:
        pass
    return ""


class _Plane(NamedTuple):
    """A plane with its tables; lines are not yet read."""

    name: str
    lines: list[bytes]
    events: dict[int, bytes]
    """The message of each kind of event by its number."""
    stat_names: dict[int, str]
    stats: dict[str, int | str]
    """Of the plane itself."""


def _plane(message: bytes) -> _Plane:
    name, lines, stats = "", list[bytes](), list[bytes]()
    events, names = dict[int, bytes](), dict[int, str]()
    for number, value in fields(message):
        if number == 2:
            name = text_of(value)
        elif number == 3:
            lines.append(bytes_of(value))
        elif number == 4:
            key, entry = _entry(bytes_of(value))
            events[key] = entry
        elif number == 5:
            key, entry = _entry(bytes_of(value))
            names[key] = next((text_of(found) for field, found in fields(entry) if field == 2), "")
        elif number == 6:
            stats.append(bytes_of(value))
    return _Plane(name, lines, events, names, _stats(stats, names))


def _entry(message: bytes) -> tuple[int, bytes]:
    """Return key and value of an entry of a map."""
    key, value = 0, b""
    for number, result in fields(message):
        if number == 1:
            key = signed_of(result)
        elif number == 2:
            value = bytes_of(result)
    return key, value


def _stats(messages: list[bytes], names: dict[int, str]) -> dict[str, int | str]:
    """Return statistics by name; those that are doubles or bytes are left out."""
    result: dict[str, int | str] = {}
    for message in messages:
        name = ""
        for number, value in fields(message):
            if number == 1:
                name = names.get(signed_of(value), "")
            elif number in (3, 4):
                result[name] = signed_of(value)
            elif number == 5:
                result[name] = text_of(value)
            elif number == 7:
                result[name] = names.get(whole_of(value), "")
    return result


def _add(plane: _Plane, device: int, kernels: KernelRows, counts: Counter[str], where: str) -> None:
    """Add the kernels of a card."""
    settings = {key: _kind(message, plane.stat_names) for key, message in plane.events.items()}
    for line in plane.lines:
        head, events = _line(line)
        for event in events:
            _add_event(event, head, settings, plane, device, kernels, counts, where)


class _Line(NamedTuple):
    stream: int
    start_ns: int


def _line(message: bytes) -> tuple[_Line, list[bytes]]:
    number, name, start, events = 0, "", 0, list[bytes]()
    for field, value in fields(message):
        if field == 1:
            number = signed_of(value)
        elif field == 2:
            name = text_of(value)
        elif field == 3:
            start = signed_of(value)
        elif field == 4:
            events.append(bytes_of(value))
    stream = _STREAM.match(name)
    return _Line(int(stream[1]) if stream else number, start), events


def _kind(message: bytes, names: dict[int, str]) -> tuple[str, dict[str, int | str]]:
    """Return name and statistics of a kind of event."""
    name, stats = "", list[bytes]()
    for number, value in fields(message):
        if number == 2:
            name = text_of(value)
        elif number == 5:
            stats.append(bytes_of(value))
    return name, _stats(stats, names)


def _add_event(
    event: bytes,
    line: _Line,
    told: dict[int, tuple[str, dict[str, int | str]]],
    plane: _Plane,
    device: int,
    kernels: KernelRows,
    counts: Counter[str],
    where: str,
) -> None:
    key = offset = duration = 0
    own: list[bytes] = []
    for number, value in fields(event):
        if number == 1:
            key = signed_of(value)
        elif number == 2:
            offset = signed_of(value)
        elif number == 3:
            duration = signed_of(value)
        elif number == 4:
            own.append(bytes_of(value))
    name, shared = told.get(key, ("", {}))
    stats = {**shared, **_stats(own, plane.stat_names)}
    counts.update(what for detail, what in _OPERATIONS.items() if detail in stats)
    if "kernel_details" not in stats:
        return
    details = kernel_details(str(stats["kernel_details"]), f"{where}: kernel {counts['kernels']}")
    counts["kernels"] += 1
    counts["implausible"] += details.implausible
    start = line.start_ns + offset // _PS_A_NS
    add_kernel(
        kernels, name, details, start, round(duration / _PS_A_NS), device, line.stream, _whole(stats, "correlation_id")
    )


def add_kernel(
    kernels: KernelRows,
    name: str,
    details: KernelDetails,
    start_ns: int,
    duration_ns: int,
    device: int,
    stream: int,
    correlation: int | None,
) -> None:
    """Add a kernel of XLA's."""
    kernels.add(
        name,
        block=details.block,
        start_ns=start_ns,
        duration_ns=duration_ns,
        device=device,
        stream=stream,
        workgroups=details.workgroups,
        threads=details.threads,
        shared_bytes=details.shared_bytes,
        vgprs=details.registers,
        correlation=correlation,
    )


def _whole(stats: dict[str, int | str], name: str) -> int | None:
    value = stats.get(name)
    return value if isinstance(value, int) else None


def _card(number: int, plane: _Plane) -> Card:
    """Return a card; XLA names vendor and compute capability, not the product."""
    vendor = str(plane.stats.get("device_vendor", "") or "")
    major, minor = _whole(plane.stats, "compute_cap_major"), _whole(plane.stats, "compute_cap_minor")
    capability = f" {major}.{minor}" if major is not None and minor is not None else ""
    return Card(
        number=number,
        name=(vendor + capability).strip() or plane.name,
        compute_units=_whole(plane.stats, "core_count"),
        memory_bytes=_whole(plane.stats, "memory_size"),
    )
