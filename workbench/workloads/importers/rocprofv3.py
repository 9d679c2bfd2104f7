"""Traces of AMD's rocprofv3 in JSON.

JSON has every dispatch with its LDS and its kernel's registers. Grids are in work-items on each axis and become
workgroups rounded up; `group_segment_size` of a dispatch is the LDS of a workgroup, static and dynamic together. The
card's number is its agent's among the GPUs (`logical_node_type_id`). The contents are held while they are decoded:
memory is about their size and half a kilobyte a dispatch.
"""

from __future__ import annotations

import msgspec

from workbench.errors import InputError
from workbench.units import kib
from workbench.workloads.importers.importer import Importer
from workbench.workloads.importers.source import Source
from workbench.workloads.importers.trace import Card, Trace
from workbench.workloads.kernels import KernelRows, shape_of

_GPU = 2


class Handle(msgspec.Struct):
    """A number by which a process names something."""

    handle: int


class _Axes(msgspec.Struct):
    x: int
    y: int
    z: int


class _Dispatched(msgspec.Struct):
    agent_id: Handle
    queue_id: Handle
    kernel_id: int
    workgroup_size: _Axes
    grid_size: _Axes
    group_segment_size: int | None = None


class _Correlation(msgspec.Struct):
    internal: int


class _Record(msgspec.Struct):
    start_timestamp: int
    end_timestamp: int
    dispatch_info: _Dispatched
    stream_id: Handle | None = None
    correlation_id: _Correlation | None = None


class _Symbol(msgspec.Struct):
    kernel_id: int
    kernel_name: str
    formatted_kernel_name: str = ""
    arch_vgpr_count: int | None = None
    accum_vgpr_count: int | None = None
    sgpr_count: int | None = None


class AgentFacts(msgspec.Struct):
    """What rocprofiler-sdk knows of a processor."""

    cu_count: int | None = None
    simd_per_cu: int | None = None
    max_waves_per_simd: int | None = None
    wave_front_size: int | None = None
    lds_size_in_kb: int | None = None


class _Agent(AgentFacts, kw_only=True):
    id: Handle
    type: int
    name: str = ""
    product_name: str = ""
    logical_node_type_id: int | None = None


class _Buffers(msgspec.Struct):
    kernel_dispatch: list[_Record] = []


class _Process(msgspec.Struct):
    agents: list[_Agent]
    kernel_symbols: list[_Symbol]
    buffer_records: _Buffers


class _File(msgspec.Struct):
    processes: list[_Process] = msgspec.field(name="rocprofiler-sdk-tool")


_file = msgspec.json.Decoder(_File)


class Rocprofv3(Importer):
    """Every process of a file; their dispatches one after the other."""

    format = "rocprofv3_json"
    description = "JSON output of AMD's rocprofv3"
    counted = "dispatches"

    def recognises(self, head: bytes) -> bool:
        return head.lstrip()[:1] == b"{" and b'"rocprofiler-sdk-tool"' in head

    def read(self, source: Source) -> Trace:
        try:
            processes = _file.decode(source.whole()).processes
        except (msgspec.DecodeError, UnicodeDecodeError) as problem:
            raise InputError(f"{source.where}: is not as rocprofv3 writes it ({problem}).") from None
        rows = KernelRows()
        for process in processes:
            _add(process, rows, source.where)
        cards = {number: agent for process in processes for number, agent in _gpus(process)}
        infos = [r.dispatch_info for p in processes for r in p.buffer_records.kernel_dispatch]
        return self.trace(
            source,
            rows.table(),
            cards=tuple(card_of_agent(k, it.name, it.product_name, it) for k, it in sorted(cards.items())),
            noted={
                "kernel_ids": len({info.kernel_id for info in infos}),
                "queues": len({(info.agent_id.handle, info.queue_id.handle) for info in infos}),
            },
        )


def _add(process: _Process, rows: KernelRows, where: str) -> None:
    symbols = {symbol.kernel_id: symbol for symbol in process.kernel_symbols}
    cards = {agent.id.handle: number for number, agent in _gpus(process)}
    for place, record in enumerate(process.buffer_records.kernel_dispatch):
        info = record.dispatch_info
        symbol, card = symbols.get(info.kernel_id), cards.get(info.agent_id.handle)
        if symbol is None or card is None:
            what = f"kernel {info.kernel_id}" if symbol is None else f"GPU agent {info.agent_id.handle}"
            raise InputError(f"{where}: dispatch {place} names {what}, which the file does not list.")
        block = (info.workgroup_size.x, info.workgroup_size.y, info.workgroup_size.z)
        if min(block) < 1:
            raise InputError(f"{where}: dispatch {place} has the workgroup size {block}; each axis must be 1 or more.")
        grid = (info.grid_size.x, info.grid_size.y, info.grid_size.z)
        rows.add(
            symbol.formatted_kernel_name or symbol.kernel_name,
            **shape_of(grid, block, in_work_items=True),
            start_ns=record.start_timestamp,
            duration_ns=record.end_timestamp - record.start_timestamp,
            device=card,
            stream=record.stream_id.handle if record.stream_id else None,
            shared_bytes=info.group_segment_size,
            vgprs=symbol.arch_vgpr_count,
            accum_vgprs=symbol.accum_vgpr_count,
            sgprs=symbol.sgpr_count,
            correlation=record.correlation_id.internal if record.correlation_id else None,
            queue=info.queue_id.handle,
        )


def _gpus(process: _Process) -> list[tuple[int, _Agent]]:
    """Return the GPU agents, numbered as the runtime numbers them, or in the order of the file."""
    gpus = [agent for agent in process.agents if agent.type == _GPU]
    return [(k if a.logical_node_type_id is None else a.logical_node_type_id, a) for k, a in enumerate(gpus)]


def card_of_agent(number: int, name: str, product: str, agent: AgentFacts) -> Card:
    """Return a GPU as AMD's libraries describe it."""
    simds, waves = agent.simd_per_cu, agent.max_waves_per_simd
    return Card(
        number=number,
        name=product or name,
        architecture=name or None,
        compute_units=agent.cu_count,
        wave_size=agent.wave_front_size,
        simds_a_unit=simds,
        waves_a_unit=simds * waves if simds and waves else None,
        shared_memory_bytes=None if agent.lds_size_in_kb is None else kib(agent.lds_size_in_kb),
    )
