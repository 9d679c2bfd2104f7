"""NVBit's example tool mem_trace: every memory instruction of every warp, of all kernels of a program, as text."""

from __future__ import annotations

from workbench.errors import InputError
from workbench.workloads.importers.importer import Importer
from workbench.workloads.importers.nvbit_reader import SIGN, MemTraceReader
from workbench.workloads.importers.source import Source
from workbench.workloads.importers.warp_facts import AddressTrace, Footprint
from workbench.workloads.kernels import KernelRows


class NvbitMemTrace(Importer):
    """Reading keeps the distinct pages and warps, not the addresses."""

    format = "nvbit_mem_trace"
    says = "output of NVBit's tool mem_trace"

    def recognises(self, head: bytes) -> bool:
        return head.startswith(SIGN) or b"\n" + SIGN in head

    def read(self, source: Source) -> AddressTrace:
        reader, footprint = MemTraceReader(source), Footprint()
        for part in reader.parts():
            for _ in footprint.passing(part.batches()):
                pass
        launches = reader.launches
        if not launches:
            raise InputError(f"{source.where}: names no launch; the lines with LAUNCH must be in the output too.")
        noted = {
            "kernels": len(launches),
            "unique_names": len({launch.name for launch in launches}),
            "thread_blocks": sum(launch.thread_blocks for launch in launches),
            "max_shared_bytes": max(launch.shared_bytes for launch in launches),
            "registers": max(launch.registers for launch in launches),
            "warps": len(reader.warps),
            "memory_instructions": reader.instructions,
            "shared_memory_instructions": reader.of_shared,
            "global_memory_instructions": reader.instructions - reader.of_shared,
            **footprint.facts(),
            "memory_opcodes": dict(sorted(reader.opcodes.items())),
        }
        return AddressTrace(source.path, self.format, "kernels", KernelRows().table(), noted=noted)
