"""CSV of AMD's profilers: `*_kernel_trace.csv`, and `pmc_perf.csv` of rocprofiler-compute.

Grids are in work-items and become workgroups rounded up.

`*_kernel_trace.csv` has one row a dispatch. ROCm 6 wrote `Group_Segment_Size`, the LDS of a workgroup, and agents as
numbers. ROCm 7 writes `LDS_Block_Size`, the same rounded up to 512 bytes by the tool, the registers of the kernel, the
stream, and agents as `Agent 4` or `GPU 3`; what `rocpd convert` makes of a database begins with a `Guid` and spells
`Lds_Block_Size`. ROCm 5 (rocprof, rocprofv2) wrote the columns of rocprofiler-compute.

`pmc_perf.csv` of rocprofiler-compute (once Omniperf) has one row a dispatch. The names of the columns differ from
version to version, and so does their order; of about a thousand columns a dozen is used. Some versions round the time
stamps so coarsely that every duration is 0, which the trace then says.
"""

from __future__ import annotations

import re
from typing import Any

from workbench.errors import InputError, shown
from workbench.units import workgroups_for
from workbench.workloads.importers.csv_tables import Header, Row, csv_rows, has_header
from workbench.workloads.importers.importer import Importer
from workbench.workloads.importers.rocpd import GRID, WORKGROUP
from workbench.workloads.importers.source import Source
from workbench.workloads.importers.trace import Trace
from workbench.workloads.kernels import KernelRows, shape_of

_COLUMNS_OF_TRACE = ("kernel_name", "agent_id", "start_timestamp", "end_timestamp", *GRID, *WORKGROUP)
_NUMBERS_OF_TRACE = {
    "stream": ("stream_id",),
    "shared_bytes": ("lds_block_size", "group_segment_size"),
    "vgprs": ("vgpr_count",),
    "accum_vgprs": ("accum_vgpr_count",),
    "sgprs": ("sgpr_count",),
    "correlation": ("correlation_id",),
    "queue": ("queue_id",),
}
_NUMBER_OF_AGENT = re.compile(r"(?:Agent|GPU|CPU)?\s*(\d{1,9})", re.IGNORECASE | re.ASCII)
_LDS_BLOCK_BYTES = 512


class KernelTraceCsv(Importer):
    """Read line by line."""

    format = "rocprofv3_kernel_trace_csv"
    description = "*_kernel_trace.csv of AMD's rocprofv3"
    counted = "dispatches"

    def recognises(self, head: bytes) -> bool:
        return has_header(head, _is_header)

    def read(self, source: Source) -> Trace:
        kernels, agents, rounded = KernelRows(), set[str](), dict[str, int]()
        for row in csv_rows(source, _is_header, "a kernel trace"):
            _add_dispatch(row, kernels)
            agents.add(row.text("agent_id"))
            if row.header.has("lds_block_size"):
                rounded = {"shared_bytes_rounded_to": _LDS_BLOCK_BYTES}
        return self.trace(
            source,
            kernels.table(),
            noted={"agents": sorted(agents), **rounded},
        )


def _is_header(header: Header) -> bool:
    return header.has(*_COLUMNS_OF_TRACE)


def _add_dispatch(row: Row, kernels: KernelRows) -> None:
    start, end = row.whole("start_timestamp"), row.whole("end_timestamp")
    grid, block = row.triple(*GRID), row.triple(*WORKGROUP)
    if start is None or end is None or grid is None or block is None:
        raise InputError(f"{row.where}: a dispatch needs a start, an end, a grid and a workgroup size.")
    kernels.add(
        row.text("kernel_name"),
        **shape_of(grid, block, in_work_items=True),
        start_ns=start,
        duration_ns=end - start,
        device=_agent(row),
        **row.wholes(_NUMBERS_OF_TRACE),
    )


def _agent(row: Row) -> int:
    """Return the number of the agent; `Agent n` counts CPUs too, so it is no number of a card."""
    text = row.text("agent_id")
    match = _NUMBER_OF_AGENT.fullmatch(text)
    if match is None:
        raise InputError(f"{row.where}: Agent_Id must be a number, `Agent n` or `GPU n`. Got {shown(text)}.")
    return int(match[1])


_COLUMNS_OF_COMPUTE = {
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
_LOWER = {what: tuple(map(str.lower, names)) for what, names in _COLUMNS_OF_COMPUTE.items()}
_NUMBERS_OF_COMPUTE = {what: names for what, names in _LOWER.items() if what != "name"}


class RocprofCompute(Importer):
    """Read line by line."""

    format = "omniperf_pmc_csv"
    description = "pmc_perf.csv of AMD's rocprofiler-compute"
    counted = "dispatches"

    def recognises(self, head: bytes) -> bool:
        return has_header(head.partition(b"\n")[0], lambda header: not _absent(header, "name", "workgroup", "device"))

    def read(self, source: Source) -> Trace:
        rows, noted = KernelRows(), dict[str, Any]()

        def is_whole(header: Header) -> bool:
            for what in _absent(header, "name", "start", "end", "workgroup", "device"):
                names = " or ".join(_COLUMNS_OF_COMPUTE[what])
                raise InputError(f"{source.where}: has no column {names}, so it is no whole pmc_perf.csv.")
            places = {what: header.places.get(header.first(names)) for what, names in _LOWER.items()}
            used = {what: header.names[place].strip() for what, place in places.items() if place is not None}
            noted.update(columns=len(header.names), columns_used=used)
            return True

        for row in csv_rows(source, is_whole, "a pmc_perf.csv"):
            _add_counted(row, rows)
        return self.trace(source, rows.table(), noted=noted)


def _absent(header: Header, *needed: str) -> list[str]:
    return [what for what in needed if header.first(_LOWER[what]) not in header.places]


def _add_counted(row: Row, rows: KernelRows) -> None:
    values = {what: row.decimal(row.header.first(names)) for what, names in _NUMBERS_OF_COMPUTE.items()}
    numbers = {what: None if value is None else int(value) for what, value in values.items()}  # medians may have a half
    start, end, threads, device = (numbers[what] for what in ("start", "end", "workgroup", "device"))
    if start is None or end is None or threads is None or device is None or threads < 1:
        raise InputError(f"{row.where}: needs a start, an end, a device and a workgroup size of at least 1.")
    rows.add(
        row.text(row.header.first(_LOWER["name"])),
        start_ns=start,
        duration_ns=end - start,
        device=device,
        stream=numbers["queue"],
        workgroups=None if numbers["grid"] is None else workgroups_for(numbers["grid"], threads),
        threads=threads,
        shared_bytes=numbers["lds"],
        vgprs=numbers["vgpr"],
        accum_vgprs=numbers["accum_vgpr"],
        sgprs=numbers["sgpr"],
        queue=numbers["queue"],
    )
