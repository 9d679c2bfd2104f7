"""XLA's `*.xplane.pb`, as the profilers of JAX and TensorFlow write it.

It is a protobuf `XSpace` of planes, lines and events: a plane is a card, a line a stream, an event of a line a kernel
if it has `kernel_details`. Numbers of names and statistics are resolved by the tables of the plane. Times are
picoseconds from the start of the line, which is in nanoseconds; they are rounded to nanoseconds. The schema is read as
it is published (tsl/profiler/protobuf/xplane.proto); other fields are skipped.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

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
from workbench.workloads.importers.source import Source
from workbench.workloads.importers.trace import Card, Trace
from workbench.workloads.importers.xla import GPU, OPERATIONS, STREAM, kernel_details
from workbench.workloads.kernels import KernelRows

_NAMES = ("/host:", "/device:", "Task Environment")
_PS_A_NS = 1000


class XPlane(Importer):
    """Read plane by plane; memory holds the largest plane and the columns of the kernels."""

    format = "xplane_pb"
    description = "*.xplane.pb of JAX or TensorFlow (XLA's profiler)"
    counted = "kernels"

    def recognises(self, head: bytes) -> bool:
        return _first_name(head).startswith(_NAMES)

    def read(self, source: Source) -> Trace:
        kernels, counts, cards = KernelRows(), Counter[str](), []
        try:
            for number, message in top_fields(source):
                if number == 1:
                    counts["planes"] += 1
                    plane = _plane(message)
                    if gpu := GPU.fullmatch(plane.name):
                        cards.append(_card(int(gpu[1]), plane))
                        _add(plane, int(gpu[1]), kernels, counts, source.where)
        except WireError:
            raise damaged(source) from None
        garbage = {"kernels_with_implausible_registers": counts["implausible"]} if counts["implausible"] else {}
        return self.trace(
            source,
            kernels.table(),
            cards=tuple(cards),
            noted={**{name: counts[name] for name in ("planes", "memcpys", "memsets")}, **garbage},
        )


def _first_name(head: bytes) -> str:
    """Return the name of the first plane, empty where contents do not begin with one."""
    try:
        if head.startswith(b"\x0a"):
            length, place = varint(head, 1)
            first = next((it for it in fields(head[place : place + min(length, 4096)]) if it[0] >= 2), (0, b""))
            return text_of(first[1]) if first[0] == 2 else ""
    except WireError:
        pass
    return ""


class _Kind(NamedTuple):
    """A kind of event: its name, and the statistics that all of it share."""

    name: str = ""
    stats: Mapping[str, int | str] = {}


class _Plane(NamedTuple):
    """A plane with its tables; lines are not yet read."""

    name: str
    lines: list[bytes]
    kinds: dict[int, _Kind]
    """Kinds of events by number."""
    stat_names: dict[int, str]
    stats: Mapping[str, int | str]
    """Of the plane itself."""


_PLANE: Schema = {
    2: ("name", text_of),
    3: ("lines[]", bytes_of),
    4: ("events[]", bytes_of),
    5: ("names[]", bytes_of),
    6: ("stats[]", bytes_of),
}
_ENTRY: Schema = {1: ("key", signed_of), 2: ("value", bytes_of)}
_NAMED: Schema = {2: ("name", text_of), 5: ("stats[]", bytes_of)}
_LINE: Schema = {1: ("id", signed_of), 2: ("name", text_of), 3: ("start", signed_of), 4: ("events[]", bytes_of)}
_EVENT: Schema = {
    1: ("kind", signed_of),
    2: ("offset", signed_of),
    3: ("duration", signed_of),
    4: ("stats[]", bytes_of),
}


def _plane(message: bytes) -> _Plane:
    plane = named_fields(message, _PLANE)
    names = {key: entry.get("name", "") for key, entry in _entries(plane["names[]"])}
    kinds = {
        key: _Kind(entry.get("name", ""), _stats(entry["stats[]"], names)) for key, entry in _entries(plane["events[]"])
    }
    return _Plane(plane.get("name", ""), plane["lines[]"], kinds, names, _stats(plane["stats[]"], names))


def _entries(messages: list[bytes]) -> Iterator[tuple[int, dict[str, Any]]]:
    """Yield key and value of each entry of a map whose values have names."""
    for entry in (named_fields(message, _ENTRY) for message in messages):
        yield entry.get("key", 0), named_fields(entry.get("value", b""), _NAMED)


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
    for message in plane.lines:
        line = named_fields(message, _LINE)
        named = STREAM.match(line.get("name", ""))
        stream = int(named[1]) if named else line.get("id", 0)
        for event in (named_fields(message, _EVENT) for message in line["events[]"]):
            kind = plane.kinds.get(event.get("kind", 0), _Kind())
            stats = {**kind.stats, **_stats(event["stats[]"], plane.stat_names)}
            counts.update(what for detail, what in OPERATIONS.items() if detail in stats)
            if "kernel_details" not in stats:
                continue
            columns, implausible = kernel_details(str(stats["kernel_details"]), f"{where}: kernel {counts['kernels']}")
            counts["kernels"] += 1
            counts["implausible"] += implausible
            kernels.add(
                kind.name,
                **columns,
                start_ns=line.get("start", 0) + event.get("offset", 0) // _PS_A_NS,
                duration_ns=round(event.get("duration", 0) / _PS_A_NS),
                device=device,
                stream=stream,
                correlation=_whole(stats, "correlation_id"),
            )


def _whole(stats: Mapping[str, int | str], name: str) -> int | None:
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
