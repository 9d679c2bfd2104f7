"""Tables of AMD's profilers: rocpd databases, `*_kernel_trace.csv`, and `pmc_perf.csv` of rocprofiler-compute.

Grids are in work-items and become workgroups rounded up.

rocpd is the SQLite database `*_results.db` that rocprofv3 writes since ROCm 7, and rocprofiler-systems on demand. A
table has the identifier of its recording behind its name (`rocpd_kernel_dispatch_0000a1...`), and a file of several
recordings has several of each; the views without it are code of the file and are not used. Dispatches of schema 3 name
agent, queue and stream themselves, those of schema 4 name a track that does; schema 4 in its first form kept time
stamps in a table too. `group_segment_size` of a dispatch is the LDS of a workgroup, static and dynamic together. The
card's number is its agent's among the GPUs (`type_index`), as in rocprofv3's JSON; where there are several machines,
cards are counted through.

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
from collections.abc import Mapping
from typing import Any, NamedTuple

import msgspec
import numpy as np

from workbench.errors import InputError, shown
from workbench.units import workgroups_for
from workbench.workloads.importers.binary_formats import Database, is_sqlite
from workbench.workloads.importers.importer import Importer
from workbench.workloads.importers.rocprof_traces import AgentFacts, card_of_agent
from workbench.workloads.importers.source import Source
from workbench.workloads.importers.text_formats import Header, Row, csv_rows, has_header
from workbench.workloads.importers.trace import Trace
from workbench.workloads.kernels import MISSING, KernelColumns, KernelRows, shape_of, timed_shapes

_DISPATCHES = "rocpd_kernel_dispatch"
_ENDING = re.compile(r"(?:_[\w-]{1,200})?", re.ASCII)
_GRID = ("grid_size_x", "grid_size_y", "grid_size_z")
_WORKGROUP = ("workgroup_size_x", "workgroup_size_y", "workgroup_size_z")
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
    """Return what stands behind the names of tables, once a recording."""
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
    """Return what rocprofiler-sdk's own record of an agent says; nothing where that is not plain JSON, as in compressed
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
            for key, shown_name, name, *registers in database.rows(table, _KERNEL):
                self.numbers[ending][key] = len(self.names)
                self.names[len(self.names)] = str(shown_name or name or "")
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
    database.require(table, ("kernel_id", *_GRID, *_WORKGROUP), "rocpd database")
    tracks, times = _tracks(recording), _times(recording)
    for batch in database.numbers(table, (*_OTHERS, *_TIMES, *_OF_TRACK, *_GRID, *_WORKGROUP)):
        batch |= _of_tracks(batch, tracks)
        if times is not None:
            batch |= {name: _at(times, batch[f"{name}_id"], recording) for name in _TIMES}
        _add_batch(batch, recording, columns)


def _add_batch(batch: dict[str, np.ndarray], recording: _Recording, columns: KernelColumns) -> None:
    where, ending = recording.database.where, recording.ending
    symbol = _mapped(batch["kernel_id"], recording.symbols.numbers[ending], recording, "kernel")
    agents = {key: number for (of, key), number in recording.agents.numbers.items() if of == ending}
    least = np.minimum.reduce([batch[axis] for axis in _WORKGROUP])
    if (least < 1).any():
        row = int(np.argmax(least < 1))
        size = tuple(int(batch[axis][row]) for axis in _WORKGROUP)
        raise InputError(
            f"{where}: dispatch {batch['id'][row]} has the workgroup size {size}; each axis must be 1 or more."
        )
    registers = dict(zip(("vgprs", "accum_vgprs", "sgprs"), recording.symbols.registers[symbol].T))
    columns.add(
        symbol,
        **timed_shapes(batch, _GRID, _WORKGROUP, where, in_work_items=True),
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


_COLUMNS_OF_TRACE = ("kernel_name", "agent_id", "start_timestamp", "end_timestamp", *_GRID, *_WORKGROUP)
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
    grid, block = row.triple(*_GRID), row.triple(*_WORKGROUP)
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
    told = {what: None if value is None else int(value) for what, value in values.items()}  # medians may have a half
    start, end, threads, device = (told[what] for what in ("start", "end", "workgroup", "device"))
    if start is None or end is None or threads is None or device is None or threads < 1:
        raise InputError(f"{row.where}: needs a start, an end, a device and a workgroup size of at least 1.")
    rows.add(
        row.text(row.header.first(_LOWER["name"])),
        start_ns=start,
        duration_ns=end - start,
        device=device,
        stream=told["queue"],
        workgroups=None if told["grid"] is None else workgroups_for(told["grid"], threads),
        threads=threads,
        shared_bytes=told["lds"],
        vgprs=told["vgpr"],
        accum_vgprs=told["accum_vgpr"],
        sgprs=told["sgpr"],
        queue=told["queue"],
    )
