"""The line in front of each arena's lock: who comes, who is next, how often was tried in vain (spec 2, R15, R21)."""

from __future__ import annotations

from typing import Any

import numpy as np

from workbench.compiled import kernel
from workbench.engines.kit.order import RANK, moment
from workbench.engines.malloc.state import COUNT, NONE, Rules, State
from workbench.policies.malloc.lock import BACK_OFF, NO_LOCK
from workbench.structures.rng import below
from workbench.structures.timetable import set_time

ENDS, COMES, STARTS = RANK.malloc_answers, RANK.malloc_requests, RANK.services
"""Ranks of a cycle: sections end, requests come, sections start."""


@kernel
def come(rules: Rules, state: State, request: int, at: int, now: int) -> None:
    """Let a request join the line of an arena; while the lock is held its first try is in vain.

    Without a lock that try is an atomic operation on the heap itself (spec 2, E11).
    """
    state.behind[request] = NONE
    state.entered[request] = now
    if state.waiting[at] == 0:
        state.head[at] = request
    else:
        state.behind[state.tail[at]] = np.int32(request)
    state.tail[at] = request
    state.waiting[at] += 1
    if state.busy[at]:
        if rules.retries and rules.lock != BACK_OFF:
            state.counters[COUNT.failures] += 1
            if rules.lock == NO_LOCK:
                state.counters[COUNT.atomics] += 1
        return
    planned = state.next_event[state.next_event.size // 2 + at]
    idle = state.waiting[at] == 1
    if (idle or rules.lock == BACK_OFF) and planned > moment(now, STARTS):
        set_time(state.next_event, at, moment(now, STARTS))


@kernel
def leave_line(state: State, at: int, before: int, request: int) -> None:
    """Move a request from the line to the critical section."""
    after = state.behind[request]
    if before == NONE:
        state.head[at] = after
    else:
        state.behind[before] = after
    if after == NONE:
        state.tail[at] = before
    state.waiting[at] -= 1


@kernel
def next_in_line(rules: Rules, state: State, at: int) -> int:
    """Take the longest waiting, or one of several, out of the line; those who compete with it try in vain."""
    before, request = NONE, state.head[at]
    if rules.among > 1:
        for _ in range(below(state.counters, COUNT.generator, min(rules.among, state.waiting[at]))):
            before, request = request, np.int64(state.behind[request])
    leave_line(state, at, before, request)
    if rules.retries:
        state.counters[COUNT.failures] += state.waiting[at]
    return request


@kernel
def soonest_try(rules: Rules, state: State, at: int, now: int) -> tuple[int, int, int]:
    """Return, of those who back off, the cycle of the first try from now on, who tries, and the request before it in
    line."""
    nobody: Any = np.int64(NONE)  # of a plain -1 Numba would compile everything once more
    soonest, winner, before, previous = nobody, nobody, nobody, nobody
    request = state.head[at]
    while request != NONE:
        cycle, _ = next_try(rules, now - state.entered[request])
        cycle += state.entered[request]
        if winner == NONE or cycle < soonest:
            soonest, winner, before = cycle, request, previous
        previous, request = request, np.int64(state.behind[request])
    return soonest, winner, before


@kernel
def next_try(rules: Rules, waited: int) -> tuple[int, int]:
    """Return the first try that is not before so many cycles of waiting, and how many tries come before it.

    Tries come at 0, f, 3 f, 7 f, ... cycles until they are `most_back_off` apart, and at that distance from then on.
    """
    cycle, gap, tries = 0, rules.first_back_off, 0
    while cycle < waited and gap < rules.most_back_off:
        cycle, gap, tries = cycle + gap, min(2 * gap, rules.most_back_off), tries + 1
    while cycle < waited and not rules.skips:
        cycle, tries = cycle + gap, tries + 1
    if cycle < waited:
        further = (waited - cycle + gap - 1) // gap
        cycle, tries = cycle + further * gap, tries + further
    return cycle, tries
