"""XLA's `*.xplane.pb`: what the profilers of JAX and TensorFlow write, a protobuf `XSpace` of planes, lines and events.

A plane is a card (`/device:GPU:0`), a line a stream, an event of a line a kernel if it has `kernel_details`. Numbers of
names and statistics are resolved by the tables of the plane. Times are picoseconds from the start of the line, which is
in nanoseconds; they are rounded to nanoseconds. The schema is read as it is published
(tsl/profiler/protobuf/xplane.proto); other fields are skipped.
"""

from __future__ import annotations

import re
from collections import Counter
from typing import NamedTuple

from workbench.workloads.importers.importer import Importer
from workbench.workloads.importers.kernel_details import KernelDetails, kernel_details
from workbench.workloads.importers.protobuf import (
    WireError,
    damaged,
    fields,
    raw,
    signed,
    text,
    top_fields,
    varint,
    whole,
)
from workbench.workloads.importers.source import Source
from workbench.workloads.importers.trace import Card, Trace
from workbench.workloads.kernels import KernelRows

_NAMES = ("/host:", "/device:", "Task Environment")
_GPU = re.compile(r"/device:GPU:(\d{1,6})", re.ASCII)
_STREAM = re.compile(r"Stream #(\d{1,12})", re.ASCII)
_OPERATIONS = {"memcpy_details": "memcpys", "memset_details": "memsets"}
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
                return text(value)
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
            name = text(value)
        elif number == 3:
            lines.append(raw(value))
        elif number == 4:
            key, entry = _entry(raw(value))
            events[key] = entry
        elif number == 5:
            key, entry = _entry(raw(value))
            names[key] = next((text(found) for field, found in fields(entry) if field == 2), "")
        elif number == 6:
            stats.append(raw(value))
    return _Plane(name, lines, events, names, _stats(stats, names))


def _entry(message: bytes) -> tuple[int, bytes]:
    """Return key and value of an entry of a map."""
    key, value = 0, b""
    for number, result in fields(message):
        if number == 1:
            key = signed(result)
        elif number == 2:
            value = raw(result)
    return key, value


def _stats(messages: list[bytes], names: dict[int, str]) -> dict[str, int | str]:
    """Return statistics by name; those that are doubles or bytes are left out."""
    result: dict[str, int | str] = {}
    for message in messages:
        name = ""
        for number, value in fields(message):
            if number == 1:
                name = names.get(signed(value), "")
            elif number in (3, 4):
                result[name] = signed(value)
            elif number == 5:
                result[name] = text(value)
            elif number == 7:
                result[name] = names.get(whole(value), "")
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
            number = signed(value)
        elif field == 2:
            name = text(value)
        elif field == 3:
            start = signed(value)
        elif field == 4:
            events.append(raw(value))
    stream = _STREAM.match(name)
    return _Line(int(stream[1]) if stream else number, start), events


def _kind(message: bytes, names: dict[int, str]) -> tuple[str, dict[str, int | str]]:
    """Return name and statistics of a kind of event."""
    name, stats = "", list[bytes]()
    for number, value in fields(message):
        if number == 2:
            name = text(value)
        elif number == 5:
            stats.append(raw(value))
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
            key = signed(value)
        elif number == 2:
            offset = signed(value)
        elif number == 3:
            duration = signed(value)
        elif number == 4:
            own.append(raw(value))
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
