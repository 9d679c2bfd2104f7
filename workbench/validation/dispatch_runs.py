"""Runs of the engine `dispatch` on measured kernels: cards without a preset of their own, kernels, and one run.

A cycle is a nanosecond in these runs, so that durations of a trace are cycles. Groups go to the module with the fewest
waves, as breadth-first hardware does, and a round has no limit that matters.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from functools import cache
from typing import Any, NamedTuple

import numpy as np

from workbench.engines.dispatch import Dispatch
from workbench.engines.kit.engine import Setup
from workbench.errors import InputError, nearest_name
from workbench.machine import Machine, preset_for_device
from workbench.machine.presets import NEW_PRESET
from workbench.policies.policy import read_policy
from workbench.records.dispatch import DispatchRecord
from workbench.streams import Streams
from workbench.units import segments_for, waves_for
from workbench.workloads.workload import Groups, Workload

_PRESETS: Mapping[str, Mapping[str, Any]] = {
    # 7,296 and 3,328 wave slots of 32 a unit: amd/HPCTrainingExamples @ aaaa72d4dca9, README of 2-LDSOccupancyLimit
    "mi300a": {"preset": "mi300x", "compute_units": 228},
    "mi210": {"preset": "mi250x", "compute_units": 104},
    # 6 SMs: README of leimingyu/block_trace_analyzer @ 2e786d316679; compute capability 5.2 has the limits of 7.0
    "gtx 950": {"preset": "v100", "compute_units": 6},
}
"""Cards without a preset: the preset whose unit they have, and what differs."""


class Kernel(NamedTuple):
    """Groups of one kernel, alike but for their durations, in a channel of their own."""

    duration: np.ndarray
    """int64[groups], cycles of each group alone."""
    threads: int = 64
    """Threads a group."""
    vgprs: int = 0
    """Vector registers a thread; 0 = none are counted."""
    shared_bytes: int = 0
    arrival: int = 0
    """The cycle at which its groups join their queue."""


class GivenKernels(Workload):
    """Kernels that are given as values, each in the channel of its place."""

    random = False

    def __init__(self, kernels: Sequence[Kernel]) -> None:
        object.__setattr__(self, "kernels", tuple(kernels))

    def groups(self, machine: Machine, streams: Streams) -> Groups:
        kernels: tuple[Kernel, ...] = self.__dict__["kernels"]
        counts = [len(kernel.duration) for kernel in kernels]

        def each(values: Sequence[int]) -> np.ndarray:
            return np.repeat(np.array(values, np.int64), counts)

        nothing = np.zeros(sum(counts), np.int64)
        blocks = [segments_for(kernel.vgprs, machine.vgpr_granule) for kernel in kernels]
        segments = [machine.request_segments(kernel.shared_bytes) for kernel in kernels]
        return Groups(
            arrival=each([kernel.arrival for kernel in kernels]),
            channel=each(range(len(kernels))),
            priority=nothing + 1,
            waves=each([waves_for(kernel.threads, machine.wave_size) for kernel in kernels]),
            independent=nothing.astype(bool),
            duration=np.concatenate([np.asarray(kernel.duration, np.int64) for kernel in kernels]),
            demand={"vgpr": each(blocks), "shared": each(segments)},
            instructions=np.zeros((sum(counts), 6), np.int64),
            kernel=each(range(len(kernels))),
        )


class Span(NamedTuple):
    """When a kernel ran."""

    begin: int
    """The cycle at which its first group started."""
    end: int
    """The cycle at which its last group ended."""


def run_kernels(machine: Machine, kernels: Sequence[Kernel], **options: Any) -> DispatchRecord:
    """Return the record of kernels that a dispatcher serves, with options of the engine such as `progress`."""
    every = Dispatch.options.read({"dispatches_a_round": 64, **options})
    return Dispatch().simulate(Setup("dispatch", machine, GivenKernels(kernels), _policies(), every), 0)


def spans(record: DispatchRecord, kernels: Sequence[Kernel]) -> list[Span]:
    """Return the start and the end of each kernel of a run."""
    kernel_of = np.repeat(np.arange(len(kernels)), [len(kernel.duration) for kernel in kernels])[record.group]
    starts, ends = record.starts(), record.ends()
    return [Span(int(starts[kernel_of == k].min()), int(ends[kernel_of == k].max())) for k in range(len(kernels))]


@cache
def _policies() -> dict[str, Any]:
    """Return the engine's default policies, with a choice that goes breadth first."""
    slots = {**Dispatch().slots, "choice": "least_waves", "priority": "no_priority", "selection": "channel_round_robin"}
    read = {
        slot: read_policy(Dispatch().question_of(slot), policy, slot)
        for slot, policy in slots.items()
        if policy not in slots
    }
    return {slot: read[slots[slot] if slots[slot] in slots else slot] for slot in slots}


def machine_of(card: str, where: str) -> Machine:
    """Return the machine of a card that a file names, such as `MI300A`, `mi300a_120cu` or `GeForce GTX 950 (0)`.

    Raises
    ------
    InputError
        Neither a preset nor this module has the card.
    """
    name = card.lower().replace("_", " ")
    units = re.search(r"\b(\d+) ?cu\b", name)
    own = next((key for key in _PRESETS if re.search(rf"\b{key}\b", name)), None)
    preset = own or preset_for_device(card.upper())
    if preset is None:
        nearest = nearest_name(name, _PRESETS)
        cure = f" Did you mean {nearest}?" if nearest else ""
        known = f"see `workbench list presets`, or write one: {NEW_PRESET.format('machine')}"
        raise InputError(f"{where}: there is no machine of the card {card!r}; {known}.{cure}")
    levers = dict(_PRESETS.get(preset, {"preset": preset}))
    return Machine.read(levers | ({"compute_units": int(units[1])} if units else {}), "machine", where)
