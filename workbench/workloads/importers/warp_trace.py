"""Accel-Sim / NVBit traces of one kernel: every instruction of every warp, with the addresses that it touches.

Tracer versions 3 to 5, raw (`.trace`) and grouped by thread block (`.traceg`); see `warp_reader` and `warp_line`.
Reading keeps the distinct pages and warps, not the addresses.
"""

from __future__ import annotations

from workbench.workloads.importers.importer import Importer
from workbench.workloads.importers.source import Source
from workbench.workloads.importers.unreadable import is_tracez
from workbench.workloads.importers.warp_facts import AddressTrace, Footprint, warp_facts
from workbench.workloads.importers.warp_reader import WarpReader
from workbench.workloads.kernels import KernelRows


class RawWarpTrace(Importer):
    """Lines in the order in which they were drained."""

    format = "accelsim_trace_raw"
    says = "kernel-N.trace of Accel-Sim's NVBit tracer"

    def recognises(self, head: bytes) -> bool:
        return _is_warp_trace(head) and not _is_grouped(head)

    def read(self, source: Source) -> AddressTrace:
        return _read(source, self.format)


class GroupedWarpTrace(Importer):
    """One thread block after the other."""

    format = "accelsim_trace_grouped"
    says = "kernel-N.traceg of Accel-Sim"

    def recognises(self, head: bytes) -> bool:
        return _is_warp_trace(head) and _is_grouped(head)

    def read(self, source: Source) -> AddressTrace:
        return _read(source, self.format)


def _read(source: Source, of_format: str) -> AddressTrace:
    noted = warp_facts(WarpReader(source), Footprint())
    return AddressTrace(source.path, of_format, "kernels", KernelRows().table(), noted=noted)


def _is_warp_trace(head: bytes) -> bool:
    return head.lstrip().startswith((b"-kernel name", b"-kernel id", b"-grid dim")) and not is_tracez(head)


def _is_grouped(head: bytes) -> bool:
    _, _, body = head.partition(b"#traces format")
    lines = (line for line in body.split(b"\n")[1:] if line.strip())
    return next(lines, b"").startswith(b"#BEGIN_TB")
