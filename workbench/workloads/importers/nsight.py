"""NVIDIA's Nsight: the SQLite export and the CSV of Nsight Systems, and the CSV of Nsight Compute.

`nsys export --type sqlite`: every kernel is a row of CUPTI_ACTIVITY_KIND_KERNEL: grid in thread blocks, block in
threads, static and dynamic shared memory in bytes, registers of a thread, nanoseconds since the recording began. Names
are numbers of StringIds. Columns came and went between the versions of the schema; what one lacks is missing, and none
of it is guessed. Kernels of a CUDA graph have rows where nsys traced nodes (`--cuda-graph-trace=node`); graphs traced
as a whole hold no kernels, and how many there are is a fact.

`nsys stats --report cuda_gpu_trace` (once `gputrace`): every row is a kernel, a copy or a set of memory; kernels have a
grid. Units stand in the header and differ: times in ns, us, ms or s, shared memory in bytes or, with three decimals, in
MB. A size that was rounded so stays as it was written, and a fact says to how many bytes it is known; the SQLite export
has it to the byte.

`ncu --csv`, its raw page (a row a kernel) or its details (a row a metric of a kernel): a report is a list of kernels,
each measured alone and several times over: grid, block, registers and shared memory are those of the program, but there
are no starts. Durations are those of the measurement (`gpu__time_duration.sum`, `Duration`), at locked clocks unless
`--clock-control none` was given; without that metric there are no times at all. Numbers are written as the machine's
locale has it, so what may be thousands with points is refused. ncu's units count in thousands (`Kbyte/block`), so a
size that was not written in bytes is rounded; `--print-units base` has it to the byte.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping
from decimal import Decimal
from itertools import chain, groupby
from typing import Any

import numpy as np

from workbench.errors import InputError, shown
from workbench.workloads.importers.binary_formats import Database, is_sqlite
from workbench.workloads.importers.importer import Importer
from workbench.workloads.importers.source import Source
from workbench.workloads.importers.text_formats import Header, Row, csv_rows, decimal_of, has_header
from workbench.workloads.importers.trace import Card, KernelList, Trace
from workbench.workloads.kernels import MISSING, KernelColumns, KernelRows, shape_of, timed_shapes

_KERNELS = "CUPTI_ACTIVITY_KIND_KERNEL"
_STRINGS = "StringIds"
_NAMES = ("demangledName", "shortName", "mangledName")
_GRID, _BLOCK = ("gridX", "gridY", "gridZ"), ("blockX", "blockY", "blockZ")
_COLUMNS = {"stream": "streamId", "vgprs": "registersPerThread", "correlation": "correlationId"}
_OTHERS = ("start", "end", "deviceId", "staticSharedMemory", "dynamicSharedMemory", "graphNodeId")
_CARD = {
    "number": "id",
    "compute_units": "smCount",
    "wave_size": "threadsPerWarp",
    "waves_a_unit": "maxWarpsPerSm",
    "registers_a_unit": "maxRegistersPerSm",
    "shared_memory_bytes": "maxShmemPerSm",
    "workgroup_shared_bytes": "maxShmemPerBlock",
    "memory_bytes": "totalMemory",
}
_NS = {
    unit: factor
    for factor, units in {
        1: ("", "ns", "nsec", "nsecond"),
        10**3: ("us", "usec", "usecond", "µs"),
        10**6: ("ms", "msec", "msecond"),
        10**9: ("s", "sec", "second"),
    }.items()
    for unit in units
}
_BYTES = {
    unit: factor
    for factor, units in {
        1: ("", "b", "byte", "bytes"),
        10**3: ("kb", "kbyte"),
        10**6: ("mb", "mbyte"),
        10**9: ("gb",),
        1 << 10: ("kib", "kibyte"),
        1 << 20: ("mib",),
    }.items()
    for unit in units
}


class NsysSqlite(Importer):
    """Read batch by batch; memory holds the columns of the kernels."""

    format = "nsys_sqlite"
    description = "nsys export --type sqlite of NVIDIA Nsight Systems"
    counted = "kernels"

    def recognises(self, head: bytes) -> bool:
        return is_sqlite(head) and (_KERNELS.encode() in head or b"META_DATA_EXPORT" in head)

    def recognises_source(self, source: Source) -> bool:
        if not is_sqlite(source.head):
            return False
        with Database(source) as database:
            return not {_KERNELS, "META_DATA_EXPORT", "TARGET_INFO_SESSION_START_TIME"}.isdisjoint(database.tables)

    def read(self, source: Source) -> Trace:
        with Database(source) as database:
            if _KERNELS not in database.tables:
                raise InputError(f"{source.where}: holds no kernels; record with `nsys profile --trace=cuda`.")
            kernels, of_graphs = _kernel_table(database)
            names = _names(database, kernels.numbers)
            config = dict(database.rows("META_DATA_EXPORT", ("name", "value")))
            cards = database.rows("TARGET_INFO_GPU", ("name", "chipName", *_CARD.values()))
            return self.trace(
                source,
                kernels.table(names),
                cards=tuple(_card(*row) for row in cards),
                noted={
                    "schema": str(config.get("EXPORT_SCHEMA_VERSION", "")),
                    "memcpys": database.count("CUPTI_ACTIVITY_KIND_MEMCPY"),
                    "memsets": database.count("CUPTI_ACTIVITY_KIND_MEMSET"),
                    "kernels_of_graphs": of_graphs,
                    "graphs_without_kernels": database.count("CUPTI_ACTIVITY_KIND_GRAPH_TRACE"),
                },
            )


def _kernel_table(database: Database) -> tuple[KernelColumns, int]:
    """Return the kernels, and how many of them were nodes of a CUDA graph."""
    database.require(_KERNELS, ("start", "end"), "export of nsys")
    name = next((name for name in _NAMES if name in database.columns(_KERNELS)), None)
    if name is None:
        raise InputError(f"{database.where}: {_KERNELS} has no column {' or '.join(_NAMES)}, so kernels have no names.")
    columns, of_graphs = KernelColumns(), 0
    for batch in database.numbers(_KERNELS, (*_OTHERS, *_COLUMNS.values(), *_GRID, *_BLOCK, name)):
        static, dynamic = batch["staticSharedMemory"], batch["dynamicSharedMemory"]
        columns.add(
            batch[name],
            **timed_shapes(batch, _GRID, _BLOCK, database.where),
            device=np.maximum(batch["deviceId"], 0),
            shared_bytes=np.where((static == MISSING) | (dynamic == MISSING), MISSING, static + dynamic),
            **{field: batch[column] for field, column in _COLUMNS.items()},
        )
        of_graphs += int(np.count_nonzero(batch["graphNodeId"] > 0))
    return columns, of_graphs


def _names(database: Database, numbers: set[int]) -> dict[int, str]:
    """Return the texts of the numbers that kernels have for names."""
    texts = database.texts(_STRINGS, "id", "value", numbers)
    lost = min(numbers - texts.keys(), default=None)
    if lost is not None:
        raise InputError(f"{database.where}: a kernel's name is string {lost}, which {_STRINGS} does not have.")
    return texts


def _card(name: Any, chip: Any, *values: Any) -> Card:
    told: dict[str, Any] = dict(zip(_CARD, (v if isinstance(v, int) and v >= 0 else None for v in values)))
    warps, lanes = told["waves_a_unit"], told["wave_size"]
    return Card(
        **{**told, "number": told["number"] or 0},
        name=str(name or ""),
        architecture=str(chip) if chip else None,
        threads_a_unit=warps * lanes if warps and lanes else None,
    )


_COLUMNS_OF_NSYS = ("start", "duration", "grdx", "grdy", "grdz", "blkx", "blky", "blkz", "strm", "name")
_NUMBERS = {"stream": ("strm",), "vgprs": ("reg/trd",), "correlation": ("corrid",)}
_DEVICE = re.compile(r"(.*?)\s*\((\d{1,9})\)$")
_OPERATIONS = {"[cuda memcpy": "memcpys", "[cuda memset": "memsets", "[cuda mem": "memcpys"}


class NsysCsv(Importer):
    """Read line by line."""

    format = "nsys_gpu_trace_csv"
    description = "CSV of nsys stats --report cuda_gpu_trace"
    counted = "kernels"

    def recognises(self, head: bytes) -> bool:
        return has_header(head, _is_header_of_nsys)

    def read(self, source: Source) -> Trace:
        kernels, counts, cards, known_to = KernelRows(), Counter[str](), dict[int, str](), 1
        for row in csv_rows(source, _is_header_of_nsys, "cuda_gpu_trace"):
            name = row.text("name").lower()
            operation = next((what for start, what in _OPERATIONS.items() if name.startswith(start)), "kernels")
            counts[operation] += 1
            if operation == "kernels":
                _add(row, kernels, cards)
                known_to = max(known_to, _known_to(row))
        rounded = {"shared_bytes_rounded_to": known_to} if known_to > 1 else {}
        return self.trace(
            source,
            kernels.table(),
            cards=tuple(Card(number, name) for number, name in sorted(cards.items())),
            noted={"memcpys": counts["memcpys"], "memsets": counts["memsets"], **rounded},
        )


def _is_header_of_nsys(header: Header) -> bool:
    return header.has(*_COLUMNS_OF_NSYS)


def _add(row: Row, kernels: KernelRows, cards: dict[int, str]) -> None:
    start, duration = row.scaled("start", _NS), row.scaled("duration", _NS)
    if start is None or duration is None:
        raise InputError(f"{row.where}: a kernel needs a start and a duration.")
    shape = shape_of(row.triple("grdx", "grdy", "grdz"), row.triple("blkx", "blky", "blkz"))
    number, name = _device(row)
    cards.setdefault(number, name)
    kernels.add(
        row.text("name"),
        **shape,
        start_ns=start,
        duration_ns=duration,
        device=number,
        shared_bytes=_both(row.scaled("stcsmem", _BYTES), row.scaled("dymsmem", _BYTES)),
        **row.wholes(_NUMBERS),
    )


def _both(static: int | None, dynamic: int | None) -> int | None:
    return None if static is None or dynamic is None else static + dynamic


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
            duration = kernel.amount("duration", _NS)
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
            factor = _BYTES.get(unit.lower().removesuffix("/block"), 1)
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
            shared_bytes=_both(self.amount("static", _BYTES), self.amount("dynamic", _BYTES)),
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
