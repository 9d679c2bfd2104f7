"""The engine `shared_memory`: one compute unit's shared memory under one placement policy (spec 1)."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Any, ClassVar, Literal

import numpy as np

from workbench.engines.engine import Setup
from workbench.engines.first_runs import FirstRuns
from workbench.engines.log_room import with_log_room
from workbench.engines.shared_memory_loop import (
    ANSWER,
    AT_CYCLE,
    AT_ROW,
    ATTEMPTS,
    BLOCKED,
    COMPACTING,
    CONTIGUOUS,
    FINE,
    MOVES,
    NOT_FREE,
    POLICY_RAISED,
    REFUSALS,
    SCATTERED,
    STATUS,
    Jobs,
    Rules,
    State,
    new_state,
    simulate,
)
from workbench.errors import InputError, PolicyError
from workbench.levers import Spec, lever
from workbench.machine import Described, Machine
from workbench.policies.failing import why_it_failed
from workbench.policies.placement.question import Placement
from workbench.records.shared_memory import SharedMemoryRecord
from workbench.streams import Streams
from workbench.workloads.workload import Workgroups

_first_runs = FirstRuns()

_LAYOUTS = {"contiguous": CONTIGUOUS, "scattered": SCATTERED, "compacting": COMPACTING}


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


class SharedMemory:
    """One compute unit: a queue, an allocator, a memory of equal segments."""

    name: ClassVar[str] = "shared_memory"
    revision: ClassVar[int] = 1
    slots: ClassVar[Mapping[str, str]] = {
        "placement": "nearest_boundary",
        "queue": "fifo_head_only",
        "retry": "next_cycle",
    }
    options: ClassVar[type[Spec]] = SharedMemoryOptions
    machine: ClassVar[type[Described]] = Machine
    wants: ClassVar[str] = "workgroups"

    def asks(self, slot: str) -> str:
        """The question that the policy of a slot answers: of the same name."""
        return slot

    def simulate(self, setup: Setup, seed: int, events: bool = False, checked: bool = False) -> SharedMemoryRecord:
        """Run the queue of one seed to its end.

        Parameters
        ----------
        seed : int
            Names the workload's random streams and the policy's own.
        events : bool
            Keep refusals; what happens is the same.
        checked : bool
            Test every array index of the policy's compiled answer; the first run of a user's policy in a process
            always does, for compiled code reads past the end of an array without a word.

        Raises
        ------
        InputError
            A workgroup asks for more segments than there are.
        PolicyError
            The placement policy raised, answered a range that is not free, or refused for ever.
        """
        streams = Streams(seed)
        placement = setup.policies["placement"]
        assert isinstance(placement, Placement)
        wanted = setup.workload.workgroups(setup.machine, streams)
        jobs = admitted(wanted, placement, setup.machine.segments)
        rules = _rules(setup, placement)
        memory_seed = streams.integer("placement")
        with _first_runs.watched([placement], checked) as checked:
            play = partial(_run, jobs, rules, placement, memory_seed, checked)
            state = with_log_room(play, partial(_logged, events=events))
        return _record(wanted, jobs, rules, placement, state)

    def admit(self, setup: Setup, seed: int) -> None:
        """Refuse a setup whose workgroups cannot all fit an empty memory."""
        placement: Any = setup.policies["placement"]
        admitted(setup.workload.workgroups(setup.machine, Streams(seed)), placement, setup.machine.segments)


def admitted(wanted: Workgroups, placement: Placement, segments: int) -> Jobs:
    """The queue as the policy serves it: lengths rounded up where it rounds, none that can never fit (spec 1, E1)."""
    length = np.asarray(placement.footprint(wanted.length, segments), np.int64)
    if length.size and (length.max() > segments or length.min() < 1):
        row = int(np.argmax((length > segments) | (length < 1)))
        raise InputError(
            f"workgroup {row} asks for {wanted.length[row]} segments, which {placement.name} serves with "
            f"{length[row]}; a request must take 1 to {segments} segments, or it would block the queue for ever."
        )
    return Jobs(wanted.arrival, length, np.asarray(placement.lasting(wanted.duration), np.int64))


def _rules(setup: Setup, placement: Placement) -> Rules:
    options: Any = setup.options
    queue: Any = setup.policies["queue"]
    retry: Any = setup.policies["retry"]
    return Rules(
        segments=setup.machine.segments,
        look_ahead=queue.look_ahead(),
        retry_cycles=retry.cycles(),
        release_first=int(options.same_cycle_order == "release_first"),
        grants_a_cycle=options.allocs_per_cycle,
        latency_cycles=options.latency_cycles,
        layout=_LAYOUTS[placement.layout],
        cycles_per_moved_segment=getattr(placement, "cycles_per_moved_segment", 0),
    )


def _run(
    jobs: Jobs, rules: Rules, placement: Placement, seed: int, checked: bool, moves: int = 0, refusals: int = 0
) -> State:
    state = new_state(jobs.arrival.size, rules, moves, refusals)
    ready = placement.ready(rules.segments, seed, checked)
    simulate(jobs, rules, ready, state)
    if state.counters[STATUS] != FINE:
        raise _broken(placement, jobs, rules, state)
    return state


def _logged(state: State, events: bool) -> tuple[int, int]:
    """Moves are always kept."""
    return int(state.counters[MOVES]), int(state.counters[REFUSALS]) if events else 0


def _broken(placement: Placement, jobs: Jobs, rules: Rules, state: State) -> PolicyError:
    status, cycle, row, answer = (int(state.counters[k]) for k in (STATUS, AT_CYCLE, AT_ROW, ANSWER))
    asked = f"workgroup {row} ({jobs.length[row]} segments) at cycle {cycle}"
    if status == POLICY_RAISED:
        return PolicyError(f"{placement.short()} {why_it_failed(placement)}; at {asked}.")
    if status == NOT_FREE:
        what = f"answered {answer}, which is not the start of a free range of {jobs.length[row]} segments"
        return PolicyError(f"{placement.short()} {what}, for {asked}. -1 says that a request does not fit now.")
    return PolicyError(f"{placement.short()} refused {asked} for ever: nothing is left that could be released.")


def _record(wanted: Workgroups, jobs: Jobs, rules: Rules, placement: Placement, state: State) -> SharedMemoryRecord:
    return SharedMemoryRecord(
        segments=rules.segments,
        layout=placement.layout,
        addressed=placement.addressed,
        release_first=bool(rules.release_first),
        arrival=jobs.arrival,
        asked=wanted.length,
        length=jobs.length,
        grant=state.grant,
        start=state.start,
        release=state.start + jobs.duration,
        base=state.base,
        serial=state.serial,
        refused=state.refused,
        attempts=int(state.counters[ATTEMPTS]),
        blocked_cycles=int(state.counters[BLOCKED]),
        moves=state.moves,
        refusals=state.refusals,
    )
