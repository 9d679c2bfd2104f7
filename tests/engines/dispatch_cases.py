"""A dispatcher's run as plain data, given to the engine and to its slow twin."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, NamedTuple
from unittest import mock

import numpy as np
import pytest

from tests.oracles import dispatch as slow
from tests.oracles.dispatch_past import Warmth
from workbench.engines.dispatch import Dispatch, prepare
from workbench.engines.kit.engine import Setup
from workbench.errors import PolicyError
from workbench.machine.machine import Machine, Resource
from workbench.policies.dispatch import (
    AnyDie,
    MostResidual,
    NeverSplit,
    OpenToAll,
    RotatedSplit,
    ServedMarks,
    StaticPriority,
)
from workbench.policies.placement import NearestBoundary
from workbench.policies.probes import ExactRun
from workbench.records.dispatch import DispatchRecord
from workbench.streams import Streams
from workbench.workloads.workload import Groups, Workload

CLOCK_MHZ = 1000.0
OPTIONS = {
    "dispatches_a_round": 1,
    "round_cycles": 1,
    "fail_init": 0,
    "blocks_on_a_unit": "aggregated",
    "module_tie": "lowest",
}
"""What the engine's options are when nothing is said."""


class Row(NamedTuple):
    """One group; what it needs is by the resource's name."""

    arrival: int = 0
    channel: int = 0
    priority: int = 1
    waves: int = 1
    duration: int = 1
    independent: bool = False
    need: dict[str, int] = {}
    instructions: tuple[int, ...] = (0, 0, 0, 0, 0, 0)
    kernel: int | None = None
    """None in every row: the groups of each channel are one kernel."""
    cluster: int = 1
    barrier: int = -1
    endless: bool = False


class Fixed(Workload):
    """Groups given row by row."""

    def __init__(self, rows: list[Row], names: tuple[str, ...]) -> None:
        object.__setattr__(self, "rows", rows)
        object.__setattr__(self, "names", names)

    def groups(self, machine: Any, streams: Any) -> Groups:
        def column(name: str, kind: type = np.int64) -> np.ndarray:
            return np.array([getattr(row, name) for row in self.rows], kind)

        need = {n: np.array([row.need.get(n, 0) for row in self.rows], np.int64) for n in self.names}
        numbers = ("arrival", "channel", "priority", "waves")
        return Groups(
            *map(column, numbers),
            independent=column("independent", bool),
            duration=column("duration"),
            demand=need,
            instructions=column("instructions").reshape(-1, 6),
            kernel=None if any(row.kernel is None for row in self.rows) else column("kernel"),
            cluster=column("cluster"),
            barrier=column("barrier"),
            endless=column("endless", bool),
        )


@dataclass
class Case:
    """A small machine, its groups, policies by slot and options; what is not said is as the engine has it."""

    rows: list[Row]
    modules: int = 1
    units: int = 1
    vgpr: int = 16
    sgpr: int = 16
    slots: int = 8
    shared: int = 16
    workgroups: int = 8
    barriers: int = 0
    more: tuple[Resource, ...] = ()
    dies: tuple[int, ...] = ()
    policies: dict[str, Any] = field(default_factory=dict)
    options: dict[str, Any] = field(default_factory=dict)
    seed: int = 1

    def machine(self) -> Machine:
        return Machine(
            compute_units=self.modules,
            simds_a_unit=self.units,
            vgprs_a_unit=self.vgpr * self.units,
            sgprs_a_unit=self.sgpr * self.units,
            waves_a_unit=self.slots * self.units,
            segments=self.shared,
            workgroups_a_unit=self.workgroups,
            barriers_a_module=self.barriers,
            wave_size=1,
            vgpr_granule=1,
            sgpr_granule=1,
            more_resources=self.more,
            dies=self.dies,
            clock_mhz=CLOCK_MHZ,
        )

    def chosen(self) -> dict[str, Any]:
        usual = {
            "probe": ExactRun(),
            "placement": NearestBoundary(),
            "priority": StaticPriority(),
            "selection": ServedMarks(),
            "stuck": NeverSplit(),
            "units": RotatedSplit(),
            "choice": MostResidual(),
            "admission": OpenToAll(),
            "die": AnyDie(),
        }
        every = {**usual, **self.policies}
        return {**every, "shared_placement": every.get("shared_placement", every["placement"])}

    def setup(self) -> Setup:
        machine = self.machine()
        names = tuple(r.label for r in machine.resources() if r.label not in ("waves", "workgroups", "barriers"))
        return Setup("dispatch", machine, Fixed(self.rows, names), self.chosen(), Dispatch.options(**self.options))

    def engine(self, events: bool = True) -> DispatchRecord:
        with mock.patch.object(prepare, "MOST_TRIES", slow.TRIES):
            return Dispatch().simulate(self.setup(), self.seed, events=events)

    def dispatcher(self) -> slow.Dispatcher:
        resources = [
            slow.Resource(r.label, r.level == "unit", r.contiguous, r.blocks) for r in self.machine().resources()
        ]
        names = ("arrival", "channel", "priority", "waves", "independent", "duration")
        groups: dict[str, Any] = {name: [getattr(row, name) for row in self.rows] for name in names}
        groups["instructions"] = [list(row.instructions) for row in self.rows]
        groups["demand"] = [[row.need.get(r.name, 0) for row in self.rows] for r in resources]
        options = {**OPTIONS, **self.options, "warmth": self.warmth()}
        seeds = Streams(self.seed).integer
        return slow.Dispatcher(self.modules, self.units, resources, groups, self.chosen(), options, seeds)

    def warmth(self) -> Warmth | None:
        heat, power = (self.options.get(name) for name in ("heat", "power"))
        if heat is None:
            return None
        keeps, gains = heat.matrices(self.modules, CLOCK_MHZ)
        joules = [pj * 1e-12 for pj in power.energies_pj().tolist()]
        seconds = heat.cycles() / (CLOCK_MHZ * 1e6)
        return Warmth(
            heat.cycles(), keeps.tolist(), gains.tolist(), joules, power.idle(), seconds, [0.0] * self.modules
        )

    def twin(self) -> dict[str, Any] | None:
        """What the twin says; None where it waits for ever."""
        dispatcher = self.dispatcher()
        try:
            dispatcher.walk()
        except slow.Stuck:
            return None
        return dispatcher.record()


def plain(record: DispatchRecord) -> dict[str, Any]:
    """The engine's record as the twin writes it; every failed round, of which the log keeps the first of a row."""
    out = {n: _listed(v) for n, v in record._asdict().items()}
    failures = [first + k * record.round_cycles for first, count in record.failures.tolist() for k in range(count)]
    return {**out, "failures": failures}


def _listed(value: Any) -> Any:
    """Lists for arrays, also within tuples."""
    if isinstance(value, tuple):
        return [_listed(part) for part in value]
    return value.tolist() if isinstance(value, np.ndarray) else value


def assert_same(case: Case) -> DispatchRecord | None:
    """The engine's record is the twin's, field by field; None where both say that a group waits for ever."""
    expected = case.twin()
    if expected is None:
        with pytest.raises(PolicyError, match="wait for ever"):
            case.engine()
        return None
    record = case.engine()
    result = plain(record)
    differing = {name: (result[name], reply) for name, reply in expected.items() if result[name] != reply}
    assert not differing, differing
    return record
