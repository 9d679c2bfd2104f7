"""rocpd: the SQLite database `*_results.db` that rocprofv3 writes since ROCm 7, and rocprofiler-systems on demand.

A table has the identifier of its recording behind its name (`rocpd_kernel_dispatch_0000a1...`), and a file of several
recordings has several of each; the views without it are code of the file and are not used. Dispatches of schema 3 name
agent, queue and stream themselves, those of schema 4 name a track that does; schema 4 in its first form kept time
stamps in a table too. Grids are in work-items on each axis and become workgroups rounded up; `group_segment_size` of a
dispatch is the LDS of a workgroup, static and dynamic together. The card's number is its agent's among the GPUs
(`type_index`), as in rocprofv3's JSON; where there are several machines, cards are counted through.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import NamedTuple

import numpy as np

from workbench.errors import InputError
from workbench.units import workgroups_for
from workbench.workloads.importers.database import Database, is_sqlite
from workbench.workloads.importers.importer import Importer
from workbench.workloads.importers.rocpd_tables import Agents, Symbols
from workbench.workloads.importers.source import Source
from workbench.workloads.importers.trace import Trace
from workbench.workloads.kernel_columns import KernelColumns, lasting, volume
from workbench.workloads.kernels import MISSING

_DISPATCHES = "rocpd_kernel_dispatch"
_ENDING = re.compile(r"(?:_[\w-]{1,200})?", re.ASCII)
_GRID = ("grid_size_x", "grid_size_y", "grid_size_z")
_WORKGROUP = ("workgroup_size_x", "workgroup_size_y", "workgroup_size_z")
_OF_TRACK = ("agent_id", "queue_id", "stream_id")
_TIMES = ("start", "end")
_NEEDED = ("kernel_id", *_GRID, *_WORKGROUP)


class Rocpd(Importer):
    """Read batch by batch; memory holds the columns of the dispatches."""

    format = "rocpd_sqlite"
    says = "the rocpd database (*_results.db) of AMD's rocprofv3"

    def recognises(self, head: bytes) -> bool:
        return is_sqlite(head) and _DISPATCHES.encode() in head

    def recognises_source(self, source: Source) -> bool:
        if not is_sqlite(source.head):
            return False
        with Database(source) as database:
            return any(table.startswith("rocpd_") for table in database.tables)

    def read(self, source: Source) -> Trace:
        with Database(source) as database:
            endings = _recordings(database)
            agents = Agents(database, endings)
            symbols = Symbols(database, endings)
            columns = KernelColumns()
            for ending in endings:
                _add(_Recording(database, ending, agents, symbols), columns)
            return Trace(
                path=source.path,
                format=self.format,
                counted="dispatches",
                kernels=columns.table(symbols.names),
                cards=agents.cards,
                noted={
                    "schema": _schema(database, endings),
                    "recordings": len(endings),
                    "memcpys": sum(database.count(f"rocpd_memory_copy{ending}") for ending in endings),
                    "rocprofiler_agents": agents.count,
                },
            )


def _recordings(database: Database) -> list[str]:
    """Return what stands behind the names of tables, once a recording."""
    named = [name.removeprefix(_DISPATCHES) for name in database.tables if name.startswith(_DISPATCHES)]
    endings = sorted(ending for ending in named if _ENDING.fullmatch(ending))
    if not endings:
        raise InputError(f"{database.where}: holds no dispatches; record with `rocprofv3 --kernel-trace`.")
    return endings


class _Recording(NamedTuple):
    """One recording of a file, and what the file says of agents and kernels."""

    database: Database
    ending: str
    agents: Agents
    symbols: Symbols

    @property
    def table(self) -> str:
        return _DISPATCHES + self.ending


def _add(recording: _Recording, columns: KernelColumns) -> None:
    """Add the dispatches of a recording."""
    database, table = recording.database, recording.table
    there = database.columns(table)
    for needed in _NEEDED:
        if needed not in there:
            raise InputError(f"{database.where}: {table} has no column {needed}, so it is no rocpd database.")
    tracks, times = _tracks(recording), _times(recording)
    wanted = ("id", "kernel_id", "track_id", "start_id", "end_id", "group_segment_size", *_TIMES, *_OF_TRACK)
    for batch in database.numbers(table, (*wanted, *_GRID, *_WORKGROUP)):
        batch |= _of_tracks(batch, tracks)
        if times is not None:
            batch |= {name: _at(times, batch[f"{name}_id"], recording, "time stamp") for name in _TIMES}
        _add_batch(batch, recording, columns)


def _add_batch(batch: dict[str, np.ndarray], recording: _Recording, columns: KernelColumns) -> None:
    symbol = _mapped(batch["kernel_id"], recording.symbols.numbers[recording.ending], recording, "kernel")
    agents = {key: number for (ending, key), number in recording.agents.numbers.items() if ending == recording.ending}
    block = np.stack([batch[axis] for axis in _WORKGROUP], axis=1)
    if (block < 1).any():
        row = int(np.argmax((block < 1).any(axis=1)))
        raise InputError(
            f"{recording.database.where}: dispatch {batch['id'][row]} has the workgroup size "
            f"{tuple(block[row].tolist())}; each axis must be 1 or more."
        )
    along = (workgroups_for(batch[axis], size) for axis, size in zip(_GRID, block.T, strict=True))
    registers = recording.symbols.registers[symbol]
    columns.add_numbered(
        symbol,
        start_ns=batch["start"],
        duration_ns=lasting(batch["start"], batch["end"], recording.database.where),
        device=_mapped(batch["agent_id"], agents, recording, "GPU agent"),
        stream=batch["stream_id"],
        workgroups=volume(along, recording.database.where),
        threads=volume(block.T, recording.database.where),
        block=block,
        shared_bytes=batch["group_segment_size"],
        vgprs=registers[:, 0],
        accum_vgprs=registers[:, 1],
        sgprs=registers[:, 2],
        queue=batch["queue_id"],
    )


def _mapped(keys: np.ndarray, numbers: Mapping[int, int], recording: _Recording, what: str) -> np.ndarray:
    """Return the number of each key; a key that the file does not list is refused."""
    unique, inverse = np.unique(keys, return_inverse=True)
    lost = next((key for key in unique.tolist() if key not in numbers), None)
    if lost is not None:
        raise InputError(f"{recording.database.where}: a dispatch names {what} {lost}, which the file does not list.")
    result: np.ndarray = np.array([numbers[key] for key in unique.tolist()], np.int64)[inverse]
    return result


def _tracks(recording: _Recording) -> dict[str, np.ndarray] | None:
    """Return agent, queue and stream by the number of the track; None where dispatches name them themselves."""
    if "agent_id" in recording.database.columns(recording.table):
        return None
    rows = recording.database.rows(f"rocpd_track{recording.ending}", ("id", *_OF_TRACK))
    keys = np.array([row[0] for row in rows], np.int64)
    return {
        "id": keys,
        **{
            name: np.array([MISSING if row[k] is None else row[k] for row in rows], np.int64)
            for k, name in enumerate(_OF_TRACK, 1)
        },
    }


def _of_tracks(batch: dict[str, np.ndarray], tracks: dict[str, np.ndarray] | None) -> dict[str, np.ndarray]:
    """Return agent, queue and stream of each dispatch, as its track says; nothing where there are no tracks."""
    if tracks is None or not len(tracks["id"]):
        return {}
    order = np.argsort(tracks["id"])
    place = order[np.minimum(np.searchsorted(tracks["id"], batch["track_id"], sorter=order), len(order) - 1)]
    known = tracks["id"][place] == batch["track_id"]
    return {name: np.where(known, tracks[name][place], MISSING) for name in _OF_TRACK}


def _times(recording: _Recording) -> tuple[np.ndarray, np.ndarray] | None:
    """Return the time stamps and their numbers, in rising order; None where dispatches hold them themselves."""
    if "start" in recording.database.columns(recording.table):
        return None
    batches = list(recording.database.numbers(f"rocpd_timestamp{recording.ending}", ("id", "value")))
    keys = np.concatenate([np.empty(0, np.int64), *(batch["id"] for batch in batches)])
    values = np.concatenate([np.empty(0, np.int64), *(batch["value"] for batch in batches)])
    order = np.argsort(keys, kind="stable")
    return keys[order], values[order]


def _at(times: tuple[np.ndarray, np.ndarray], keys: np.ndarray, recording: _Recording, what: str) -> np.ndarray:
    """Return the values of some numbers; a number that the file does not list is refused."""
    there, values = times
    place = np.minimum(np.searchsorted(there, keys), max(len(there) - 1, 0))
    known = there[place] == keys if len(there) else np.zeros(len(keys), bool)
    if not known.all():
        lost = keys[np.argmin(known)]
        raise InputError(f"{recording.database.where}: a dispatch names {what} {lost}, which the file does not list.")
    return values[place]


def _schema(database: Database, endings: list[str]) -> str:
    """Return the version of the schema, several joined; empty where it is not said."""
    reply = {
        str(value)
        for ending in endings
        for tag, value in database.rows(f"rocpd_metadata{ending}", ("tag", "value"))
        if tag == "schema_version"
    }
    return ", ".join(sorted(reply))
