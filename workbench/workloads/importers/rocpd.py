"""AMD's rocpd databases, as rocprofv3 and rocprofiler-systems write them.

rocpd is the SQLite database `*_results.db` that rocprofv3 writes since ROCm 7, and rocprofiler-systems on demand. A
table has the identifier of its recording behind its name (`rocpd_kernel_dispatch_0000a1...`), and a file of several
recordings has several of each; the views without it are code of the file and are not used. Dispatches of schema 3 name
agent, queue and stream themselves, those of schema 4 name a track that does; schema 4 in its first form kept time
stamps in a table too. `group_segment_size` of a dispatch is the LDS of a workgroup, static and dynamic together. The
card's number is its agent's among the GPUs (`type_index`), as in rocprofv3's JSON; where there are several machines,
cards are counted through.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, NamedTuple

import msgspec
import numpy as np

from workbench.errors import InputError
from workbench.workloads.importers.importer import Importer
from workbench.workloads.importers.rocprofv3 import AgentFacts, card_of_agent
from workbench.workloads.importers.source import Source
from workbench.workloads.importers.sqlite_files import Database, is_sqlite
from workbench.workloads.importers.trace import Trace
from workbench.workloads.kernels import MISSING, KernelColumns, timed_shapes

_DISPATCHES = "rocpd_kernel_dispatch"
_ENDING = re.compile(r"(?:_[\w-]{1,200})?", re.ASCII)
GRID = ("grid_size_x", "grid_size_y", "grid_size_z")
WORKGROUP = ("workgroup_size_x", "workgroup_size_y", "workgroup_size_z")
_OF_TRACK = ("agent_id", "queue_id", "stream_id")
_TIMES = ("start", "end")
_OTHERS = ("id", "kernel_id", "track_id", "start_id", "end_id", "group_segment_size")


class Rocpd(Importer):
    """Read batch by batch; memory holds the columns of the dispatches."""

    format = "rocpd_sqlite"
    description = "the rocpd database (*_results.db) of AMD's rocprofv3"
    counted = "dispatches"

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
                _add_recording(_Recording(database, ending, agents, symbols), columns)
            return self.trace(
                source,
                columns.table(symbols.names),
                cards=agents.cards,
                noted={
                    "schema": _schema(database, endings),
                    "recordings": len(endings),
                    "memcpys": sum(database.count(f"rocpd_memory_copy{ending}") for ending in endings),
                    "rocprofiler_agents": agents.count,
                },
            )


def _recordings(database: Database) -> list[str]:
    """Return the meaning of the names of tables, once a recording."""
    named = [name.removeprefix(_DISPATCHES) for name in database.tables if name.startswith(_DISPATCHES)]
    endings = sorted(ending for ending in named if _ENDING.fullmatch(ending))
    if not endings:
        raise InputError(f"{database.where}: holds no dispatches; record with `rocprofv3 --kernel-trace`.")
    return endings


_COUNTS = ("arch_vgpr_count", "accum_vgpr_count", "sgpr_count")
_KERNEL = ("id", "display_name", "kernel_name", *_COUNTS)
_AGENT = ("id", "nid", "type", "type_index", "name", "product_name", "extdata")


_agent_facts = msgspec.json.Decoder(AgentFacts, strict=False)


class Agents:
    """The GPUs of all recordings: the number of each as a card."""

    def __init__(self, database: Database, endings: list[str]) -> None:
        rows = [
            (ending, dict(zip(_AGENT, row)))
            for ending in endings
            for row in database.rows(f"rocpd_info_agent{ending}", _AGENT)
        ]
        self.count = len(rows)
        gpus = [(ending, agent) for ending, agent in rows if agent["type"] == "GPU"]
        places = sorted({_place(agent) for _, agent in gpus})
        one_machine = len({machine for machine, _ in places}) < 2
        numbers = {place: place[1] if one_machine else k for k, place in enumerate(places)}
        self.numbers = {(ending, agent["id"]): numbers[_place(agent)] for ending, agent in gpus}
        cards = {numbers[_place(agent)]: agent for _, agent in gpus}
        self.cards = tuple(
            card_of_agent(k, str(it["name"] or ""), str(it["product_name"] or ""), _facts_of(it["extdata"]))
            for k, it in sorted(cards.items())
        )


def _place(agent: Mapping[str, Any]) -> tuple[int, int]:
    """Return the machine of an agent, and its number among the GPUs there."""
    index = agent["type_index"] if isinstance(agent["type_index"], int) else agent["id"]
    machine = agent["nid"]
    return (machine if isinstance(machine, int) else 0, index if isinstance(index, int) else 0)


def _facts_of(extdata: object) -> AgentFacts:
    """Return rocprofiler-sdk's own record of an agent; nothing where that is not plain JSON, as in compressed
    databases."""
    try:
        return _agent_facts.decode(extdata if isinstance(extdata, (str, bytes)) else b"{}")
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return AgentFacts()


class Symbols:
    """The kernels of all recordings, numbered through: the name and the registers of each."""

    def __init__(self, database: Database, endings: list[str]) -> None:
        self.names: dict[int, str] = {}
        self.numbers: dict[str, dict[int, int]] = {ending: {} for ending in endings}
        counts: list[list[int]] = []
        for ending in endings:
            table = f"rocpd_info_kernel_symbol{ending}"
            for key, display_name, name, *registers in database.rows(table, _KERNEL):
                self.numbers[ending][key] = len(self.names)
                self.names[len(self.names)] = str(display_name or name or "")
                counts.append([count if isinstance(count, int) else MISSING for count in registers])
        self.registers = np.array(counts, np.int64).reshape(-1, len(_COUNTS))


class _Recording(NamedTuple):
    """One recording of a file, and what the file says of agents and kernels."""

    database: Database
    ending: str
    agents: Agents
    symbols: Symbols

    @property
    def table(self) -> str:
        return _DISPATCHES + self.ending

    def lost(self, what: str, number: int) -> InputError:
        """Return the refusal of a number that is not in the table that it is of."""
        return InputError(f"{self.database.where}: a dispatch names {what} {number}, which the file does not list.")


def _add_recording(recording: _Recording, columns: KernelColumns) -> None:
    """Add the dispatches of a recording."""
    database, table = recording.database, recording.table
    database.require(table, ("kernel_id", *GRID, *WORKGROUP), "rocpd database")
    tracks, times = _tracks(recording), _times(recording)
    for batch in database.numbers(table, (*_OTHERS, *_TIMES, *_OF_TRACK, *GRID, *WORKGROUP)):
        batch |= _of_tracks(batch, tracks)
        if times is not None:
            batch |= {name: _at(times, batch[f"{name}_id"], recording) for name in _TIMES}
        _add_batch(batch, recording, columns)


def _add_batch(batch: dict[str, np.ndarray], recording: _Recording, columns: KernelColumns) -> None:
    where, ending = recording.database.where, recording.ending
    symbol = _mapped(batch["kernel_id"], recording.symbols.numbers[ending], recording, "kernel")
    agents = {key: number for (of, key), number in recording.agents.numbers.items() if of == ending}
    least = np.minimum.reduce([batch[axis] for axis in WORKGROUP])
    if (least < 1).any():
        row = int(np.argmax(least < 1))
        size = tuple(int(batch[axis][row]) for axis in WORKGROUP)
        raise InputError(
            f"{where}: dispatch {batch['id'][row]} has the workgroup size {size}; each axis must be 1 or more."
        )
    registers = dict(zip(("vgprs", "accum_vgprs", "sgprs"), recording.symbols.registers[symbol].T))
    columns.add(
        symbol,
        **timed_shapes(batch, GRID, WORKGROUP, where, in_work_items=True),
        device=_mapped(batch["agent_id"], agents, recording, "GPU agent"),
        stream=batch["stream_id"],
        shared_bytes=batch["group_segment_size"],
        queue=batch["queue_id"],
        **registers,
    )


def _mapped(keys: np.ndarray, numbers: Mapping[int, int], recording: _Recording, what: str) -> np.ndarray:
    """Return the number of each key; a key that the file does not list is refused."""
    unique, inverse = np.unique(keys, return_inverse=True)
    lost = next((key for key in unique.tolist() if key not in numbers), None)
    if lost is not None:
        raise recording.lost(what, lost)
    result: np.ndarray = np.array([numbers[key] for key in unique.tolist()], np.int64)[inverse]
    return result


def _tracks(recording: _Recording) -> dict[str, np.ndarray] | None:
    """Return agent, queue and stream by the number of the track; None where dispatches name them themselves."""
    if "agent_id" in recording.database.columns(recording.table):
        return None
    names = ("id", *_OF_TRACK)
    rows = recording.database.rows(f"rocpd_track{recording.ending}", names)
    columns = np.array([[MISSING if value is None else value for value in row] for row in rows], np.int64)
    return dict(zip(names, columns.reshape(-1, len(names)).T))


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


def _at(times: tuple[np.ndarray, np.ndarray], keys: np.ndarray, recording: _Recording) -> np.ndarray:
    """Return the values of some numbers; a number that the file does not list is refused."""
    there, values = times
    place = np.minimum(np.searchsorted(there, keys), max(len(there) - 1, 0))
    known = there[place] == keys if len(there) else np.zeros(len(keys), bool)
    if not known.all():
        raise recording.lost("time stamp", keys[np.argmin(known)])
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
