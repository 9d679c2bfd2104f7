"""The whole dispatcher at saturation, on 16 and on 256 modules, beside the same rules in C++ and in SimPy."""

from __future__ import annotations

import subprocess
import sys
import tempfile
from collections import deque
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np

from benchmarks.dispatch_simpy import Dispatcher, Module
from benchmarks.reference import native
from benchmarks.row import fastest, row
from workbench.engines.dispatch import Dispatch
from workbench.engines.kit.engine import Setup
from workbench.machine.machine import Machine
from workbench.policies.dispatch import (
    LeastRecentEnergy,
    MostResidual,
    NeverSplit,
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

GROUPS, SIMPY_GROUPS, MANY_GROUPS = 200_000, 4_000, 1_000_000
ROOT = Path(__file__).parent.parent
CHANNELS = LEVELS = UNITS = 4
VGPR, SGPR, SLOTS, SHARED, NX = 128, 64, 10, 128, 1024
MOST_MIB = 500


class Saturating(Workload):
    """So many groups that all wait from the first cycle on, drawn once: neither engine nor SimPy is timed with that."""

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
    }
    return Setup("dispatch", machine(modules), Saturating(count), policies, Dispatch.options())


def dispatch_full() -> list[dict[str, Any]]:
    """P = 16: the engine, the same model in SimPy, and the memory that a million groups take."""
    return [*_compared("dispatch_full", 16), _memory("dispatch_full", 16)]


def dispatch_full_256() -> list[dict[str, Any]]:
    """P = 256."""
    return _compared("dispatch_full_256", 256)


def _compared(name: str, modules: int) -> list[dict[str, Any]]:
    return [_ours(name, modules), *_in_cpp(name, modules), _in_simpy(name, modules)]


def _ours(name: str, modules: int) -> dict[str, Any]:
    requested = setup(modules, GROUPS)
    ends = []

    def once() -> None:
        record = Dispatch().simulate(requested, seed=1)
        assert record.group.size == GROUPS == record.rounds - record.failed_rounds
        assert record.sent.sum() == record.waves.sum()
        ends.append(int((record.cycle + record.duration[record.group]).max()))

    once()
    seconds = fastest(once, 3)
    assert len(set(ends)) == 1
    return row(name, f"{modules} modules, makespan {ends[0]:,} cycles", GROUPS, "groups", seconds)


def _in_cpp(name: str, modules: int) -> list[dict[str, Any]]:
    """The same groups by the same rules, written for speed by hand; every dispatch is the same one."""
    requested = setup(modules, GROUPS)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "groups"
        path.write_bytes(_as_words(requested).tobytes() + np.array(LeastRecentEnergy().weights, np.float64).tobytes())
        reference = native("dispatch.cpp", *map(str, (modules, GROUPS, NX, _generator(requested), path)))
    if reference is None:
        return []
    record = Dispatch().simulate(requested, seed=1)
    assert reference["groups"] == GROUPS
    assert reference["digest"] == digest_of(record)
    return [row(name, f"{modules} modules in C++", GROUPS, "groups", reference["seconds"])]


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


def _in_simpy(name: str, modules: int) -> dict[str, Any]:
    """On fewer of the same groups; both must end at about the same cycle, for random marks differ."""
    requested = setup(modules, SIMPY_GROUPS)
    record = Dispatch().simulate(requested, seed=1)
    dispatcher = Dispatcher([Module(UNITS, VGPR, SGPR, SHARED) for _ in range(modules)], _queues(requested), NX, seed=1)
    seconds = fastest(dispatcher.run, 1)
    assert dispatcher.dispatched == SIMPY_GROUPS
    ours = int((record.cycle + record.duration[record.group]).max())
    assert abs(dispatcher.last_end - ours) < 0.05 * ours
    message = f"{modules} modules in SimPy, makespan {dispatcher.last_end:,}; the engine's {ours:,} cycles"
    return row(name, message, SIMPY_GROUPS, "groups", seconds)


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


def _memory(name: str, modules: int) -> dict[str, Any]:
    """In a process of its own, which holds nothing else; without the event log.

    The peak is that of /proc: what `getrusage` says of a child begins with the memory of the process that forked it.
    """
    code = (
        "import time\n"
        "from benchmarks.dispatch_full import MANY_GROUPS, Dispatch, setup\n"
        f"Dispatch().simulate(setup({modules}, 10), seed=1)\n"
        f"asked, began = setup({modules}, MANY_GROUPS), time.perf_counter()\n"
        "assert Dispatch().simulate(asked, seed=1).group.size == MANY_GROUPS\n"
        "seconds = time.perf_counter() - began\n"
        "peak = next(line.split()[1] for line in open('/proc/self/status') if line.startswith('VmHWM'))\n"
        "print(seconds, int(peak) / 1024)\n"
    )
    reply = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True, cwd=ROOT)
    seconds, mebibytes = map(float, reply.stdout.split())
    assert mebibytes < MOST_MIB
    return row(name, f"{modules} modules, a million groups, peak {mebibytes:.0f} MiB", MANY_GROUPS, "groups", seconds)
