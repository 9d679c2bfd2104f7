"""Kineto: the Chrome traces of PyTorch's profiler, of NVIDIA and AMD cards, since 2021.

A kernel is a complete event (`ph` X) of the category `kernel` (2021: `Kernel`); times are microseconds with up to three
decimals. On NVIDIA its arguments hold grid, block, registers and shared memory (static and dynamic together). On AMD
there are no registers, kernels replayed from a HIP graph have no grid, and the shared memory stands in the call that
launched the kernel, joined by `correlation`: its dynamic part alone, which is kept apart
(`KernelTable.launch_shared_bytes`).

What a grid counts on AMD depends on the call. `hipLaunchKernel` takes workgroups. `hipExtModuleLaunchKernel` takes
work-items, and both back ends of Kineto write them into the grid as they are. roctracer
(libkineto/src/RoctracerLogger.cpp) reads one union member for all calls on modules. rocprofiler-sdk
(libkineto/src/RocprofLogger.cpp) stores `globalWorkSize` where it stores `gridDim`; before pytorch/kineto#1418, in June
2026, it stored zeros for calls on modules. A grid that a call counted in work-items is divided by its block where the
file names the library that recorded it; `noted` keeps the sum as it was recorded. Where the file names none, or does
not hold the call, both readings are kept (`KernelTable.either_workgroups`) and none is taken. A grid or a block with a
zero in it was not recorded.
"""

from __future__ import annotations

import re
from array import array
from collections import Counter
from functools import lru_cache
from typing import NamedTuple

import msgspec
import numpy as np

from workbench.errors import InputError
from workbench.units import workgroups_for
from workbench.workloads.allocations import AllocationTable
from workbench.workloads.importers.importer import Importer
from workbench.workloads.importers.json_arrays import JsonArray
from workbench.workloads.importers.kineto_events import (
    GPU_TYPES,
    MEMORY,
    Event,
    Mending,
    Rest,
    arguments,
    decoded,
    kernel_args,
    launch_args,
    memory_args,
    nanoseconds,
)
from workbench.workloads.importers.source import HEAD_BYTES, Source
from workbench.workloads.importers.trace import Trace
from workbench.workloads.importers.xla import is_xla_trace
from workbench.workloads.kernels import MISSING, KernelRows, KernelTable

_CATEGORIES = {
    "kernel": "kernels",
    "gpu_memcpy": "memcpys",
    "memcpy": "memcpys",
    "gpu_memset": "memsets",
    "memset": "memsets",
}
_KEYS = re.compile(rb'"(?:deviceProperties|distributedInfo|baseTimeNanoseconds|schemaVersion|roctracer_version)"\s*:')
"""What may stand before the events; a job of thousands of ranks fills the first MiB with its process groups."""
_MEMORY_FIELDS = ("time_ns", "bytes", "device", "address", "allocated_after", "reserved_after")

_events = msgspec.json.Decoder(list[Event])
_rest = msgspec.json.Decoder(Rest)
_text = msgspec.json.Decoder(str)


class Kineto(Importer):
    """Read in pieces: memory holds the columns of the kernels and of the memory events, not the file."""

    format = "kineto"
    description = "a Chrome trace of PyTorch's profiler"
    counted = "kernels"

    def recognises(self, head: bytes) -> bool:
        start = head.lstrip()[:1]
        if is_xla_trace(head):
            return False
        if start == b"{":
            return b'"traceEvents"' in head or (len(head) > HEAD_BYTES // 4 and _KEYS.search(head) is not None)
        return start == b"[" and b'"ph"' in head

    def read(self, source: Source) -> Trace:
        events = JsonArray(source.pieces(), "traceEvents", source.where)
        kernels, launches, memory = _Kernels(source.where), Launches(source.where), _Memory(source.where)
        takers = {"kernels": kernels.add, "launches": launches.add, "memory": memory.add}
        mending, counts = Mending(source.where), Counter[str]()
        for batch in events.batches():
            batched = mending.decoded(_events, batch, "its traceEvents are not events")
            for number, event in enumerate(batched, counts["events"] + 1):
                kind = _kind(event)
                if kind != "other":
                    counts[kind] += 1
                if kind in takers:
                    takers[kind](event, f"event {number}")
            counts["events"] += len(batched)
        rest = Rest() if events.is_document else mending.decoded(_rest, events.rest, "it is no Kineto trace")
        table, noted = kernels.table(launches, rest)
        return self.trace(
            source,
            table,
            allocations=memory.table() if counts["memory"] else None,
            cards=tuple(properties.card() for properties in rest.properties),
            noted={
                **{kind: counts[kind] for kind in ("events", "memcpys", "memsets")},
                **noted,
                **({"repaired": dict(mending.counts)} if mending.counts else {}),
            },
        )


def _kind(event: Event) -> str:
    if event.ph == "X":
        return _category(event.cat) or ("launches" if is_launch(bytes(event.name)) else "other")
    return "memory" if event.ph == "i" and bytes(event.name) == MEMORY else "other"


@lru_cache(maxsize=1 << 10)
def _category(category: str | None) -> str | None:
    """Return the kind of the events of a category, of which a file has a dozen."""
    return _CATEGORIES.get((category or "").lower())


def _recorded(axes: tuple[int, int, int] | None) -> tuple[int, int, int] | None:
    """Return the axes of a grid or a block; None where one is 0, as what counted them did not know the call."""
    return axes if axes and 0 not in axes else None


class _Kernels:
    """Gathers the kernels."""

    def __init__(self, where: str) -> None:
        self._where = where
        self._rows = KernelRows()
        self._grids = array("q")
        self._names: dict[bytes, str] = {}

    def add(self, event: Event, place: str) -> None:
        args = arguments(kernel_args, event, self._where, place)
        if args.device is None:
            raise InputError(f"{self._where}: {place} is a kernel without a device.")
        grid, block = _recorded(args.grid), _recorded(args.block)
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

    def table(self, launches: Launches, rest: Rest) -> tuple[KernelTable, dict[str, int]]:
        """Return the table with what the launches tell of it, and what is worth a note."""
        table = self._rows.table()
        if not (len(launches) or rest.of_amd):
            return table, {}
        launched = launches.of(table.correlation, table.rows)
        table, noted = self._with_workgroups(table, launched, rest.of_rocm)
        if not (launched.shared_bytes != MISSING).any():
            return table, noted
        noted["kernels_with_launch_shared_memory"] = int(np.count_nonzero(launched.shared_bytes != MISSING))
        noted["kernels_with_dynamic_shared_memory"] = int(np.count_nonzero(launched.shared_bytes > 0))
        return table._replace(launch_shared_bytes=launched.shared_bytes), noted

    def _with_workgroups(
        self, table: KernelTable, launched: Launched, library_named: bool
    ) -> tuple[KernelTable, dict[str, int]]:
        """Return the table with grids of work-items as workgroups; both readings where that is not certain."""
        if table.workgroups is None or table.block is None:
            return table, {}
        grids = np.array(self._grids, np.int64).reshape(-1, 3)
        known = (table.workgroups != MISSING) & (table.block[:, 0] != MISSING)
        whole = np.where(known, 0, MISSING)
        whole[known] = np.prod(workgroups_for(grids[known], table.block[known]), axis=1)
        divided = known & launched.in_work_items & library_named
        unsaid = known & (whole != table.workgroups) & ~divided & (launched.in_work_items | ~launched.known)
        noted = {}
        if library_named:
            noted["grids_in_work_items"] = int(divided.sum())
            noted["grid_sum_recorded"] = int(table.workgroups[table.workgroups != MISSING].sum())
        if not unsaid.any():
            return table._replace(workgroups=np.where(divided, whole, table.workgroups)), noted
        noted["grids_of_unsaid_unit"] = int(unsaid.sum())
        either = np.where(unsaid[:, None], np.stack([table.workgroups, whole], axis=1), MISSING)
        message = np.where(unsaid, MISSING, np.where(divided, whole, table.workgroups))
        return table._replace(workgroups=message, either_workgroups=either), noted

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
        args = arguments(memory_args, event, self._where, place)
        if args.device_type not in GPU_TYPES:
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
        """Return the table in the order of time: the file's order is not to be relied on."""
        columns = [np.array(column, np.int64) for column in self._columns.values()]
        order = np.argsort(columns[0], kind="stable")
        time_ns, size, device = (column[order] for column in columns[:3])
        optional = (None if (column == MISSING).any() else column[order] for column in columns[3:])
        address, allocated, reserved = optional
        return AllocationTable(time_ns, size, device, address, allocated, reserved)


_LAUNCH = re.compile(rb'"hip\w*Launch\w*Kernel\w*"')
_IN_WORK_ITEMS = (b'"hipExtModuleLaunchKernel"', b'"hipHccModuleLaunchKernel"')


def is_launch(name: bytes) -> bool:
    """Return whether a call of this name, with its quotes, launches a kernel on an AMD card.

    >>> is_launch(b'"hipExtModuleLaunchKernel"'), is_launch(b'"hipGraphLaunch"'), is_launch(b'"cudaLaunchKernel"')
    (True, False, False)
    """
    return name.startswith(b'"hip') and _LAUNCH.fullmatch(name) is not None


class Launched(NamedTuple):
    """What is known of each kernel's launch."""

    known: np.ndarray
    """bool[kernels], whether the trace holds the call."""
    in_work_items: np.ndarray
    """bool[kernels], whether that call counts its grid in work-items."""
    shared_bytes: np.ndarray
    """int64[kernels], the dynamic shared memory that it asked for; MISSING where that was not recorded."""


class Launches:
    """Gathers the launching calls, three numbers each."""

    def __init__(self, where: str) -> None:
        self._where = where
        self._correlation, self._shared, self._in_work_items = array("q"), array("q"), array("b")

    def add(self, event: Event, place: str) -> None:
        """Keep one call; a call without a correlation number joins nothing."""
        args = arguments(launch_args, event, self._where, place)
        if args.correlation is None:
            return
        self._correlation.append(args.correlation)
        self._shared.append(MISSING if args.shared is None else args.shared)
        self._in_work_items.append(bytes(event.name) in _IN_WORK_ITEMS)

    def __len__(self) -> int:
        return len(self._correlation)

    def of(self, correlation: np.ndarray | None, kernels: int) -> Launched:
        """Return the known facts of the launch of each kernel; where two calls have one number, the first counts."""
        none = Launched(np.zeros(kernels, bool), np.zeros(kernels, bool), np.full(kernels, MISSING))
        if correlation is None or not len(self):
            return none
        numbers, first = np.unique(np.array(self._correlation, np.int64), return_index=True)
        place = np.minimum(np.searchsorted(numbers, correlation), len(numbers) - 1)
        result = (numbers[place] == correlation) & (correlation != MISSING)
        row = first[place]
        shared = np.where(result, np.array(self._shared, np.int64)[row], MISSING)
        return Launched(result, result & np.array(self._in_work_items, bool)[row], shared)
