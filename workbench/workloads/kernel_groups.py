"""How the kernels of a recorded trace become groups on a machine: the arithmetic of the model in `trace_groups.py`."""

from __future__ import annotations

from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from workbench.errors import InputError
from workbench.units import waves_for
from workbench.workloads.fitting import column_of, first_misfit, machine_resources
from workbench.workloads.importers import Trace
from workbench.workloads.launches import Launches, launches_of
from workbench.workloads.recorded import TraceFile, kernel_named, lasting_cycles, preset_for, short_enough, trace_in
from workbench.workloads.workload import INSTRUCTION_CLASSES, Groups

if TYPE_CHECKING:
    from workbench.workloads.trace_groups import TraceGroups

_OF_STRUCTURE = ("workgroups", "threads")
_OF_DEMAND = ("shared_bytes", "vgprs")


class KernelGroups(NamedTuple):
    """The kernels of a trace on a machine."""

    launches: Launches
    groups: Groups
    """One row a launch: the group that its workgroups are; arrivals and instructions are 0."""
    rows: np.ndarray
    """int64[kernels], the launches of which groups are taken."""
    taken: np.ndarray
    """int64[kernels], how many groups of each of them, at least 1."""
    size_ranks: np.ndarray
    """float64[launches], the rank of each launch's waves among all, for laws that are correlated with them."""
    facts: dict[str, int]


@lru_cache(maxsize=8)
def kernel_groups(spec: TraceGroups, machine: Any, file: TraceFile, code: tuple[str, ...]) -> KernelGroups:
    """Return the kernels of a trace on a machine, as the levers of a workload say; kept for the next run of the same.

    Raises
    ------
    InputError
        The trace lacks what is needed, nothing is taken, or a group fits no empty module: one sentence with the cure.
    """
    path, recorded = file.path, trace_in(file)
    trace = spec.kernels_as_told(recorded)
    kernels, left_out = _launches(spec, trace)
    short = short_enough(kernels, spec.longest_us)
    line = _lines(spec, kernels, path)
    groups = _groups(spec, machine, kernels, line)
    most = spec.most_a_kernel or np.iinfo(np.int64).max
    taken = np.where(short, np.minimum(kernels.workgroups, most), 0)
    rows = np.flatnonzero(taken)
    if not len(rows):
        raise InputError(f"{path}: no kernel is taken, so there is no group.")
    _refuse_misfit(trace, kernels, machine, groups, rows)
    facts = {
        "kernels": len(taken),
        "kernels_incomplete": left_out,
        **spec.told_facts(recorded),
        "kernels_longer": int(np.count_nonzero(~short)),
        "kernels_of_zero_duration": int(np.count_nonzero(kernels.duration_ns[rows] == 0)),
        f"{spec.channel_of}s": len(np.unique(line)),
        "channels": len(np.unique(groups.channel[rows])),
        "workgroups": int(kernels.workgroups.sum()),
        "groups": int(taken.sum()),
    }
    return KernelGroups(kernels, groups, rows, taken[rows], _ranks(groups.waves), facts)


def _launches(spec: TraceGroups, trace: Trace) -> tuple[Launches, int]:
    needed = _OF_STRUCTURE if spec.unrecorded == "none" else (*_OF_STRUCTURE, *_OF_DEMAND)
    cure = dict.fromkeys(_OF_DEMAND, "`unrecorded: none` takes them to ask for none")
    return launches_of(trace, spec.device, spec.incomplete == "skip", needed, "groups", cure)


def _groups(spec: TraceGroups, machine: Any, kernels: Launches, line: np.ndarray) -> Groups:
    assert kernels.threads is not None
    count = len(kernels.names)
    channel = line % spec.channels
    priorities = np.array(spec.priorities, np.int64)
    shares_nothing = kernels.shared_bytes == 0
    flagged = {"none": np.zeros(count, bool), "all": np.ones(count, bool), "without_shared_memory": shares_nothing}
    return Groups(
        arrival=np.zeros(count, np.int64),
        channel=channel,
        priority=priorities[np.minimum(channel, len(priorities) - 1)],
        waves=np.maximum(waves_for(kernels.threads, machine.wave_size), 1),
        independent=flagged[spec.independent],
        duration=lasting_cycles(kernels, machine, spec.duration_rule),
        demand=_demand(machine, kernels),
        instructions=np.zeros((count, len(INSTRUCTION_CLASSES)), np.int64),
    )


def _demand(machine: Any, kernels: Launches) -> dict[str, np.ndarray]:
    """Return the blocks a wave, segments a group; what was not recorded asks for none."""
    count = len(kernels.names)
    found = {
        "vgpr": _granules(kernels.registers, machine.vgpr_granule, count),
        "sgpr": _granules(kernels.scalar_registers, machine.sgpr_granule, count),
        "shared": machine.request_segments(kernels.shared_bytes),
    }
    there = {resource.label for resource in machine_resources(machine)}
    return {label: blocks for label, blocks in found.items() if label in there}


def _granules(registers: np.ndarray | None, granule: int, count: int) -> np.ndarray:
    if registers is None:
        return np.zeros(count, np.int64)
    return -(-np.maximum(registers, 0) // granule)


def _lines(spec: TraceGroups, kernels: Launches, where: Path | str) -> np.ndarray:
    """Return the number of each launch's stream or queue in the order of their first launches: int64[launches]."""
    recorded = kernels.queue if spec.channel_of == "queue" else kernels.stream
    if recorded is None and spec.channel_of == "queue":
        raise InputError(f"{where}: no hardware queues were recorded; take `channel_of: stream`.")
    if recorded is None:
        return np.zeros(len(kernels.names), np.int64)
    _, first, place = np.unique(recorded, return_index=True, return_inverse=True)
    return np.argsort(np.argsort(first))[place]


def _ranks(waves: np.ndarray) -> np.ndarray:
    """Rank launches in (0, 1), rising with the waves, float64[launches]; launches of as many waves keep their order."""
    order = np.argsort(waves, kind="stable")
    ranks = np.empty(len(waves))
    ranks[order] = (np.arange(len(waves)) + 0.5) / len(waves)
    return ranks


def _refuse_misfit(trace: Trace, kernels: Launches, machine: Any, groups: Groups, rows: np.ndarray) -> None:
    """Refuse a group that no empty module has room for: it would wait for ever."""
    chosen = groups.take(rows)
    misfit = first_misfit(machine, chosen.waves, chosen.demand)
    if misfit is None:
        return
    row = int(rows[misfit.row])
    what = f"{column_of(misfit.label)} of a group of {kernel_named(kernels, row)}"
    cure = f" {preset_for(trace, kernels, row, machine)}" if misfit.label in ("waves", "vgpr", "shared") else ""
    raise InputError(f"{trace.path}: {what} {misfit.expected}. Got {misfit.asked}.{cure}")
