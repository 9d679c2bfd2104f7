"""The compiled loop of the engine `shared_memory`: one compute unit, one allocator, one queue.

Cycles in which nothing can change are skipped. At a cycle, in this order (the other way round when grants go first):
releases that are due, then attempts of the allocator on the head of the queue and the workgroups within its look-ahead.
A refused head is asked about again at the first due retry after something happened that could help it. While
compaction moves ranges, there are no attempts.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

import numpy as np

from workbench.compiled import NO_ANSWER, RAISED, inlined, kernel
from workbench.engines.kit import FINE, STOP, column, fail, log, made, numbered, raised, wrong
from workbench.policies.placement.question import PLACE, TOLD, ReadyPlacement
from workbench.policies.placement.view import REFUSED, PlacementNotice, PlacementView
from workbench.structures.bitmaps import all_free, is_free, mark_free, mark_taken, next_free
from workbench.structures.timetable import NEVER, Timetable, new_timetable, next_due, put, take

place = PLACE.ask
tell = TOLD.ask

CONTIGUOUS, SCATTERED, COMPACTING = 0, 1, 2
NOBODY = -1
NEEDS_ROOM = -2
"""An answer of the loop itself: fits once live ranges have been moved together."""


class Counters(NamedTuple):
    """Where a run stands, and what it has counted."""

    head: int
    """The row at the head of the queue."""
    free_segments: int
    grants: int
    attempts: int
    blocked: int
    """Cycles in which the head waited although enough segments were free in total."""
    moves: int
    refusals: int
    busy_until: int
    """The cycle until which ranges are moved."""
    refused_at: int
    """One more than the cycle of the last refusal that was kept."""
    tried: int
    """The cycle of the last attempt."""
    waits: int
    """Whether the last attempt refused the head of the queue."""


class Faults(NamedTuple):
    """What stops a run."""

    none: int
    not_free: int = wrong("placement")
    placement_raised: int = raised("placement")
    starved: int = wrong("placement", "refuses for ever: nothing is left that could be released", starved=True)


COUNT, FAULT = numbered(Counters, after=STOP), numbered(Faults)


class Jobs(NamedTuple):
    """The queue: one row a workgroup, ordered by arrival."""

    arrival: np.ndarray
    length: np.ndarray
    duration: np.ndarray


class Rules(NamedTuple):
    """The engine's levers as whole numbers."""

    segments: int
    look_ahead: int
    retry_cycles: int
    """Cycles between two tries of a refused head; 0 = only when something is released."""
    release_first: int
    grants_a_cycle: int
    latency_cycles: int
    layout: int
    cycles_per_moved_segment: int
    skips: int = 1
    """0 where every try is made, those in vain included, so that tests may see what skipping changes: nothing."""


class State(NamedTuple):
    """What changes during a run."""

    free: np.ndarray
    """uint64[words], the free map."""
    due: Timetable
    """The releases to come; each entry carries the row of its workgroup."""
    after: np.ndarray
    """int32[workgroups], the row behind each in the queue."""
    counters: np.ndarray = column(np.int64, len(STOP) + len(COUNT))
    grant: np.ndarray = column(np.int64, "workgroups", fill=-1)
    """The cycle at which the allocator granted each."""
    start: np.ndarray = column(np.int64, "workgroups", fill=-1)
    """The cycle at which each began to run."""
    base: np.ndarray = column(np.int32, "workgroups", fill=-1)
    """The first segment of each grant."""
    serial: np.ndarray = column(np.int32, "workgroups", fill=-1)
    """The place of each grant in the order of all grants."""
    refused: np.ndarray = column(np.bool_, "workgroups")
    """Whether each was ever refused."""
    owner: np.ndarray = column(np.int32, "segments", fill=NOBODY)
    """The row that holds each segment; kept for layouts that are not contiguous."""
    moves: np.ndarray = log("moves", 5, kept="always")
    """Cycle, row, old start, new start, the row for which space was made."""
    refusals: np.ndarray = log("refusals", 3)
    """Cycle, row, free segments."""


class Play(NamedTuple):
    """The arguments of the loop."""

    jobs: Jobs
    rules: Rules
    policy: ReadyPlacement
    state: State


def new_state(jobs: Jobs, rules: Rules, room: Mapping[str, int]) -> State:
    """Return an empty memory and a full queue."""
    workgroups = jobs.arrival.size
    state = made(
        State,
        {"workgroups": workgroups, "segments": rules.segments, **room},
        free=all_free(rules.segments),
        # A workgroup that runs holds a segment at least.
        due=new_timetable(rules.segments + 1),
        after=np.arange(1, workgroups + 1, dtype=np.int32),
    )
    state.counters[COUNT.free_segments], state.counters[COUNT.tried] = rules.segments, -1
    return state


@kernel
def drain_queue(jobs: Jobs, rules: Rules, policy: ReadyPlacement, state: State) -> None:
    """Serve the queue until nothing is left to come, or the policy breaks its contract."""
    now, attempt = 0, jobs.arrival[0] if jobs.arrival.size else NEVER
    while state.counters[STOP.fault] == FINE:
        due = next_due(state.due)
        releases = due < attempt or (due == attempt and rules.release_first != 0)
        comes = due if releases else attempt
        if comes == NEVER:
            break
        _count_blocked(jobs, state, now, comes)
        now = comes
        if releases:
            _give_back(jobs, rules, policy, state, take(state.due, now), now)
        else:
            attempt = _attempt(jobs, rules, policy, state, now)


@kernel
def _give_back(jobs: Jobs, rules: Rules, policy: ReadyPlacement, state: State, row: int, now: int) -> None:
    length = jobs.length[row]
    start = int(state.base[row])
    state.counters[COUNT.free_segments] += length
    if rules.layout == CONTIGUOUS:
        mark_free(state.free, start, length)
    else:
        start = _give_back_owned(rules, state, row)
    if policy.released != NO_ANSWER:
        status = tell(
            policy.released, PlacementNotice(state.free, rules.segments, start, length, policy.params, policy.memory)
        )
        if status == RAISED:
            fail(state.counters, FAULT.placement_raised, now, row, RAISED)


@inlined
def _attempt(jobs: Jobs, rules: Rules, policy: ReadyPlacement, state: State, now: int) -> int:
    """Try the queue, count the attempts that had no chance since the last one, and return the cycle of the next."""
    counters = state.counters
    if counters[COUNT.waits] and rules.retry_cycles > 0:
        missed = now - counters[COUNT.tried]
        # Nothing that could help came since the last try: those in between count as refused without being made.
        counters[COUNT.attempts] += (missed if rules.retry_cycles == 1 else missed // rules.retry_cycles) - 1
    counters[COUNT.attempts] += 1
    counters[COUNT.tried] = now
    counters[COUNT.waits] = int(_refuses(jobs, rules, policy, state, now))
    return _next_attempt(jobs, rules, state, now)


@kernel
def _refuses(jobs: Jobs, rules: Rules, policy: ReadyPlacement, state: State, now: int) -> bool:
    """Grant up to the cycle's quota; True when the queue's head was refused."""
    counters = state.counters
    for _ in range(rules.grants_a_cycle):
        if counters[COUNT.head] >= jobs.arrival.size or jobs.arrival[counters[COUNT.head]] > now:
            return False
        if not _grant_one(jobs, rules, policy, state, now):
            return True
        # While ranges move, the allocator does nothing else: the rest of the quota is lost.
        if counters[COUNT.busy_until] > now:
            return False
    return False


@kernel
def _grant_one(jobs: Jobs, rules: Rules, policy: ReadyPlacement, state: State, now: int) -> bool:
    """Grant the first workgroup within the look-ahead that fits; False when none does."""
    before, row = NOBODY, state.counters[COUNT.head]
    for _ in range(rules.look_ahead + 1):
        if row >= jobs.arrival.size or jobs.arrival[row] > now:
            return False
        answer = _ask(jobs, rules, policy, state, row, now)
        if answer != REFUSED:
            _take_off_queue(state, before, row)
            _book(jobs, rules, policy, state, row, answer, now)
            return True
        state.refused[row] = True
        if before == NOBODY:
            _log_refusal(state, now)
        before, row = row, int(state.after[row])
    return False


@kernel
def _ask(jobs: Jobs, rules: Rules, policy: ReadyPlacement, state: State, row: int, now: int) -> int:
    """Return the policy's answer, checked against the one authoritative state.

    A policy is not asked when fewer segments are free in total than the request needs: no answer could be right.
    """
    length = jobs.length[row]
    if state.counters[COUNT.free_segments] < length:
        return REFUSED
    answer = place(policy.answer, PlacementView(state.free, rules.segments, length, policy.params, policy.memory))
    if answer == REFUSED:
        return NEEDS_ROOM if rules.layout == COMPACTING else REFUSED
    if answer == RAISED:
        fail(state.counters, FAULT.placement_raised, now, row, answer)
        return REFUSED
    if rules.layout == SCATTERED:
        fits = answer >= 0
    else:
        fits = 0 <= answer <= rules.segments - length and is_free(state.free, answer, length)
    if not fits:
        fail(state.counters, FAULT.not_free, now, row, answer)
        return REFUSED
    return answer


@kernel
def _take_off_queue(state: State, before: int, row: int) -> None:
    if before == NOBODY:
        state.counters[COUNT.head] = state.after[row]
    else:
        state.after[before] = state.after[row]


@kernel
def _book(jobs: Jobs, rules: Rules, policy: ReadyPlacement, state: State, row: int, answer: int, now: int) -> None:
    length, start = jobs.length[row], now + rules.latency_cycles
    if answer == NEEDS_ROOM:
        start += _compact(jobs, rules, state, now, row) * rules.cycles_per_moved_segment
        state.counters[COUNT.busy_until] = start - rules.latency_cycles
        # Compaction leaves one free run, behind all live ranges.
        answer = next_free(state.free, 0)
    if rules.layout == CONTIGUOUS:
        mark_taken(state.free, answer, length)
    else:
        answer = _take_owned(rules, state, row, answer, length)
    state.counters[COUNT.free_segments] -= length
    state.grant[row] = now
    state.start[row] = start
    state.base[row] = answer
    state.serial[row] = state.counters[COUNT.grants]
    state.counters[COUNT.grants] += 1
    put(state.due, start + jobs.duration[row], row)
    if policy.granted != NO_ANSWER:
        status = tell(
            policy.granted, PlacementNotice(state.free, rules.segments, answer, length, policy.params, policy.memory)
        )
        if status == RAISED:
            fail(state.counters, FAULT.placement_raised, now, row, RAISED)


@kernel
def _next_attempt(jobs: Jobs, rules: Rules, state: State, now: int) -> int:
    counters = state.counters
    head = counters[COUNT.head]
    if head >= jobs.arrival.size:
        return NEVER
    if not counters[COUNT.waits]:
        return max(now + 1, jobs.arrival[head], counters[COUNT.busy_until])
    helped = next_due(state.due)
    if not rules.release_first and helped != NEVER:
        # Grants go first in a cycle, so a release helps those of the next one.
        helped += 1
    # An arrival cannot help the head, but a workgroup that enters the look-ahead may be granted.
    if rules.retry_cycles > 0 and rules.look_ahead > 0:
        helped = min(helped, _next_candidate(jobs, rules, state, now))
    if helped != NEVER:
        return _next_try(rules, counters, helped if rules.skips or rules.retry_cycles == 0 else now + 1)
    fail(counters, FAULT.starved, now, head, REFUSED)
    return NEVER


@kernel
def _next_try(rules: Rules, counters: np.ndarray, helped: int) -> int:
    """Return the first try of a refused head after the last one that is not before a cycle."""
    tried = counters[COUNT.tried]
    if rules.retry_cycles <= 1:
        return max(helped, tried + 1)
    tries = max((helped - tried + rules.retry_cycles - 1) // rules.retry_cycles, 1)
    return tried + tries * rules.retry_cycles


@kernel
def _next_candidate(jobs: Jobs, rules: Rules, state: State, now: int) -> int:
    """Return the cycle at which the next workgroup enters the look-ahead, NEVER when the look-ahead is full or no more
    will come."""
    row = state.counters[COUNT.head]
    for _ in range(rules.look_ahead + 1):
        if row >= jobs.arrival.size:
            return NEVER
        if jobs.arrival[row] > now:
            return jobs.arrival[row]
        row = int(state.after[row])
    return NEVER


@kernel
def _count_blocked(jobs: Jobs, state: State, now: int, following: int) -> None:
    """Count the cycles in which the head waits, refused before, although enough segments are free in total."""
    head = state.counters[COUNT.head]
    if head >= jobs.arrival.size or not state.refused[head]:
        return
    if state.counters[COUNT.free_segments] >= jobs.length[head]:
        state.counters[COUNT.blocked] += following - now


@kernel
def _log_refusal(state: State, now: int) -> None:
    """Keep that the head was refused, once a cycle however many grants behind it the cycle has."""
    if state.counters[COUNT.refused_at] == now + 1:
        return
    state.counters[COUNT.refused_at] = now + 1
    at = state.counters[COUNT.refusals]
    if at < state.refusals.shape[0]:
        state.refusals[at, 0] = now
        state.refusals[at, 1] = state.counters[COUNT.head]
        state.refusals[at, 2] = state.counters[COUNT.free_segments]
    state.counters[COUNT.refusals] += 1


@kernel
def _take_owned(rules: Rules, state: State, row: int, answer: int, length: int) -> int:
    """Take segments one by one: from the answer on, or the lowest free ones when scattered. Return the first."""
    first = segment = answer if rules.layout == COMPACTING else next_free(state.free, 0)
    for _ in range(length):
        mark_taken(state.free, segment, 1)
        state.owner[segment] = row
        segment = next_free(state.free, segment)
    return first


@kernel
def _give_back_owned(rules: Rules, state: State, row: int) -> int:
    first = NOBODY
    for segment in range(rules.segments):
        if state.owner[segment] == row:
            first = segment if first == NOBODY else first
            state.owner[segment] = NOBODY
            mark_free(state.free, segment, 1)
    return first


@kernel
def _compact(jobs: Jobs, rules: Rules, state: State, now: int, for_row: int) -> int:
    """Move every live range down as far as it goes, in address order; return how many segments were copied."""
    copied = to = segment = 0
    while segment < rules.segments:
        row = state.owner[segment]
        if row == NOBODY:
            segment += 1
            continue
        length = jobs.length[row]
        if segment != to:
            _move(state, now, row, segment, to, length, for_row)
            copied += length
        to += length
        segment += length
    return copied


@kernel
def _move(state: State, now: int, row: int, old: int, new: int, length: int, for_row: int) -> None:
    mark_free(state.free, old, length)
    mark_taken(state.free, new, length)
    for k in range(length):
        state.owner[old + k] = NOBODY
    # In this order, for the old and the new range may overlap.
    for k in range(length):
        state.owner[new + k] = row
    at = state.counters[COUNT.moves]
    if at < state.moves.shape[0]:
        log = state.moves[at]
        log[0], log[1], log[2], log[3], log[4] = now, row, old, new, for_row
    state.counters[COUNT.moves] += 1
