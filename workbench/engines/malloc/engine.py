"""The engine `malloc`: the threads of a GPU ask one heap for memory, under four policies (spec 2)."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Any, ClassVar, NamedTuple

import numpy as np

from workbench.compiled import MOST_TURNS, ran_out
from workbench.engines.engine import Setup, at_slot
from workbench.engines.first_runs import FirstRuns
from workbench.engines.log_room import with_log_room
from workbench.engines.malloc.cutting import cut
from workbench.engines.malloc.loop import simulate
from workbench.engines.malloc.options import MallocOptions
from workbench.engines.malloc.prepare import (
    Chosen,
    arena_of,
    blocks_at_most,
    check_warps,
    chosen,
    columns_of,
    occupied_bytes,
    policies_of,
    rules_of,
)
from workbench.engines.malloc.state import (
    ACQUISITIONS,
    ANSWER,
    ARENA,
    AT_CYCLE,
    AT_REQUEST,
    ATOMICS,
    BLOCKS,
    COUNTERS,
    FAILURES,
    FINE,
    GENERATOR,
    NOT_FREE,
    RAISED_IN,
    REFUSALS,
    REQUESTS,
    REREADS,
    STATUS,
    TAKEN,
    WORDS,
    Arena,
    Columns,
    Cuts,
    Rules,
    State,
    new_state,
)
from workbench.errors import PolicyError
from workbench.levers import Spec
from workbench.machine import Described, Machine
from workbench.policies.malloc.lock import NO_LOCK
from workbench.records.malloc import MallocRecord, Work
from workbench.streams import Streams

_first_runs = FirstRuns()


class Run(NamedTuple):
    """What one run was made of, and what came of it."""

    rules: Rules
    columns: Columns
    cuts: Cuts
    arena: Arena
    occupied: int
    state: State


class Malloc:
    """A heap with its locks, and the calls of threads that reach it warp by warp."""

    name: ClassVar[str] = "malloc"
    revision: ClassVar[int] = 2
    slots: ClassVar[Mapping[str, str]] = {
        "serve": "warp_aggregated",
        "heap": "bitmap_arena",
        "lock": "trylock_spin",
        "arenas": "one_heap",
    }
    options: ClassVar[type[Spec]] = MallocOptions
    machine: ClassVar[type[Described]] = Machine
    wants: ClassVar[str] = "mallocs"

    def asks(self, slot: str) -> str:
        """The question that the policy of a slot answers: of the same name."""
        return slot

    def simulate(self, setup: Setup, seed: int, events: bool = False, checked: bool = False) -> MallocRecord:
        """Serve every call of one seed.

        Parameters
        ----------
        seed : int
            Names the workload's random streams and the policies' own.
        events : bool
            Keep every entry into a critical section and every refusal; what happens is the same.
        checked : bool
            Test every array index of the policies' compiled answers; the first run of a user's policy in a process
            always does.

        Raises
        ------
        InputError
            A call makes no sense, or policies do not go together.
        PolicyError
            A policy raised, or gave an answer that its question does not allow.
        """
        found = chosen(setup)
        asked = [policy for policy in (found.serve, found.placement) if policy is not None]
        with _first_runs.watched(asked, checked) as checked:
            play = partial(_play, setup, found, seed, checked)
            run = with_log_room(play, _logged) if events else play()
        return _record(setup, found, run)

    def admit(self, setup: Setup, seed: int) -> None:
        """Refuse calls that make no sense; what does not fit into the heap is no mistake, it fails."""
        with at_slot(setup, "arenas"):
            found = chosen(setup)
        check_warps(setup)
        wanted = setup.workload.mallocs(setup.machine, Streams(seed))
        columns_of(wanted, rules_of(setup, found, False))


def _logged(run: Run) -> tuple[int, int]:
    counters = run.state.counters
    return int(counters[TAKEN]), int(counters[REFUSALS])


def _play(setup: Setup, found: Chosen, seed: int, checked: bool, taken: int = 0, refusals: int = 0) -> Run:
    streams = Streams(seed)
    wanted = setup.workload.mallocs(setup.machine, streams)
    any_frees = bool((wanted.free_at >= 0).any())
    rules = rules_of(setup, found, any_frees)
    columns = columns_of(wanted, rules)
    cuts = _cut(found, rules, columns, streams, checked)
    arena = arena_of(setup, found, rules, streams)
    before = occupied_bytes(rules, arena)
    state = _fresh(rules, columns, cuts, taken, refusals)
    state.counters[GENERATOR] = max(streams.integer("lock"), 1)
    simulate(rules, columns, cuts, arena, policies_of(found, rules, checked), state)
    if state.counters[STATUS] != FINE:
        raise _broken_heap(found, rules, state)
    return Run(rules, columns, cuts, arena, before, state)


def _cut(found: Chosen, rules: Rules, columns: Columns, streams: Streams, checked: bool) -> Cuts:
    """Put every call to the policy that serves; the columns of requests are as long as there are requests."""
    rows = len(columns.arrival)
    request, offset, size, total = (np.zeros(rows, np.int64) for _ in range(4))
    order, first, leader = (np.zeros(rows + 1, np.int32) for _ in range(3))
    cuts = Cuts(request, offset, size, order, first, leader, total)
    counters = np.zeros(COUNTERS, np.int64)
    ready = found.serve.ready(streams.integer("serve"), checked)
    cut(columns, rules.unit, ready, cuts, np.zeros((4, rules.unit + 1), np.int64), counters)
    if counters[STATUS] != FINE:
        raise _broken_serve(found, columns, counters)
    requests = int(counters[REQUESTS])
    nothing = cuts.request < 0
    if nothing.any():
        cuts.size[nothing] = cuts.offset[nothing] = 0
    return cuts._replace(first=cuts.first[: requests + 1], leader=cuts.leader[:requests], total=cuts.total[:requests])


def _fresh(rules: Rules, columns: Columns, cuts: Cuts, taken: int, refusals: int) -> State:
    rows, requests = len(columns.arrival), len(cuts.leader)
    blocks = blocks_at_most(rules, rows, requests)
    arena_frees = rules.any_frees and rules.frees == ARENA
    warps = int(columns.warp.max(initial=-1)) + 1 if arena_frees else 0
    scheduled = (warps if arena_frees else blocks) if rules.any_frees else 0
    state = new_state(rows, requests, blocks, rules.arenas, scheduled, warps, taken, refusals)
    state.counters[REQUESTS] = requests
    if arena_frees:
        state.left[:] = np.bincount(columns.warp[cuts.request >= 0], minlength=warps)
    return state


def _broken_serve(found: Chosen, columns: Columns, counters: np.ndarray) -> PolicyError:
    row = int(counters[AT_REQUEST])
    about = f"the call of thread {columns.thread[row]} and its warp at cycle {columns.arrival[row]}"
    if counters[STATUS] == RAISED_IN:
        return PolicyError(f"{found.serve.short()} {_cause()} when asked about {about}.")
    return PolicyError(
        f"{found.serve.short()} answered {counters[ANSWER]} for {about}: parts, offsets, sizes and leaders must be of "
        "the lanes that call, sizes and offsets at least 0."
    )


def _broken_heap(found: Chosen, rules: Rules, state: State) -> PolicyError:
    status, cycle, at, answer = (int(state.counters[k]) for k in (STATUS, AT_CYCLE, AT_REQUEST, ANSWER))
    name = found.heap.short()
    if status == NOT_FREE:
        what = f"answered {answer}, which is not the start of a free range of {rules.region} granules"
        return PolicyError(f"{name} {what}, in arena {at} at cycle {cycle}. -1 says that a request does not fit.")
    return PolicyError(f"{name} {_cause()} when asked about {answer} granules in arena {at} at cycle {cycle}.")


def _cause() -> str:
    return f"did not end within {MOST_TURNS:,} loop turns" if ran_out() else "raised an exception"


def _record(setup: Setup, found: Chosen, run: Run) -> MallocRecord:
    rules, columns, cuts, state = run.rules, run.columns, run.cuts, run.state
    options: Any = setup.options
    blocks = int(state.counters[BLOCKS])
    steps = found.serve.scan_steps() + found.serve.barrier_steps()
    return MallocRecord(
        unit=rules.unit,
        granule_bytes=rules.granule,
        heap_bytes=rules.region * rules.arenas * rules.granule,
        base_address=options.base_address,
        header_bytes=rules.header,
        occupied_bytes=run.occupied,
        work=Work(
            options.try_instructions,
            options.heap_instructions,
            options.step_instructions * steps,
            options.split_instructions * int(found.serve.divides()),
        ),
        arrival=columns.arrival,
        thread=columns.thread,
        asked=columns.asked,
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
        acquisitions=int(state.counters[ACQUISITIONS]),
        tried_in_vain=int(state.counters[FAILURES]),
        locked=rules.lock != NO_LOCK,
        heap_atomics=int(state.counters[ATOMICS]),
        rereads=int(state.counters[REREADS]),
        words=int(state.counters[WORDS]),
        taken_log=state.taken_log,
        refusals=state.refusals,
    )
