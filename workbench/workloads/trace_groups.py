"""Groups of a recorded trace: what a real program asked of a whole machine.

The concurrent kernels of a program are dispatched over all modules. A trace records kernels, not groups. How they
become groups is a model, and each of its parts is a lever or stated here:

- Every workgroup of a kernel's grid is a group; those of a kernel are alike. `most_a_kernel` and `count` take fewer.
- A stream (or a hardware queue, where the trace has them) is a channel: they are numbered in the order in which they
  first launch something, and where there are more of them than `channels` they are dealt out in turn. A channel keeps
  its order, but a kernel does not wait for the end of the one before it: the recorded starts hold it back, as they did
  on the card.
- A group has ceil(threads / wave_size) waves. A wave takes its thread's registers, accumulation registers included, in
  whole granules of the machine, and its scalar registers where they were recorded. A group takes its shared memory in
  whole segments, with what the machine reserves on top. Of further resources it takes nothing.
- All groups of a kernel join their channel when the kernel was recorded to start.
- Durations are as in `trace_workgroups`: with the rule `waves` a kernel's divided by the rounds that the machine needs
  for its grid if it has the machine for itself; a kernel of 0 ns lasts one cycle.
- A trace does not tell whether the waves of a group may run apart, nor what they execute; both are levers.
"""

from __future__ import annotations

from functools import lru_cache
from pathlib import Path
from typing import Any, ClassVar, Literal, NamedTuple

import numpy as np

from workbench.errors import InputError, at, wrong_value
from workbench.levers import code_of, lever
from workbench.streams import Streams
from workbench.units import waves_for
from workbench.workloads.group_file import column_of, first_misfit, machine_resources
from workbench.workloads.importers import Trace
from workbench.workloads.launches import (
    Launches,
    kernel_named,
    lasting_cycles,
    launches_of,
    preset_for,
    short_enough,
    start_cycles,
)
from workbench.workloads.recorded import RecordedKernels, TraceFile, trace_in
from workbench.workloads.synthetic.instructions import Instructions, NoInstructions
from workbench.workloads.workload import INSTRUCTION_CLASSES, MOST_CHANNELS, MOST_PRIORITIES, Groups

MOST_GROUPS = 10_000_000


class TraceGroups(RecordedKernels):
    """The workgroups of every kernel of a recorded trace, each in the channel of its stream.

    Without windows the seed changes nothing; with `windows` the kernels are cut into so many parts of equal number, and
    seed s takes part s mod `windows`, so that a real trace gives paired runs. Instructions that are drawn (more than
    one mix, or laws) differ with every seed.

    References
    ----------
    spec 3, glossary: task channel = hardware queue or stream channel.
    """

    channels: int = lever(
        MOST_CHANNELS,
        least=1,
        most=MOST_CHANNELS,
        unit="channels",
        description="streams beyond so many share channels",
    )
    channel_of: Literal["stream", "queue"] = lever(
        "stream",
        description="what becomes a channel: the stream that a kernel was launched on, or the hardware's queue",
    )
    priorities: tuple[int, ...] = lever(
        (1,),
        least=1,
        most=MOST_PRIORITIES,
        description="the priority of each channel in turn, the last one for all further",
    )
    independent: Literal["none", "without_shared_memory", "all"] = lever(
        "none", description="which groups have waves that may run apart: those that share no memory, all, or none"
    )
    arrival: Literal["recorded", "all_at_once"] = lever(
        "recorded", description="whether groups join their channel when their kernel started, or all at cycle 0"
    )
    unrecorded: Literal["refuse", "none"] = lever(
        "refuse",
        description="kernels whose registers or shared memory were not recorded: incomplete, or asking for none",
    )
    incomplete: Literal["refuse", "skip"] = lever(
        "refuse", description="kernels of which something was not recorded: the trace is refused, or they are left out"
    )
    most_a_kernel: int = lever(0, least=0, most=MOST_GROUPS, unit="groups", description="most groups a kernel; 0 = all")
    windows: int = lever(
        1, least=1, most=100_000, unit="windows", description="parts of the trace, of which a seed takes one"
    )
    count: int = lever(0, least=0, most=MOST_GROUPS, unit="groups", description="the first so many groups; 0 = all")
    instructions: Instructions = lever(NoInstructions(), description="what its waves execute")

    more_seeds: ClassVar[str] = "windows: N cuts a trace into parts, one a seed"

    def check(self) -> None:
        if not self.priorities:
            raise InputError(f"{self.name}.priorities must hold at least one priority. Got [].")

    def check_machine(self, machine: Any, path: str = "", where: str = "") -> None:
        try:
            machine_resources(machine)
            kernels = len(self._kernels(machine).rows)
        except InputError as wrong:
            raise InputError(at(where, str(wrong))) from None
        if self.windows > kernels:
            expected = f"must be at most {kernels}, the kernels that are taken"
            raise wrong_value(where, f"{path or self.name}.windows", expected, self.windows, kernels)

    def groups(self, machine: Any, streams: Streams) -> Groups:
        """Return the groups, in the order of their kernels' starts.

        Raises
        ------
        InputError
            The trace cannot be read or lacks what is needed, a group fits no empty module, or there are too many.
        """
        self.check_machine(machine)
        kernels = self._kernels(machine)
        part = _window(len(kernels.rows), self.windows, streams.seed)
        taken = _first(kernels.taken[part], self.count)
        rows = kernels.rows[part][: len(taken)]
        self._refuse_too_many(int(taken.sum()))
        alike = kernels.groups.take(rows)
        drawn = self.instructions.counts(alike.waves, alike.duration, kernels.size_ranks[rows], streams)
        starts = start_cycles(kernels.launches, machine, rows, self.arrival)
        return alike._replace(arrival=starts, instructions=drawn).repeated(taken)

    def different_seeds(self, machine: Any) -> int | None:
        return None if self.instructions.varies else self.windows

    def facts(self, machine: Any) -> dict[str, int]:
        """Return the numbers of kernels and workgroups that became groups on a machine, of those that did not, and
        why."""
        return dict(self._kernels(machine).facts)

    def _kernels(self, machine: Any) -> KernelGroups:
        alike = self.but(windows=1, count=0, instructions=NoInstructions())  # which need no reading again
        return kernel_groups(alike, machine, self.trace_file(), code_of(alike, machine))

    def _refuse_too_many(self, total: int) -> None:
        if total > MOST_GROUPS:
            expected = f"gives {total} groups, more than {MOST_GROUPS}; take fewer with most_a_kernel, windows or count"
            raise InputError(f"{self.trace}: {expected}. Nearest: count: {MOST_GROUPS}.")


def _window(kernels: int, windows: int, seed: int) -> slice:
    """Return the part of the kernels that a seed takes.

    >>> [_window(10, 4, seed) for seed in (0, 1, 3)]
    [slice(0, 2, None), slice(2, 5, None), slice(7, 10, None)]
    """
    part = seed % windows
    return slice(kernels * part // windows, kernels * (part + 1) // windows)


def _first(taken: np.ndarray, count: int) -> np.ndarray:
    """Return the number of groups of each kernel, if only so many are taken in all: only kernels of which some are.

    >>> _first(np.array([3, 4, 5]), 5), _first(np.array([3, 4]), 0), _first(np.array([3, 4]), 3)
    (array([3, 2]), array([3, 4]), array([3]))
    """
    if not count:
        return taken
    before = np.cumsum(taken) - taken
    counts: np.ndarray = np.minimum(taken, count - before)[before < count]
    return counts


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
    trace = spec.kernels_by_levers(recorded)
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
        **spec.facts_of_levers(recorded),
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
    blocks_of = {
        "vgpr": _granules(kernels.registers, machine.vgpr_granule, count),
        "sgpr": _granules(kernels.scalar_registers, machine.sgpr_granule, count),
        "shared": machine.request_segments(kernels.shared_bytes),
    }
    there = {resource.label for resource in machine_resources(machine)}
    return {label: blocks for label, blocks in blocks_of.items() if label in there}


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
    """Refuse a group that no empty module has space for: it would wait for ever."""
    chosen = groups.take(rows)
    misfit = first_misfit(machine, chosen.waves, chosen.demand)
    if misfit is None:
        return
    row = int(rows[misfit.row])
    what = f"{column_of(misfit.label)} of a group of {kernel_named(kernels, row)}"
    cure = f" {preset_for(trace, kernels, row, machine)}" if misfit.label in ("waves", "vgpr", "shared") else ""
    raise InputError(f"{trace.path}: {what} {misfit.expected}. Got {misfit.requested}.{cure}")
