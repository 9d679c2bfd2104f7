"""The engine `malloc`: the threads of a GPU ask one heap for memory, under four policies (spec 2)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np

from workbench.engines.kit import Attempt, Simulator, Stop, made
from workbench.engines.kit.engine import at_slot
from workbench.engines.malloc.loop import simulate
from workbench.engines.malloc.options import Case, MallocOptions, Slots
from workbench.engines.malloc.prepare import (
    arena_of,
    blocks_at_most,
    check_policies,
    check_warps,
    columns_of,
    occupied_bytes,
    placement_of,
    policies_of,
    rules_of,
)
from workbench.engines.malloc.state import (
    ARENA,
    ASKED,
    BLOCK,
    COUNT,
    COUNTERS,
    FAULT,
    HIGH,
    LOW,
    NONE,
    PARALLEL,
    UNIT,
    Arena,
    Columns,
    Cuts,
    Policies,
    Rules,
    Run,
    State,
    cut,
)
from workbench.machine import Machine
from workbench.policies.malloc.lock import NO_LOCK
from workbench.policies.malloc.parallel.access import ParallelHeap
from workbench.policies.policy import Policy
from workbench.records.malloc import MallocRecord, Work
from workbench.structures.timetable import new_timetable, new_tournament

_NO_WALKERS, _NO_ACCESSES = {"walkers": 0, "words": 0}, new_timetable(1)
"""Sizes of a serial heap, and its timetable, which nothing enters."""


class Reading(NamedTuple):
    """What the setup and the seed determine."""

    given: Case
    rules: Rules
    columns: Columns
    part: bool = False
    """Whether somebody else asks the requests, one by one."""


class Play(NamedTuple):
    """The arguments of the loop, and the bytes that were taken before."""

    rules: Rules
    columns: Columns
    cuts: Cuts
    arena: Arena
    policies: Policies
    state: State
    occupied: int

    def run(self) -> Run:
        """Return the view that compiled routines get."""
        return Run(*self[:-1])


class Malloc(Simulator[MallocRecord]):
    """A heap with its locks, and the calls of threads that reach it warp by warp."""

    name = "malloc"
    revision = 2
    decides = Slots
    options = MallocOptions
    machine = Machine
    workload_kind = "mallocs"
    state, counts, faults = State, COUNT, FAULT

    def check_levers(self, given: Case) -> None:
        check_warps(given)
        with at_slot(given.setup, "arenas"):
            check_policies(given)

    def read(self, given: Case) -> Reading:
        """Refuse calls that make no sense; what does not fit into the heap is no mistake, it fails."""
        with at_slot(given.setup, "arenas"):
            check_policies(given)
        wanted = given.setup.workload.mallocs(given.machine, given.streams)
        rules = rules_of(given, bool((wanted.free_at >= 0).any()))
        return Reading(given, rules, columns_of(wanted, rules))

    def compiled_policies(self, run: Reading) -> list[Policy]:
        serve, heap, *_ = run.given.slots
        places = heap if isinstance(heap, ParallelHeap) else placement_of(heap)
        return [policy for policy in (serve, places) if policy is not None]

    def begin(self, run: Reading, attempt: Attempt) -> Play:
        given, rules, columns, part = run
        rules = rules._replace(resident=0) if part else rules
        cuts = self._cut(run, attempt.checked)
        arena = arena_of(given, rules)
        policies = policies_of(given.slots.heap, rules, attempt.checked)
        state = _fresh(rules, columns, cuts, arena, attempt.room, part)
        # A xorshift generator whose state is 0 stays at 0.
        state.counters[COUNT.generator] = max(given.streams.integer("lock"), 1)
        return Play(rules, columns, cuts, arena, policies, state, occupied_bytes(rules, arena))

    def loop(self, play: Play) -> None:
        simulate(play.run())

    def _cut(self, run: Reading, checked: bool) -> Cuts:
        """Put every call to the policy that serves; the columns of requests are as long as there are requests."""
        (slots, _, _, streams, _), rules, columns, _ = run
        rows, counters = len(columns.arrival), np.zeros(COUNTERS, np.int64)
        cuts = made(Cuts, {"rows": rows, "ends": rows + 1})
        ready = slots.serve.ready(streams.integer("serve"), checked)
        cut(columns, rules.unit, ready, cuts, np.zeros((4, rules.unit + 1), np.int64), counters)
        self.check(run, counters)
        requests = int(counters[COUNT.requests])
        nothing = cuts.request < 0
        if nothing.any():
            cuts.size[nothing] = cuts.offset[nothing] = 0
        first, leader, total = cuts.first[: requests + 1], cuts.leader[:requests], cuts.total[:requests]
        return cuts._replace(first=first, leader=leader, total=total)

    def words(self, run: Reading, state: State | None, stop: Stop) -> Mapping[str, Any]:
        if state is not None:
            return {"where": f"in arena {stop.row} at cycle {stop.cycle}"}
        thread = run.columns.thread[stop.row]
        return {"where": f"at the call of thread {thread} and its warp at cycle {stop.cycle}"}

    def record(self, run: Reading, play: Play) -> MallocRecord:
        rules, columns, cuts, state = play.rules, play.columns, play.cuts, play.state
        serve, options = run.given.slots.serve, run.given.options
        blocks = int(state.counters[COUNT.blocks])
        steps = serve.scan_steps() + serve.barrier_steps()
        return MallocRecord(
            unit=rules.unit,
            granule_bytes=rules.granule,
            heap_bytes=int(play.arena.limit.sum()) * rules.granule,
            base_address=options.base_address,
            header_bytes=rules.header,
            occupied_bytes=play.occupied,
            work=Work(
                options.try_instructions,
                options.heap_instructions,
                options.step_instructions * steps,
                options.split_instructions * int(serve.divides()),
            ),
            arrival=columns.arrival,
            thread=columns.thread,
            asked=columns.size,
            free_at=columns.free_at,
            size=cuts.size,
            offset=cuts.offset,
            request=cuts.request,
            block=state.block,
            leader=cuts.leader,
            total=cuts.total,
            acquired=state.acquired,
            ended=state.ended,
            ready=state.ready,
            base=state.base[:blocks],
            granules=state.granules[:blocks],
            bytes=state.bytes[:blocks],
            owner=state.owner[:blocks],
            origin=state.origin[:blocks],
            granted=state.granted[:blocks],
            returned=state.returned[:blocks],
            acquisitions=int(state.counters[COUNT.acquisitions]),
            tried_in_vain=int(state.counters[COUNT.failures]),
            locked=rules.lock != NO_LOCK,
            heap_atomics=int(state.counters[COUNT.atomics]),
            rereads=int(state.counters[COUNT.rereads]),
            words=int(state.counters[COUNT.words]),
            taken_log=state.taken_log,
            refusals=state.refusals,
        )


def _fresh(rules: Rules, columns: Columns, cuts: Cuts, arena: Arena, room: Mapping[str, int], part: bool) -> State:
    """Return a state in which no request waits and nothing is granted."""
    rows, requests = len(columns.arrival), len(cuts.leader)
    blocks = blocks_at_most(rules, rows, requests)
    arena_frees = rules.any_frees and rules.frees == ARENA
    warps = int(columns.warp.max(initial=-1)) + 1 if arena_frees else 0
    scheduled = (warps if arena_frees else blocks) if rules.any_frees else 0
    parallel = rules.heap == PARALLEL
    sizes = {"rows": rows, "requests": requests, "blocks": blocks, "arenas": rules.arenas, "warps": warps}
    sizes |= {"walkers": requests, "words": len(arena.words)} if parallel else _NO_WALKERS
    sizes |= {"opens": warps if arena_frees else scheduled * part, "ranked": warps * part, "late": scheduled * part}
    sizes |= {"answers": (requests + rules.arenas) * part}
    sizes |= {"growing": rules.arenas, "held": requests} if rules.grows else {"growing": 0, "held": 0}
    due, next_event = new_timetable(scheduled + 1), new_tournament(rules.arenas)
    accesses = new_timetable(requests + 1) if parallel else _NO_ACCESSES
    state = made(State, {**sizes, **room}, due=due, next_event=next_event, accesses=accesses)
    state.counters[COUNT.requests] = requests
    if parallel:
        state.counters[COUNT.together] = NONE
        _enter_walks(rules, columns, cuts, state)
    if part:
        state.entered[:] = NONE
    if arena_frees:
        state.open[:] = 0
        state.left[:] = np.bincount(columns.warp[cuts.request >= 0], minlength=warps)
    return state


def _enter_walks(rules: Rules, columns: Columns, cuts: Cuts, state: State) -> None:
    """Write down what each request to a parallel heap asks for, its group, its thread block and its compute unit."""
    thread, walks = columns.thread[cuts.leader], state.walks
    granules = np.maximum(-(-(rules.header + cuts.total) // rules.granule), 1)
    # The column has 32 bits. A request for more granules than that fails just the same.
    walks[:, ASKED] = np.minimum(granules, rules.region + 1)
    walks[:, UNIT] = thread // rules.block_threads % rules.units
    walks[:, LOW], walks[:, HIGH] = cuts.first[:-1], cuts.first[1:]
    state.group[:] = thread // rules.unit
    walks[:, BLOCK] = _numbered(thread // rules.block_threads)


def _numbered(values: np.ndarray) -> np.ndarray:
    """Return the place of each value among all that occur."""
    grows = np.diff(values, prepend=values[:1]) > 0
    if (np.diff(values) >= 0).all():
        return np.cumsum(grows, dtype=np.int32)
    return np.unique(values, return_inverse=True)[1].astype(np.int32)
