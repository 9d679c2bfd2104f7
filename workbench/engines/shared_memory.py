"""The engine `shared_memory`: one compute unit's shared memory under one placement policy (spec 1)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal, NamedTuple

import numpy as np

from workbench.engines.kit import Attempt, Given, Simulator, Stop, slot
from workbench.engines.kit.checks import check_column, check_whole
from workbench.engines.kit.order import LAST_CYCLE
from workbench.engines.shared_memory_loop import (
    COMPACTING,
    CONTIGUOUS,
    COUNT,
    FAULT,
    SCATTERED,
    Jobs,
    Play,
    Rules,
    State,
    drain_queue,
    new_state,
)
from workbench.errors import InputError
from workbench.levers import Spec, lever
from workbench.machine import Machine
from workbench.policies.placement.question import Placement
from workbench.policies.placement.queueing import QueuePolicy, RetryPolicy
from workbench.records.shared_memory import SharedMemoryRecord
from workbench.workloads.workload import Workgroups

_LAYOUTS = {"contiguous": CONTIGUOUS, "scattered": SCATTERED, "compacting": COMPACTING}

SKIPS = 1
"""Tests set 0: no try of the queue is left out (`Rules.skips`)."""


class SharedMemoryOptions(Spec):
    """The levers of the allocator around the placement policy."""

    same_cycle_order: Literal["release_first", "allocate_first"] = lever(
        "release_first", description="whether a cycle's releases are seen by its grants (spec 1, R8) or not (ablation)"
    )
    allocs_per_cycle: int = lever(
        1, least=1, most=4096, unit="grants", description="most grants in one cycle (spec 1, E11)"
    )
    latency_cycles: int = lever(
        0, least=0, most=1_000_000, unit="cycles", description="from a grant to the workgroup's start (spec 1, R31)"
    )


class Slots(NamedTuple):
    """What is decided."""

    placement: Placement = slot("nearest_boundary")
    queue: QueuePolicy = slot("fifo_head_only")
    retry: RetryPolicy = slot("next_cycle")


class Run(NamedTuple):
    """What the setup and the seed determine."""

    given: Given[Slots, SharedMemoryOptions, Machine]
    wanted: Workgroups
    jobs: Jobs
    rules: Rules


class SharedMemory(Simulator[SharedMemoryRecord]):
    """One compute unit: a queue, an allocator, a memory of equal segments."""

    name = "shared_memory"
    revision = 2
    decides = Slots
    options = SharedMemoryOptions
    machine = Machine
    workload_kind = "workgroups"
    state, counts, faults = State, COUNT, FAULT

    def read(self, given: Given[Slots, SharedMemoryOptions, Machine]) -> Run:
        wanted = given.setup.workload.workgroups(given.machine, given.streams)
        jobs = admitted(wanted, given.slots.placement, given.machine.segments)
        return Run(given, wanted, jobs, _rules(given))

    def begin(self, run: Run, attempt: Attempt) -> Play:
        placement, streams, segments = run.given.slots.placement, run.given.streams, run.rules.segments
        ready = placement.ready(segments, streams.integer("placement"), attempt.checked)
        return Play(run.jobs, run.rules, ready, new_state(run.jobs, run.rules, attempt.room))

    def loop(self, play: Play) -> None:
        drain_queue(*play)

    def words(self, run: Run, state: State, stop: Stop) -> Mapping[str, Any]:
        return {"where": f"at workgroup {stop.row} ({run.jobs.length[stop.row]} segments) at cycle {stop.cycle}"}

    def record(self, run: Run, play: Play) -> SharedMemoryRecord:
        placement, (jobs, rules, _, state) = run.given.slots.placement, play
        return SharedMemoryRecord(
            segments=rules.segments,
            layout=placement.layout,
            addressed=placement.addressed,
            release_first=bool(rules.release_first),
            arrival=jobs.arrival,
            asked=run.wanted.length,
            length=jobs.length,
            grant=state.grant,
            start=state.start,
            release=state.start + jobs.duration,
            base=state.base,
            serial=state.serial,
            refused=state.refused,
            attempts=int(state.counters[COUNT.attempts]),
            blocked_cycles=int(state.counters[COUNT.blocked]),
            moves=state.moves,
            refusals=state.refusals,
        )


def admitted(wanted: Workgroups, placement: Placement, segments: int) -> Jobs:
    """Return the queue as the policy serves it: lengths rounded up where it rounds, none that can never fit (spec 1,
    E1)."""
    check_table(wanted, segments)
    length = np.asarray(placement.footprint(wanted.length, segments), np.int64)
    if length.size and (length.max() > segments or length.min() < 1):
        row = int(np.argmax((length > segments) | (length < 1)))
        raise InputError(
            f"workgroup {row} asks for {wanted.length[row]} segments, which {placement.name} serves with "
            f"{length[row]}; a request must take 1 to {segments} segments, or it would block the queue for ever."
        )
    return Jobs(wanted.arrival, length, np.asarray(placement.lasting(wanted.duration), np.int64))


def check_table(wanted: Workgroups, segments: int) -> None:
    """Refuse columns that are no whole numbers of one length, arrivals that decrease, and times that never end."""
    rows, arrival = len(wanted.arrival), wanted.arrival
    check_column("workgroup", "arrival", arrival, rows, 0, LAST_CYCLE)
    check_whole("workgroup", "length", wanted.length, rows, 1, segments)
    check_column("workgroup", "duration", wanted.duration, rows, 1, LAST_CYCLE)
    is_back = arrival[1:] < arrival[:-1]
    if is_back.any():
        row = int(is_back.argmax()) + 1
        raise InputError(
            f"workgroup {row} arrives at cycle {arrival[row]}, before the one before it ({arrival[row - 1]}); arrivals "
            "must not decrease."
        )


def _rules(given: Given[Slots, SharedMemoryOptions, Machine]) -> Rules:
    slots, options = given.slots, given.options
    return Rules(
        segments=given.machine.segments,
        look_ahead=slots.queue.look_ahead(),
        retry_cycles=slots.retry.cycles(),
        release_first=int(options.same_cycle_order == "release_first"),
        grants_a_cycle=options.allocs_per_cycle,
        latency_cycles=options.latency_cycles,
        layout=_LAYOUTS[slots.placement.layout],
        cycles_per_moved_segment=getattr(slots.placement, "cycles_per_moved_segment", 0),
        skips=SKIPS,
    )
