"""NVIDIA's Nsight Systems: its SQLite export, and the CSV of `nsys stats`.

`nsys export --type sqlite`: every kernel is a row of CUPTI_ACTIVITY_KIND_KERNEL: grid in thread blocks, block in
threads, static and dynamic shared memory in bytes, registers of a thread, nanoseconds since the recording began. Names
are numbers of StringIds. Columns came and went between the versions of the schema; what one lacks is missing, and none
of it is guessed. Kernels of a CUDA graph have rows where nsys traced nodes (`--cuda-graph-trace=node`); graphs traced
as a whole hold no kernels, and how many there are is a fact.

`nsys stats --report cuda_gpu_trace` (once `gputrace`): every row is a kernel, a copy or a set of memory; kernels have a
grid. Units stand in the header and differ: times in ns, us, ms or s, shared memory in bytes or, with three decimals, in
MB. A size that was rounded so stays as it was written, and a fact says to how many bytes it is known; the SQLite export
has it to the byte.
"""

from __future__ import annotations

import re
from collections import Counter
from typing import Any

import numpy as np

from workbench.errors import InputError, shown
from workbench.workloads.importers.csv_tables import Header, Row, csv_rows, has_header
from workbench.workloads.importers.importer import Importer
from workbench.workloads.importers.source import Source
from workbench.workloads.importers.sqlite_files import Database, is_sqlite
from workbench.workloads.importers.trace import Card, Trace
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
NS = {
    unit: factor
    for factor, units in {
        1: ("", "ns", "nsec", "nsecond"),
        10**3: ("us", "usec", "usecond", "µs"),
        10**6: ("ms", "msec", "msecond"),
        10**9: ("s", "sec", "second"),
    }.items()
    for unit in units
}
BYTES = {
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
    columns: dict[str, Any] = dict(zip(_CARD, (v if isinstance(v, int) and v >= 0 else None for v in values)))
    warps, lanes = columns["waves_a_unit"], columns["wave_size"]
    return Card(
        **{**columns, "number": columns["number"] or 0},
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
    start, duration = row.scaled("start", NS), row.scaled("duration", NS)
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
        shared_bytes=shared_bytes_of(row.scaled("stcsmem", BYTES), row.scaled("dymsmem", BYTES)),
        **row.wholes(_NUMBERS),
    )


def shared_bytes_of(static: int | None, dynamic: int | None) -> int | None:
    """Return static and dynamic shared memory together, None where one of them is not recorded."""
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
    unit = BYTES[row.header.units.get("stcsmem", "").lower()]
    decimals = max(len(row.text(name).partition(".")[2]) for name in ("stcsmem", "dymsmem"))
    return max(unit // 10**decimals, 1)
