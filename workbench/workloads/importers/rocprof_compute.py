"""rocprofiler-compute (once Omniperf): the `pmc_perf.csv` of a profiled workload, one row a dispatch.

The names of the columns differ from version to version, and so does their order; of about a thousand columns a dozen
is used. Grids are in work-items, flat, and become workgroups rounded up. Some versions round the time stamps so
coarsely that every duration is 0, which the trace then says.
"""

from __future__ import annotations

import csv
from collections.abc import Sequence
from decimal import Decimal, InvalidOperation

from workbench.errors import InputError, shown
from workbench.units import workgroups_for
from workbench.workloads.importers.importer import Importer
from workbench.workloads.importers.source import Source
from workbench.workloads.importers.trace import Trace
from workbench.workloads.kernels import KernelRows

_NAMES = {
    "name": ("Kernel_Name", "KernelName"),
    "start": ("Start_Timestamp", "BeginNs"),
    "end": ("End_Timestamp", "EndNs"),
    "workgroup": ("Workgroup_Size", "wgr"),
    "grid": ("Grid_Size", "grd"),
    "device": ("GPU_ID", "gpu-id"),
    "lds": ("LDS_Per_Workgroup", "lds"),
    "vgpr": ("Arch_VGPR", "arch_vgpr", "vgpr", "VGPR"),
    "accum_vgpr": ("Accum_VGPR", "accum_vgpr"),
    "sgpr": ("SGPR", "sgpr"),
    "queue": ("Queue_ID", "queue-id"),
}
_NEEDED = ("name", "start", "end", "workgroup", "device")


class RocprofCompute(Importer):
    """Read line by line."""

    format = "omniperf_pmc_csv"
    says = "pmc_perf.csv of AMD's rocprofiler-compute"

    def recognises(self, head: bytes) -> bool:
        header = set(_header(head.split(b"\n", 1)[0].decode(errors="replace")))
        return all(header.intersection(_NAMES[column]) for column in ("name", "workgroup", "device"))

    def read(self, source: Source) -> Trace:
        lines = csv.reader(source.lines(), strict=True)
        try:
            header = _header_of(next(lines), source.where)
            rows = KernelRows()
            for row in lines:
                _add(row, header, rows, f"{source.where}: line {lines.line_num}")
        except csv.Error as problem:
            raise InputError(f"{source.where}: line {lines.line_num} is no CSV ({problem}).") from None
        return Trace(
            path=source.path,
            format=self.format,
            counted="dispatches",
            kernels=rows.table(),
            noted={"columns": header.width, "columns_used": header.used},
        )


class _Header:
    """Which column of a file holds what."""

    def __init__(self, names: Sequence[str]) -> None:
        self.width = len(names)
        found = {what: next((n for n in known if n in names), None) for what, known in _NAMES.items()}
        self.used = {what: name for what, name in found.items() if name is not None}
        self._places = {what: names.index(name) for what, name in self.used.items()}

    def text(self, row: Sequence[str], what: str) -> str:
        return row[self._places[what]]

    def number(self, row: Sequence[str], what: str, where: str) -> int | None:
        """Return a whole number, None where the file has no such column or the field is empty."""
        text = row[self._places[what]].strip() if what in self._places else ""
        try:
            return int(Decimal(text)) if text else None
        except (InvalidOperation, OverflowError, ValueError):
            raise InputError(f"{where}: {self.used[what]} must be a number. Got {shown(text)}.") from None


def _header(line: str) -> list[str]:
    try:
        return next(csv.reader([line.rstrip("\r\n")]), [])
    except csv.Error:
        return []


def _header_of(names: Sequence[str], where: str) -> _Header:
    header = _Header(names)
    for what in _NEEDED:
        if what not in header.used:
            raise InputError(f"{where}: has no column {' or '.join(_NAMES[what])}, so it is no whole pmc_perf.csv.")
    return header


def _add(row: Sequence[str], header: _Header, rows: KernelRows, where: str) -> None:
    if not row:
        return
    if len(row) != header.width:
        raise InputError(
            f"{where}: has {len(row)} fields where the header has {header.width}; the file is cut off or damaged."
        )
    start, end, threads, device = (header.number(row, what, where) for what in ("start", "end", "workgroup", "device"))
    if start is None or end is None or threads is None or device is None or threads < 1:
        raise InputError(f"{where}: needs a start, an end, a device and a workgroup size of at least 1.")
    grid, queue = (header.number(row, what, where) for what in ("grid", "queue"))
    rows.add(
        header.text(row, "name"),
        start_ns=start,
        duration_ns=end - start,
        device=device,
        stream=queue,
        workgroups=None if grid is None else workgroups_for(grid, threads),
        threads=threads,
        shared_bytes=header.number(row, "lds", where),
        vgprs=header.number(row, "vgpr", where),
        accum_vgprs=header.number(row, "accum_vgpr", where),
        sgprs=header.number(row, "sgpr", where),
        queue=queue,
    )
