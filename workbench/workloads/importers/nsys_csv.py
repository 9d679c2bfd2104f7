"""Nsight Systems: the CSV of `nsys stats --report cuda_gpu_trace` (once `gputrace`).

Every row is a kernel, a copy or a set of memory; kernels have a grid. Units stand in the header and differ: times in
ns, us, ms or s, shared memory in bytes or, with three decimals, in MB. A size that was rounded so stays as it was
written, and a fact says to how many bytes it is known; the SQLite export has it to the byte.
"""

from __future__ import annotations

import re
from collections import Counter

from workbench.errors import InputError, shown
from workbench.workloads.importers.csv_table import Header, Row, has_header, rows
from workbench.workloads.importers.importer import Importer
from workbench.workloads.importers.source import Source
from workbench.workloads.importers.trace import Card, Trace
from workbench.workloads.kernels import KernelRows

_NEEDED = ("start", "duration", "grdx", "grdy", "grdz", "blkx", "blky", "blkz", "strm", "name")
_NS = {"": 1, "ns": 1, "nsec": 1, "us": 10**3, "usec": 10**3, "µs": 10**3, "ms": 10**6, "s": 10**9, "sec": 10**9}
_BYTES = {"": 1, "b": 1, "byte": 1, "bytes": 1, "kb": 10**3, "mb": 10**6, "gb": 10**9, "kib": 1 << 10, "mib": 1 << 20}
_DEVICE = re.compile(r"(.*?)\s*\((\d{1,9})\)$")
_OPERATIONS = {"[cuda memcpy": "memcpys", "[cuda memset": "memsets", "[cuda mem": "memcpys"}


class NsysCsv(Importer):
    """Read line by line."""

    format = "nsys_gpu_trace_csv"
    says = "CSV of nsys stats --report cuda_gpu_trace"

    def recognises(self, head: bytes) -> bool:
        return has_header(head, _is_header)

    def read(self, source: Source) -> Trace:
        kernels, counts, cards, known_to = KernelRows(), Counter[str](), dict[int, str](), 1
        for row in rows(source, _is_header, "cuda_gpu_trace"):
            operation = _operation(row)
            counts[operation] += 1
            if operation == "kernels":
                _add(row, kernels, cards)
                known_to = max(known_to, _known_to(row))
        rounded = {"shared_bytes_rounded_to": known_to} if known_to > 1 else {}
        return Trace(
            path=source.path,
            format=self.format,
            counted="kernels",
            kernels=kernels.table(),
            cards=tuple(Card(number, name) for number, name in sorted(cards.items())),
            noted={"memcpys": counts["memcpys"], "memsets": counts["memsets"], **rounded},
        )


def _is_header(header: Header) -> bool:
    return header.has(*_NEEDED)


def _operation(row: Row) -> str:
    """Return whether a row is one of kernels, memcpys or memsets."""
    name = row.text("name").lower()
    return next((what for start, what in _OPERATIONS.items() if name.startswith(start)), "kernels")


def _add(row: Row, kernels: KernelRows, cards: dict[int, str]) -> None:
    start, duration = row.scaled("start", _NS), row.scaled("duration", _NS)
    if start is None or duration is None:
        raise InputError(f"{row.where}: a kernel needs a start and a duration.")
    grid, block = row.triple("grdx", "grdy", "grdz"), row.triple("blkx", "blky", "blkz")
    number, name = _device(row)
    cards.setdefault(number, name)
    static, dynamic = row.scaled("stcsmem", _BYTES), row.scaled("dymsmem", _BYTES)
    kernels.add(
        row.text("name"),
        block=block,
        start_ns=start,
        duration_ns=duration,
        device=number,
        stream=row.whole("strm"),
        workgroups=grid and grid[0] * grid[1] * grid[2],
        threads=block and block[0] * block[1] * block[2],
        shared_bytes=None if static is None or dynamic is None else static + dynamic,
        vgprs=row.whole("reg/trd"),
        correlation=row.whole("corrid"),
    )


def _device(row: Row) -> tuple[int, str]:
    """Return number and name of the card: `NVIDIA H100 (0)`."""
    text = row.text("device")
    match = _DEVICE.match(text)
    if match is None and text.isascii() and text.isdigit() and len(text) < 10:
        return int(text), ""
    if match is None and text:
        raise InputError(
            f"{row.where}: Device must be a name and a number, such as `NVIDIA H100 (0)`. Got {shown(text)}."
        )
    return (int(match[2]), match[1]) if match else (0, "")


def _known_to(row: Row) -> int:
    """Return to how many bytes the shared memory of a row is known: a thousand of `0.049` MB."""
    unit = _BYTES[row.header.units.get("stcsmem", "").lower()]
    decimals = max(len(row.text(name).partition(".")[2]) for name in ("stcsmem", "dymsmem"))
    return max(unit // 10**decimals, 1)
