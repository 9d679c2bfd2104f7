"""rocprofv3's `*_kernel_trace.csv`: one row a dispatch, in the columns of ROCm 6 and 7.

ROCm 6 wrote `Group_Segment_Size`, the LDS of a workgroup, and agents as numbers. ROCm 7 writes `LDS_Block_Size`, the
same rounded up to 512 bytes by the tool, the registers of the kernel, the stream, and agents as `Agent 4` or `GPU 3`;
what `rocpd convert` makes of a database begins with a `Guid` and spells `Lds_Block_Size`. Grids are in work-items on
each axis and become workgroups rounded up. ROCm 5 (rocprof, rocprofv2) wrote the columns of `rocprof_compute`.
"""

from __future__ import annotations

import re

from workbench.errors import InputError, shown
from workbench.units import workgroups_for
from workbench.workloads.importers.csv_table import Header, Row, has_header, rows
from workbench.workloads.importers.importer import Importer
from workbench.workloads.importers.source import Source
from workbench.workloads.importers.trace import Trace
from workbench.workloads.kernels import KernelRows

_GRID = ("grid_size_x", "grid_size_y", "grid_size_z")
_WORKGROUP = ("workgroup_size_x", "workgroup_size_y", "workgroup_size_z")
_NEEDED = ("kernel_name", "agent_id", "start_timestamp", "end_timestamp", *_GRID, *_WORKGROUP)
_AGENT = re.compile(r"(?:Agent|GPU|CPU)?\s*(\d{1,9})", re.IGNORECASE | re.ASCII)
_LDS_BLOCK_BYTES = 512


class KernelTraceCsv(Importer):
    """Read line by line."""

    format = "rocprofv3_kernel_trace_csv"
    says = "*_kernel_trace.csv of AMD's rocprofv3"

    def recognises(self, head: bytes) -> bool:
        return has_header(head, _is_header)

    def read(self, source: Source) -> Trace:
        kernels, agents, rounded = KernelRows(), set[str](), False
        for row in rows(source, _is_header, "a kernel trace"):
            _add(row, kernels)
            agents.add(row.text("agent_id"))
            rounded = rounded or row.header.has("lds_block_size")
        noted = {"agents": sorted(agents)}
        return Trace(
            path=source.path,
            format=self.format,
            counted="dispatches",
            kernels=kernels.table(),
            noted={**noted, **({"shared_bytes_rounded_to": _LDS_BLOCK_BYTES} if rounded else {})},
        )


def _is_header(header: Header) -> bool:
    return header.has(*_NEEDED)


def _add(row: Row, kernels: KernelRows) -> None:
    start, end = row.whole("start_timestamp"), row.whole("end_timestamp")
    grid, block = row.triple(*_GRID), row.triple(*_WORKGROUP)
    if start is None or end is None or grid is None or block is None:
        raise InputError(f"{row.where}: a dispatch needs a start, an end, a grid and a workgroup size.")
    along = [workgroups_for(items, size) for items, size in zip(grid, block, strict=True)]
    lds = "lds_block_size" if row.header.has("lds_block_size") else "group_segment_size"
    kernels.add(
        row.text("kernel_name"),
        block=block,
        start_ns=start,
        duration_ns=end - start,
        device=_agent(row),
        stream=row.whole("stream_id"),
        workgroups=along[0] * along[1] * along[2],
        threads=block[0] * block[1] * block[2],
        shared_bytes=row.whole(lds),
        vgprs=row.whole("vgpr_count"),
        accum_vgprs=row.whole("accum_vgpr_count"),
        sgprs=row.whole("sgpr_count"),
        correlation=row.whole("correlation_id"),
        queue=row.whole("queue_id"),
    )


def _agent(row: Row) -> int:
    """Return the number of the agent; `Agent n` counts CPUs too, so it is no number of a card."""
    match = _AGENT.fullmatch(row.text("agent_id"))
    if match is None:
        raise InputError(
            f"{row.where}: Agent_Id must be a number, `Agent n` or `GPU n`. Got {shown(row.text('agent_id'))}."
        )
    return int(match[1])
