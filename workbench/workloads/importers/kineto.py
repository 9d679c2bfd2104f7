"""Kineto: the Chrome traces of PyTorch's profiler, of NVIDIA and AMD cards, since 2021.

A kernel is a complete event (`ph` X) of the category `kernel` (2021: `Kernel`); times are microseconds with up to three
decimals. On NVIDIA its arguments hold grid, block, registers and shared memory (static and dynamic together). On AMD
there is no shared memory and no register count, and kernels replayed from a HIP graph have no grid either.

One more thing needs care on AMD. Kineto's roctracer back end writes `globalWorkSize` as the grid of what
`hipExtModuleLaunchKernel` launched (libkineto/src/RoctracerLogger.cpp reads one union member for both kinds of call),
and HIP counts that in work-items. Such a grid is divided by its block here; `noted` keeps the sum as it was recorded.
"""

from __future__ import annotations

from array import array
from collections import Counter
from typing import Any

import msgspec
import numpy as np

from workbench.errors import InputError
from workbench.units import workgroups_for
from workbench.workloads.allocations import AllocationTable
from workbench.workloads.importers.importer import Importer
from workbench.workloads.importers.jax_trace import is_xla_trace
from workbench.workloads.importers.json_array import JsonArray
from workbench.workloads.importers.kineto_events import (
    EMPTY,
    Event,
    KernelArgs,
    MemoryArgs,
    Rest,
    decoded,
    nanoseconds,
)
from workbench.workloads.importers.source import Source
from workbench.workloads.importers.trace import Trace
from workbench.workloads.kernels import MISSING, KernelRows, KernelTable

_CATEGORIES = {
    "kernel": "kernels",
    "gpu_memcpy": "memcpys",
    "memcpy": "memcpys",
    "gpu_memset": "memsets",
    "memset": "memsets",
}
_LAUNCHES_IN_WORK_ITEMS = (b'"hipExtModuleLaunchKernel"', b'"hipHccModuleLaunchKernel"')
_MEMORY = b'"[memory]"'
_GPU_TYPES = (1, 6)
"""`Device Type` of a memory event: 0 CPU, 1 CUDA, 6 HIP."""

_MEMORY_FIELDS = ("time_ns", "bytes", "device", "address", "allocated_after", "reserved_after")

_events = msgspec.json.Decoder(list[Event])
_kernel_args = msgspec.json.Decoder(KernelArgs, strict=False)
_memory_args = msgspec.json.Decoder(MemoryArgs, strict=False)
_rest = msgspec.json.Decoder(Rest)
_text = msgspec.json.Decoder(str)


class Kineto(Importer):
    """Read in pieces: memory holds the columns of the kernels and of the memory events, not the file."""

    format = "kineto"
    says = "a Chrome trace of PyTorch's profiler"

    def recognises(self, head: bytes) -> bool:
        start = head.lstrip()[:1]
        if is_xla_trace(head):
            return False
        return (start == b"{" and b'"traceEvents"' in head) or (start == b"[" and b'"ph"' in head)

    def read(self, source: Source) -> Trace:
        events = JsonArray(source.pieces(), "traceEvents", source.where)
        kernels, memory, counts = _Kernels(source.where), _Memory(source.where), Counter[str]()
        takers = {"kernels": kernels.add, "work_item_launches": kernels.launched_in_work_items, "memory": memory.add}
        for batch in events.batches():
            for event in decoded(_events, batch, source.where, "its traceEvents are not events"):
                kind = _kind(event)
                counts.update(("events", kind))
                if kind in takers:
                    takers[kind](event, f"event {counts['events']}")
        rest = Rest() if events.is_document else decoded(_rest, events.rest, source.where, "it is no Kineto trace")
        table, noted = kernels.table(work_items=rest.roctracer != EMPTY)
        return Trace(
            path=source.path,
            format=self.format,
            counted="kernels",
            kernels=table,
            allocations=memory.table() if counts["memory"] else None,
            cards=tuple(properties.card() for properties in rest.properties),
            noted={**{kind: counts[kind] for kind in ("events", "memcpys", "memsets")}, **noted},
        )


def _kind(event: Event) -> str:
    if event.ph == "X":
        kind = _CATEGORIES.get((event.cat or "").lower())
        return kind or ("work_item_launches" if bytes(event.name) in _LAUNCHES_IN_WORK_ITEMS else "other")
    return "memory" if event.ph == "i" and bytes(event.name) == _MEMORY else "other"


class _Kernels:
    """Gathers the kernels, and the launches whose grids are counted in work-items."""

    def __init__(self, where: str) -> None:
        self._where = where
        self._rows = KernelRows()
        self._grids = array("q")
        self._names: dict[bytes, str] = {}
        self._work_items: set[int] = set()

    def add(self, event: Event, place: str) -> None:
        args = _args(_kernel_args, event, self._where, place)
        if args.device is None:
            raise InputError(f"{self._where}: {place} is a kernel without a device.")
        grid, block = args.grid, args.block
        self._grids.extend(grid or (MISSING, MISSING, MISSING))
        self._rows.add(
            self._name(event, place),
            block=block,
            start_ns=nanoseconds(event.ts, self._where, f"ts of {place}"),
            duration_ns=nanoseconds(event.dur, self._where, f"dur of {place}"),
            device=args.device,
            stream=args.stream,
            workgroups=grid and grid[0] * grid[1] * grid[2],
            threads=block and block[0] * block[1] * block[2],
            shared_bytes=args.shared,
            vgprs=args.registers,
            correlation=args.correlation,
        )

    def launched_in_work_items(self, event: Event, place: str) -> None:
        correlation = _args(_kernel_args, event, self._where, place).correlation
        if correlation is not None:
            self._work_items.add(correlation)

    def table(self, work_items: bool) -> tuple[KernelTable, dict[str, int]]:
        """The table; with `work_items` the grids of such launches become workgroups, and what was recorded is noted."""
        table = self._rows.table()
        if not work_items or table.correlation is None or table.workgroups is None or table.block is None:
            return table, {}
        counted = np.isin(table.correlation, list(self._work_items)) & (table.workgroups != MISSING)
        grids = np.array(self._grids, np.int64).reshape(-1, 3)
        whole = np.prod(workgroups_for(grids[counted], table.block[counted]), axis=1)
        noted = {
            "grids_in_work_items": int(counted.sum()),
            "grid_sum_recorded": int(table.workgroups[table.workgroups != MISSING].sum()),
        }
        workgroups = table.workgroups.copy()
        workgroups[counted] = whole
        return table._replace(workgroups=workgroups), noted

    def _name(self, event: Event, place: str) -> str:
        raw = bytes(event.name)
        if raw not in self._names:
            self._names[raw] = decoded(_text, raw, self._where, f"the name of {place} is no text")
        return self._names[raw]


class _Memory:
    """Gathers the allocations and releases of cards; those of the host are left out."""

    def __init__(self, where: str) -> None:
        self._where = where
        self._columns = {field: array("q") for field in _MEMORY_FIELDS}

    def add(self, event: Event, place: str) -> None:
        args = _args(_memory_args, event, self._where, place)
        if args.device_type not in _GPU_TYPES:
            return
        row = (
            nanoseconds(event.ts, self._where, f"ts of {place}"),
            args.bytes,
            args.device,
            args.address,
            args.allocated,
            args.reserved,
        )
        for column, value in zip(self._columns.values(), row, strict=True):
            column.append(MISSING if value is None else value)

    def table(self) -> AllocationTable:
        """In the order of time: the file's order is not to be relied on."""
        columns = [np.array(column, np.int64) for column in self._columns.values()]
        order = np.argsort(columns[0], kind="stable")
        time_ns, size, device = (column[order] for column in columns[:3])
        optional = (None if (column == MISSING).any() else column[order] for column in columns[3:])
        address, allocated, reserved = optional
        return AllocationTable(time_ns, size, device, address, allocated, reserved)


def _args(decoder: msgspec.json.Decoder[Any], event: Event, where: str, place: str) -> Any:
    return decoded(
        decoder, bytes(event.args) or b"{}", where, f"the arguments of {place} are not as Kineto writes them"
    )
