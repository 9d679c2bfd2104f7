"""Groups of a recorded trace: the concurrent kernels of a real program, to be dispatched over all modules of a machine.

A trace records kernels. How they become groups is a model, and each of its parts is a lever or stated here:

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

from typing import Any, ClassVar, Literal

import numpy as np

from workbench.errors import InputError, at, wrong_value
from workbench.levers import code_of, lever
from workbench.streams import Streams
from workbench.workloads.fitting import machine_resources
from workbench.workloads.kernel_groups import KernelGroups, kernel_groups
from workbench.workloads.recorded import RecordedKernels, start_cycles
from workbench.workloads.synthetic.instructions import Instructions, NoInstructions
from workbench.workloads.workload import MOST_CHANNELS, MOST_PRIORITIES, Groups

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
    duration_rule: Literal["waves", "whole"] = lever(
        "waves",
        description="a group's duration: its kernel's divided by the rounds that the machine needs, or all of it",
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
    longest_us: float = lever(
        0,
        least=0,
        most=1e12,
        unit="microseconds",
        description="longer kernels are left out, such as collectives that wait for their peers; 0 = none are",
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
        """Return how many kernels and workgroups became groups on a machine, and how many did not, and why."""
        return dict(self._kernels(machine).facts)

    def _kernels(self, machine: Any) -> KernelGroups:
        alike = self.but(windows=1, count=0, instructions=NoInstructions())  # which need no reading anew
        return kernel_groups(alike, machine, self.found(), code_of(alike, machine))

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
    """Return how many groups of each kernel, if only so many are taken in all: only kernels of which some are.

    >>> _first(np.array([3, 4, 5]), 5), _first(np.array([3, 4]), 0), _first(np.array([3, 4]), 3)
    (array([3, 2]), array([3, 4]), array([3]))
    """
    if not count:
        return taken
    before = np.cumsum(taken) - taken
    counts: np.ndarray = np.minimum(taken, count - before)[before < count]
    return counts


def _refuse_too_many(spec: TraceGroups, taken: np.ndarray) -> None:
    total = int(taken.sum())
    if total > MOST_GROUPS:
        expected = f"gives {total} groups, more than {MOST_GROUPS}; take fewer with most_a_kernel, windows or count"
        raise InputError(f"{spec.trace}: {expected}. Nearest: count: {MOST_GROUPS}.")
