"""What a rocpd database says of agents and of kernels, for all recordings of a file."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import msgspec
import numpy as np

from workbench.units import kib
from workbench.workloads.importers.database import Database
from workbench.workloads.importers.trace import Card
from workbench.workloads.kernels import MISSING

_COUNTS = ("arch_vgpr_count", "accum_vgpr_count", "sgpr_count")
_KERNEL = ("id", "display_name", "kernel_name", *_COUNTS)


class _AgentFacts(msgspec.Struct):
    """What stands in `extdata` of an agent: rocprofiler-sdk's own record of it."""

    cu_count: int | None = None
    simd_per_cu: int | None = None
    max_waves_per_simd: int | None = None
    wave_front_size: int | None = None
    lds_size_in_kb: int | None = None


_agent_facts = msgspec.json.Decoder(_AgentFacts, strict=False)


class Agents:
    """The GPUs of all recordings: the number of each as a card."""

    def __init__(self, database: Database, endings: list[str]) -> None:
        told = ("id", "nid", "type", "type_index", "name", "product_name", "extdata")
        rows = [
            (ending, dict(zip(told, row)))
            for ending in endings
            for row in database.rows(f"rocpd_info_agent{ending}", told)
        ]
        self.count = len(rows)
        gpus = [(ending, agent) for ending, agent in rows if agent["type"] == "GPU"]
        places = sorted({_place(agent) for _, agent in gpus})
        one_machine = len({machine for machine, _ in places}) < 2
        numbers = {place: place[1] if one_machine else k for k, place in enumerate(places)}
        self.numbers = {(ending, agent["id"]): numbers[_place(agent)] for ending, agent in gpus}
        cards = {numbers[_place(agent)]: agent for _, agent in gpus}
        self.cards = tuple(_card(number, agent) for number, agent in sorted(cards.items()))


def _place(agent: Mapping[str, Any]) -> tuple[int, int]:
    """Return the machine of an agent, and its number among the GPUs there."""
    index = agent["type_index"] if isinstance(agent["type_index"], int) else agent["id"]
    machine = agent["nid"]
    return (machine if isinstance(machine, int) else 0, index if isinstance(index, int) else 0)


def _card(number: int, agent: Mapping[str, Any]) -> Card:
    facts = _facts_of(agent["extdata"])
    simds, waves = facts.simd_per_cu, facts.max_waves_per_simd
    name = str(agent["name"] or "")
    return Card(
        number=number,
        name=str(agent["product_name"] or "") or name,
        architecture=name or None,
        compute_units=facts.cu_count,
        wave_size=facts.wave_front_size,
        simds_a_unit=simds,
        waves_a_unit=simds * waves if simds and waves else None,
        shared_memory_bytes=None if facts.lds_size_in_kb is None else kib(facts.lds_size_in_kb),
    )


def _facts_of(extdata: object) -> _AgentFacts:
    """Return the facts of an agent; nothing where the field is not plain JSON, as in compressed databases."""
    try:
        return _agent_facts.decode(extdata if isinstance(extdata, (str, bytes)) else b"{}")
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return _AgentFacts()


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
