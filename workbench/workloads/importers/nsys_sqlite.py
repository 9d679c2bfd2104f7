"""Nsight Systems: the SQLite file of `nsys export --type sqlite`.

Every kernel is a row of CUPTI_ACTIVITY_KIND_KERNEL: grid in thread blocks, block in threads, static and dynamic shared
memory in bytes, registers of a thread, nanoseconds since the recording began. Names are numbers of StringIds. Columns
came and went between the versions of the schema; what one lacks is missing, and none of it is guessed. Kernels of a
CUDA graph have rows where nsys traced nodes (`--cuda-graph-trace=node`); graphs traced as a whole hold no kernels, and
how many there are is a fact.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from workbench.errors import InputError
from workbench.workloads.importers.database import Database, is_sqlite
from workbench.workloads.importers.importer import Importer
from workbench.workloads.importers.source import Source
from workbench.workloads.importers.trace import Card, Trace
from workbench.workloads.kernel_columns import KernelColumns, lasting, volume
from workbench.workloads.kernels import MISSING

_KERNELS = "CUPTI_ACTIVITY_KIND_KERNEL"
_STRINGS = "StringIds"
_NAMES = ("demangledName", "shortName", "mangledName")
_GRID, _BLOCK = ("gridX", "gridY", "gridZ"), ("blockX", "blockY", "blockZ")
_OTHERS = (
    "start",
    "end",
    "deviceId",
    "streamId",
    "correlationId",
    "registersPerThread",
    "staticSharedMemory",
    "dynamicSharedMemory",
    "graphNodeId",
)
_NEEDED = ("start", "end")
_CARD = (
    "id",
    "name",
    "chipName",
    "smCount",
    "threadsPerWarp",
    "maxWarpsPerSm",
    "maxRegistersPerSm",
    "maxShmemPerSm",
    "maxShmemPerBlock",
    "totalMemory",
)


class NsysSqlite(Importer):
    """Read batch by batch; memory holds the columns of the kernels."""

    format = "nsys_sqlite"
    says = "nsys export --type sqlite of NVIDIA Nsight Systems"

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
            kernels, of_graphs = _kernels(database)
            names = _names(database, kernels.numbers)
            return Trace(
                path=source.path,
                format=self.format,
                counted="kernels",
                kernels=kernels.table(names),
                cards=_cards(database),
                noted={
                    "schema": _schema(database),
                    "memcpys": database.count("CUPTI_ACTIVITY_KIND_MEMCPY"),
                    "memsets": database.count("CUPTI_ACTIVITY_KIND_MEMSET"),
                    "kernels_of_graphs": of_graphs,
                    "graphs_without_kernels": database.count("CUPTI_ACTIVITY_KIND_GRAPH_TRACE"),
                },
            )


def _kernels(database: Database) -> tuple[KernelColumns, int]:
    """Return the kernels, and how many of them were nodes of a CUDA graph."""
    there = database.columns(_KERNELS)
    for needed in _NEEDED:
        if needed not in there:
            raise InputError(f"{database.where}: {_KERNELS} has no column {needed}, so it is no export of nsys.")
    name = next((name for name in _NAMES if name in there), None)
    if name is None:
        raise InputError(f"{database.where}: {_KERNELS} has no column {' or '.join(_NAMES)}, so kernels have no names.")
    columns, of_graphs = KernelColumns(), 0
    for batch in database.numbers(_KERNELS, (*_OTHERS, *_GRID, *_BLOCK, name)):
        columns.add_numbered(batch[name], **_values(batch, database.where))
        of_graphs += int(np.count_nonzero(batch["graphNodeId"] > 0))
    return columns, of_graphs


def _values(batch: dict[str, np.ndarray], where: str) -> dict[str, np.ndarray]:
    """Return columns of `KernelTable`."""
    block = np.stack([batch[axis] for axis in _BLOCK], axis=1)
    return {
        "start_ns": batch["start"],
        "duration_ns": lasting(batch["start"], batch["end"], where),
        "device": np.maximum(batch["deviceId"], 0),
        "stream": batch["streamId"],
        "workgroups": volume((batch[axis] for axis in _GRID), where),
        "threads": volume(block.T, where),
        "block": block,
        "shared_bytes": _sum(batch["staticSharedMemory"], batch["dynamicSharedMemory"]),
        "vgprs": batch["registersPerThread"],
        "correlation": batch["correlationId"],
    }


def _sum(one: np.ndarray, other: np.ndarray) -> np.ndarray:
    """Return sums of bytes; MISSING where either part is."""
    return np.where((one == MISSING) | (other == MISSING), MISSING, one + other)


def _names(database: Database, numbers: set[int]) -> dict[int, str]:
    """Return the texts of the numbers that kernels have for names."""
    texts = database.texts(_STRINGS, "id", "value", numbers)
    lost = min(numbers - texts.keys(), default=None)
    if lost is not None:
        raise InputError(f"{database.where}: a kernel's name is string {lost}, which {_STRINGS} does not have.")
    return texts


def _cards(database: Database) -> tuple[Card, ...]:
    return tuple(_card(dict(zip(_CARD, row))) for row in database.rows("TARGET_INFO_GPU", _CARD))


def _card(told: dict[str, Any]) -> Card:
    warps, lanes = _whole(told["maxWarpsPerSm"]), _whole(told["threadsPerWarp"])
    return Card(
        number=_whole(told["id"]) or 0,
        name=str(told["name"] or ""),
        architecture=str(told["chipName"]) if told["chipName"] else None,
        compute_units=_whole(told["smCount"]),
        wave_size=lanes,
        waves_a_unit=warps,
        threads_a_unit=warps * lanes if warps and lanes else None,
        registers_a_unit=_whole(told["maxRegistersPerSm"]),
        shared_memory_bytes=_whole(told["maxShmemPerSm"]),
        workgroup_shared_bytes=_whole(told["maxShmemPerBlock"]),
        memory_bytes=_whole(told["totalMemory"]),
    )


def _whole(value: Any) -> int | None:
    return value if isinstance(value, int) and value >= 0 else None


def _schema(database: Database) -> str:
    """Return the version of the export's schema; empty where it is not said."""
    told: Iterator[tuple[Any, ...]] = iter(database.rows("META_DATA_EXPORT", ("name", "value")))
    config = {str(name): str(value) for name, value in told}
    return config.get("EXPORT_SCHEMA_VERSION", "")
