"""NVIDIA's Nsight Compute: the CSV of its metrics, a row a kernel or a row a metric.

`ncu --csv` writes its raw page (a row a kernel) or its details (a row a metric of a kernel). A report is a list of
kernels, each measured alone and several times over. Grid, block, registers and shared memory are those of the program,
but there are no starts. Durations are those of the measurement (`gpu__time_duration.sum`, `Duration`), at locked clocks
unless `--clock-control none` was given; without that metric there are no times at all. Numbers are written as the
machine's locale has it, so what may be thousands with points is refused. ncu's units count in thousands
(`Kbyte/block`), so a size that was not written in bytes is rounded; `--print-units base` has it to the byte.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from decimal import Decimal
from itertools import chain, groupby

from workbench.errors import InputError, shown
from workbench.workloads.importers.csv_tables import Header, Row, csv_rows, decimal_of, has_header
from workbench.workloads.importers.importer import Importer
from workbench.workloads.importers.nsight_systems import BYTES, NS, shared_bytes_of
from workbench.workloads.importers.source import Source
from workbench.workloads.importers.trace import KernelList
from workbench.workloads.kernels import KernelRows, shape_of

_COLUMNS_OF_NCU = ("id", "kernel name", "context", "stream")
_IDENTITY = ("id", "process id", "kernel name")
_OF_METRIC = ("metric name", "metric unit", "metric value")
_METRICS = {
    "registers": ("launch__registers_per_thread", "registers per thread"),
    "static": ("launch__shared_mem_per_block_static", "static shared memory per block"),
    "dynamic": ("launch__shared_mem_per_block_dynamic", "dynamic shared memory per block"),
    "duration": ("gpu__time_duration.sum", "duration"),
    "grid": ("launch__grid_size", "grid size"),
    "block": ("launch__block_size", "block size"),
}
_PREFIXES = ("launch__", "gpu__")
_OF_NAME = {name: what for what, names in _METRICS.items() for name in names}
_TRIPLE = re.compile(r"\(?\s*(\d{1,10})\s*,\s*(\d{1,10})\s*,\s*(\d{1,10})\s*\)?", re.ASCII)
_POINTS_BETWEEN_THOUSANDS = re.compile(r"\d{1,3}(\.\d{3})+", re.ASCII)
"""What ncu writes for a whole number on a machine with, say, a German locale; in English it writes two places."""
_COUNTS = {"": 1, "register": 1, "register/thread": 1, "block": 1, "thread": 1}
_TIMES_FROM = "collect the metric gpu__time_duration.sum, or record the program with nsys"


class NcuCsv(Importer):
    """Read line by line."""

    format = "ncu_csv"
    description = "ncu --csv (raw or details page) of NVIDIA Nsight Compute"
    counted = "kernels"

    def recognises(self, head: bytes) -> bool:
        return has_header(head, _is_header_of_ncu)

    def read(self, source: Source) -> KernelList:
        kernels, clock, known_to, count, timed = KernelRows(), 0, 1, 0, 0
        for kernel in _kernels_of_rows(source):
            duration = kernel.amount("duration", NS)
            kernel.add_to(kernels, clock, duration or 0)
            clock += duration or 0
            count, timed = count + 1, timed + (duration is not None)
            known_to = max(known_to, kernel.known_to())
        rounded = {"shared_bytes_rounded_to": known_to} if known_to > 1 else {}
        noted = {"kernels_with_duration": timed, "starts": "none; kernels follow one another", **rounded}
        noted |= {} if timed else {"times_from": _TIMES_FROM}
        return KernelList(*self.trace(source, kernels.table(), noted=noted))


def _is_header_of_ncu(header: Header) -> bool:
    of_raw = any(metric in header.places for metric in _OF_NAME if metric.startswith(_PREFIXES))
    return header.has(*_COLUMNS_OF_NCU) and (header.has(*_OF_METRIC) or of_raw or header.has("block size", "grid size"))


class _Kernel:
    """One kernel of a report: the row that names it, and its metrics with their units."""

    def __init__(self, row: Row) -> None:
        self.row = row
        self._metrics: dict[str, tuple[str, str]] = {}

    def take(self, metric: str, unit: str, value: str) -> None:
        """Keep a metric if it is one that is used."""
        what = _OF_NAME.get(metric.strip().lower())
        if what is not None and value.strip():
            self._metrics.setdefault(what, (unit.strip(), value.strip()))

    def amount(self, what: str, factors: Mapping[str, int]) -> int | None:
        """Return a metric in the smallest unit of some, None where the report lacks it."""
        unit, value = self._metrics.get(what, ("", ""))
        if not value or value.lower() in ("n/a", "nan"):
            return None
        plain = unit.lower().removesuffix("/block")
        if plain not in factors:
            known = ", ".join(filter(None, factors))
            raise InputError(f"{self.row.where}: {_METRICS[what][0]} must be in {known}. Got {shown(unit)}.")
        if factors[plain] == 1 and _POINTS_BETWEEN_THOUSANDS.fullmatch(value):
            raise InputError(
                f"{self.row.where}: {_METRICS[what][0]} has points between thousands, as in some locales, or a part of "
                f"what is whole. Got {shown(value)}. Export it again in an English locale (LC_ALL=C)."
            )
        return round(decimal_of(value, self.row.where, _METRICS[what][0]) * factors[plain])

    def known_to(self) -> int:
        """Return to how many bytes the shared memory is known: ten of `49.15 Kbyte`."""
        steps = [1]
        for what in ("static", "dynamic"):
            unit, value = self._metrics.get(what, ("", ""))
            factor = BYTES.get(unit.lower().removesuffix("/block"), 1)
            if value and factor > 1 and any(digit in "123456789" for digit in value):
                steps.append(max(int(factor / Decimal(10) ** min(len(value.partition(".")[2]), 9)), 1))
        return max(steps)

    def add_to(self, kernels: KernelRows, start_ns: int, duration_ns: int) -> None:
        """Add the kernel as a launch."""
        shape = shape_of(self._triple("grid size"), self._triple("block size"))
        if shape["workgroups"] is None:
            shape["workgroups"] = self.amount("grid", _COUNTS)
        if shape["threads"] is None:
            shape["threads"] = self.amount("block", _COUNTS)
        kernels.add(
            self.row.text("kernel name"),
            **shape,
            start_ns=start_ns,
            duration_ns=duration_ns,
            device=self.row.whole("device") or 0,
            stream=self.row.whole("stream"),
            shared_bytes=shared_bytes_of(self.amount("static", BYTES), self.amount("dynamic", BYTES)),
            vgprs=self.amount("registers", _COUNTS),
        )

    def _triple(self, name: str) -> tuple[int, int, int] | None:
        """Return grid or block as the columns of the report have it: `(256, 1, 1)`."""
        text = self.row.text(name)
        if not text:
            return None
        match = _TRIPLE.fullmatch(text)
        if match is None:
            raise InputError(f"{self.row.where}: {name} must be like (256, 1, 1). Got {shown(text)}.")
        x, y, z = map(int, match.groups())
        return x, y, z


def _kernels_of_rows(source: Source) -> Iterator[_Kernel]:
    """Yield the kernels of a report of either page."""
    table = csv_rows(source, _is_header_of_ncu, "an ncu report")
    first = next(table, None)
    if first is None:
        return
    if not first.header.has(*_OF_METRIC):
        yield from _of_raw(first, table)
        return
    for _, group in groupby(
        chain([first], table), lambda row: [row.text(name) for name in _IDENTITY]
    ):  # rows of one kernel stand together, a metric each
        rows = list(group)
        kernel = _Kernel(rows[0])
        for row in rows:
            kernel.take(*(row.text(name) for name in _OF_METRIC))
        yield kernel


def _of_raw(first: Row, table: Iterator[Row]) -> Iterator[_Kernel]:
    """Yield kernels of a row each; the row above them, without an ID, has the units."""
    names = [name for name in first.header.places if name in _OF_NAME and name.startswith(_PREFIXES)]
    units = {name: first.text(name) for name in names} if not first.text("id") else {}
    for row in table if units else chain([first], table):
        kernel = _Kernel(row)
        for name in names:
            kernel.take(name, units.get(name, ""), row.text(name))
        yield kernel
