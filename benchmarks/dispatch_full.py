"""The whole dispatcher at saturation, on 16 and on 256 modules; the references are its rules in C++ and in SimPy."""

from __future__ import annotations

import importlib.util
import tempfile
from collections import deque
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np

from benchmarks.reference import native
from benchmarks.turns import Side, compared, spent
from workbench.engines.dispatch import Dispatch
from workbench.engines.kit.engine import Setup
from workbench.machine.machine import Machine
from workbench.policies.dispatch import (
    AnyDie,
    LeastRecentEnergy,
    MostResidual,
    NeverSplit,
    OpenToAll,
    PriorityWindows,
    RotatedSplit,
    ServedMarks,
    WeightedChoice,
)
from workbench.policies.placement import NearestBoundary
from workbench.policies.probes import ExactRun
from workbench.records.dispatch import DispatchRecord
from workbench.streams import Streams
from workbench.workloads.workload import Groups, Workload

GROUPS, GROUPS_256, SIMPY_GROUPS = 50_000, 20_000, 1_500
ROUNDS, ROUNDS_256 = 11, 5
CHANNELS = LEVELS = UNITS = 4
VGPR, SGPR, SLOTS, SHARED, NX = 128, 64, 10, 128, 1024


class Saturating(Workload):
    """So many groups that all wait from the first cycle on, drawn once: drawing is no part of any side."""

    def __init__(self, count: int) -> None:
        object.__setattr__(self, "drawn", _drawn(count))

    def groups(self, machine: Any, streams: Any) -> Groups:
        drawn: Groups = self.drawn
        return drawn


def _drawn(count: int) -> Groups:
    random = np.random.default_rng(1)

    def uniform(least: int, most: int, *shape: int) -> np.ndarray:
        return random.integers(least, most + 1, (count, *shape))

    return Groups(
        arrival=np.zeros(count, np.int64),
        channel=uniform(0, CHANNELS - 1),
        priority=uniform(1, LEVELS),
        waves=uniform(1, 16),
        independent=np.zeros(count, bool),
        duration=uniform(2_000, 10_000),
        demand={"vgpr": uniform(1, 24), "sgpr": uniform(1, 12), "shared": uniform(0, 32)},
        instructions=uniform(0, 10_000, 6),
    )


def machine(modules: int) -> Machine:
    return Machine(
        compute_units=modules,
        simds_a_unit=UNITS,
        vgprs_a_unit=VGPR * UNITS * 64 * 4,
        vgpr_granule=4,
        sgprs_a_unit=SGPR * UNITS * 16,
        sgpr_granule=16,
        waves_a_unit=SLOTS * UNITS,
        segments=SHARED,
        workgroups_a_unit=16,
    )


def setup(modules: int, count: int) -> Setup:
    both = WeightedChoice(choices=(MostResidual(), LeastRecentEnergy(nx=NX)), weights=(0.5, 0.5))
    policies = {
        "probe": ExactRun(),
        "placement": NearestBoundary(),
        "shared_placement": NearestBoundary(),
        "priority": PriorityWindows(lengths=(8, 4, 2, 1)),
        "selection": ServedMarks(),
        "stuck": NeverSplit(),
        "units": RotatedSplit(pointer="tail"),
        "choice": both,
        "admission": OpenToAll(),
        "die": AnyDie(),
    }
    return Setup("dispatch", machine(modules), Saturating(count), policies, Dispatch.options())


def dispatch_full() -> list[dict[str, Any]]:
    """P = 16."""
    return _compared("dispatch_full", 16, GROUPS, ROUNDS)


def dispatch_full_256() -> list[dict[str, Any]]:
    """P = 256."""
    return _compared("dispatch_full_256", 256, GROUPS_256, ROUNDS_256)


def _compared(name: str, modules: int, count: int, rounds: int) -> list[dict[str, Any]]:
    """SimPy's model gets fewer of the same groups; every dispatch of C++ is the same one."""
    requested = setup(modules, count)
    digest = digest_of(Dispatch().simulate(requested, seed=1))
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "groups"
        path.write_bytes(_as_words(requested).tobytes() + np.array(LeastRecentEnergy().weights, np.float64).tobytes())
        arguments = (modules, count, NX, _generator(requested), path)
        in_cpp = native("dispatch.cpp", count, arguments, lambda printed: printed["digest"] == digest)
        references = {"C++, by hand": in_cpp, "SimPy": _in_simpy(modules)}
        return compared(name, f"{modules} modules", "groups", _ours(requested, count), references, rounds)


def _ours(requested: Setup, count: int) -> Side:
    def run() -> float:
        records: list[DispatchRecord] = []
        seconds = spent(lambda: records.append(Dispatch().simulate(requested, seed=1)))
        (record,) = records
        assert record.group.size == count == record.rounds - record.failed_rounds
        assert record.sent.sum() == record.waves.sum()
        return seconds

    return Side(count, run)


def _as_words(requested: Setup) -> np.ndarray:
    """The groups as the native reference reads them: int64[groups, 13]."""
    groups = requested.workload.groups(requested.machine, None)
    columns = [groups.channel, groups.priority, groups.waves, groups.duration]
    columns += [groups.demand[label] for label in ("vgpr", "sgpr", "shared")]
    return np.ascontiguousarray(np.column_stack([*columns, groups.instructions]).astype(np.int64))


def _generator(requested: Setup) -> int:
    """The state with which the selection begins to draw."""
    seed = Streams(1).integer("selection")
    return int(requested.policies["selection"].start_memory(CHANNELS, LEVELS, seed)[0]) % (1 << 64)


def digest_of(record: DispatchRecord) -> int:
    """A number of which group went where and when, modulo 2**64."""
    when = (record.cycle * 1_000_003 + record.module).astype(np.uint64)
    return int((when * (record.group.astype(np.uint64) + np.uint64(1))).sum(dtype=np.uint64))


def _in_simpy(modules: int) -> Side | None:
    """Both must end at about the same cycle, for random marks differ."""
    if importlib.util.find_spec("simpy") is None:
        return None
    from benchmarks.dispatch_simpy import Dispatcher, Module

    requested = setup(modules, SIMPY_GROUPS)
    record = Dispatch().simulate(requested, seed=1)
    ours = int((record.cycle + record.duration[record.group]).max())

    def run() -> float:
        idle = [Module(UNITS, VGPR, SGPR, SHARED) for _ in range(modules)]
        dispatcher = Dispatcher(idle, _queues(requested), NX, seed=1)
        seconds = spent(dispatcher.run)
        assert dispatcher.dispatched == SIMPY_GROUPS
        assert abs(dispatcher.last_end - ours) < 0.05 * ours
        return seconds

    return Side(SIMPY_GROUPS, run)


def _queues(requested: Setup) -> list[deque[Any]]:
    groups = requested.workload.groups(requested.machine, None)
    weights = np.array(LeastRecentEnergy().weights)
    energy = groups.instructions @ weights
    queues: list[deque[Any]] = [deque() for _ in range(CHANNELS)]
    for k, channel in enumerate(groups.channel.tolist()):
        demand = {n: int(column[k]) for n, column in groups.demand.items()}
        more = {n: int(getattr(groups, n)[k]) for n in ("priority", "waves", "duration")}
        queues[channel].append(SimpleNamespace(**demand, **more, energy=float(energy[k])))
    return queues
