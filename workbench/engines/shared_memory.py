"""The engine `shared_memory`: one compute unit's shared memory under one placement policy (spec 1), whole or as a part.

A part of a larger simulation is moved on by others, who say which workgroup comes when, and may decide when it ends.
The workload is then a table of workgroups; when each joins the queue is asked, whatever its arrival. A workgroup that
was granted ends after its duration, or, as a part whose `ends` are asked, stays until its end is asked: its duration is
then the least that it runs (spec 6, R2).
"""

from __future__ import annotations

from collections.abc import Mapping
from copy import deepcopy
from typing import Any, Literal, NamedTuple

import numpy as np

from workbench.engines import shared_memory_part_api as asking
from workbench.engines.engine import Setup
from workbench.engines.kit import Attempt, Given, Simulator, Stop, slot
from workbench.engines.kit import frame as kit
from workbench.engines.kit.columns import check_column, check_whole, logs_of
from workbench.engines.kit.frame import NEVER, advance, next_event
from workbench.engines.kit.order import LAST_CYCLE
from workbench.engines.shared_memory_loop import (
    COMPACTING,
    CONTIGUOUS,
    COUNT,
    FAULT,
    NOBODY,
    SCATTERED,
    Jobs,
    Play,
    Rules,
    State,
    new_state,
    play_until,
)
from workbench.engines.shared_memory_part_api import REFUSED, earliest, least_end
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
    revision = 1
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
        play_until(*play, NEVER, 0)

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
            release=state.end if rules.ends_asked else state.start + jobs.duration,
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
    back = np.flatnonzero(arrival[1:] < arrival[:-1])
    if back.size:
        row = int(back[0]) + 1
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


# fmt: on


class Request(NamedTuple):
    """A workgroup of the table that joins the queue."""

    cycle: int
    """When."""
    workgroup: int
    """Its row."""


class End(NamedTuple):
    """The end of a workgroup that was granted and stays."""

    cycle: int
    """When it gives back its segments."""
    workgroup: int
    """Its row."""


class Told(NamedTuple):
    """What became of a request: a workgroup was granted its segments, or gave them back."""

    ticket: int
    """Of the request: the workgroup."""
    cycle: int
    """When."""
    base: int
    """Its first segment at the grant."""
    start: int
    """The cycle at which it begins to run, which may lie ahead of its grant."""
    ended: bool
    """False where it was granted."""


class Part(kit.Part):
    """The state of a shared memory that somebody else moves on; it may be copied, to see what would happen.

    Attributes
    ----------
    run : Run
        What the setup and the seed determine.
    play : Play
        Its `state` may be read at any time.
    """

    def __init__(self, run: Run, play: Play) -> None:
        super().__init__(asking, play)
        self.run, self.play = run, play

    def check(self) -> None:
        SharedMemory().check(self.run, self.play.state.counters, self.play.state)

    def __deepcopy__(self, memo: dict[int, Any]) -> Part:
        return Part(self.run, deepcopy(self.play, memo))


def new_part(
    setup: Setup, seed: int, ends: Literal["known", "asked"] = "known", logs: Mapping[str, int] | None = None
) -> Part:
    """Return the state of a memory that is empty, with an empty queue.

    Parameters
    ----------
    setup : Setup
        Of the engine `shared_memory`; its workload gives the table of workgroups.
    seed : int
    ends : {"known", "asked"}
        Whether a workgroup that was granted ends after its duration, or stays until an `End` is asked.
    logs : mapping of str to int
        Rows of the logs `moves` and `refusals`; without it neither is kept.

    Examples
    --------
    >>> from workbench.machine import Machine
    >>> from workbench.policies.policy import read_policy
    >>> from workbench.workloads.synthetic.random_groups import RandomWorkgroups
    >>> slots, engine = SharedMemory.slots, SharedMemory()
    >>> policies = {slot: read_policy(engine.question_of(slot), name, slot) for slot, name in slots.items()}
    >>> workload = RandomWorkgroups(count=2, size=3, duration=10)
    >>> setup = Setup("shared_memory", Machine(segments=16), workload, policies, engine.options())
    >>> state = new_part(setup, seed=1)
    >>> ask(state, Request(cycle=5, workgroup=1))
    1
    >>> next_event(state)
    (5, 16)
    >>> advance(state, (NEVER, 0))
    >>> [(told.ticket, told.cycle, told.ended) for told in finished(state)]
    [(1, 5, False), (1, 15, True)]
    """
    engine = SharedMemory()
    run = engine.read(engine.given(setup, seed))
    rules = run.rules._replace(ends_asked=int(ends == "asked"), keeps_answers=1)
    jobs = run.jobs._replace(arrival=np.full_like(run.jobs.arrival, NOBODY))
    room = {**dict.fromkeys(logs_of(engine.state), 0), **(logs or {})}
    theirs = any(not policy.built_in for policy in engine.asked(run))
    play = engine.begin(run._replace(jobs=jobs, rules=rules), Attempt(room, logs is not None, checked=theirs))
    play.state.after[:] = play.state.counters[COUNT.head] = play.state.counters[COUNT.unasked] = jobs.arrival.size
    play.state.counters[COUNT.attempt], play.state.counters[COUNT.last] = NEVER, NOBODY
    return Part(run, play)


def ask(state: Part, request: Request | End) -> int:
    """Let a workgroup join the queue, or end one that stays; return the ticket: its row.

    What is asked may lie ahead; nothing happens before `advance`. None is refused.

    Raises
    ------
    InputError
        The cycle is over, the workgroup does not exist or joined before, the last of the queue joins later, the
        workgroup does not stay, or would end before it has run.
    """
    if isinstance(request, End):
        ticket = state.called("ask_end", request.workgroup, request.cycle)
        if ticket == REFUSED:
            raise InputError(_no_end(state.play, request))
    else:
        ticket = state.called("ask_workgroup", request.workgroup, request.cycle)
        if ticket == REFUSED:
            raise InputError(_no_workgroup(state.play, request))
    return ticket


def finished(state: Part) -> list[Told]:
    """Return what was granted and what ended since the last call, in the order in which it happened."""
    kept, counters = state.play.state, state.play.state.counters
    answers = kept.answers[: counters[COUNT.answered]].tolist()
    counters[COUNT.answered] = 0
    return [
        Told(code // 2, cycle, int(kept.base[code // 2]), int(kept.start[code // 2]), bool(code % 2))
        for code, cycle in answers
    ]


def record_of(state: Part) -> SharedMemoryRecord:
    """Return the engine's record of what has happened so far; who has not joined has arrival -1."""
    return SharedMemory().record(state.run, state.play)


def _no_workgroup(play: Play, request: Request) -> str:
    """Return why a workgroup may not join the queue."""
    cycle, row = request
    rows, now = play.jobs.arrival.size, int(play.state.counters[COUNT.now])
    if not 0 <= row < rows:
        return f"a request is for workgroup {row}; the table has workgroups 0 to {rows - 1}."
    if play.jobs.arrival[row] != NOBODY:
        return f"workgroup {row} joined before, at cycle {play.jobs.arrival[row]}."
    kit.refuse_past(cycle, now)
    return f"workgroup {row} is to join at cycle {cycle}, but the last of the queue joins at {earliest(play)}."


def _no_end(play: Play, request: End) -> str:
    """Return why a workgroup may not end."""
    cycle, row = request
    state, now = play.state, int(play.state.counters[COUNT.now])
    if not play.rules.ends_asked:
        return "an end is asked of a part whose workgroups end after their durations; make it with ends='asked'."
    if not 0 <= row < state.grant.size or state.grant[row] == NOBODY:
        return f"an end is asked of workgroup {row}, which was not granted."
    if state.end[row] != NOBODY:
        return f"the end of workgroup {row} was asked before, for cycle {state.end[row]}."
    kit.refuse_past(cycle, now)
    return f"workgroup {row} is to end at cycle {cycle}, but it runs until cycle {least_end(play, row)}."


__all__ = [
    "NEVER",
    "SKIPS",
    "End",
    "Part",
    "Request",
    "Run",
    "SharedMemory",
    "SharedMemoryOptions",
    "Slots",
    "Told",
    "admitted",
    "advance",
    "ask",
    "check_table",
    "finished",
    "new_part",
    "next_event",
    "record_of",
]
