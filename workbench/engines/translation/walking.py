"""The shared TLB, the queue behind it, the walkers and their cache of upper levels (spec 4, R9, R10, T5-T7)."""

from __future__ import annotations

from typing import Any

import numpy as np

from workbench.compiled import inlined, kernel, noinline
from workbench.engines.translation.answering import answer_arrives
from workbench.engines.translation.bypassing import is_missed
from workbench.engines.translation.counters import COUNT
from workbench.engines.translation.far_filling import fill_shared, first_shared_set, shared_set
from workbench.engines.translation.filling import UNUSED, tell_use
from workbench.engines.translation.finding import NOWHERE, find
from workbench.engines.translation.ports import port_cycle
from workbench.engines.translation.reporting import window
from workbench.engines.translation.room import has_room
from workbench.engines.translation.scheduling import ANSWERS, ENDS, KIND, REQUESTS, next_cycle, schedule_miss
from workbench.engines.translation.shape import to_int64
from workbench.engines.translation.state import MISS, Run
from workbench.engines.translation.telling import SAYS, tell_row, waits_for_bytes
from workbench.engines.translation.under_way import OF
from workbench.engines.translation.walk_cache import keep_levels, levels_to_read
from workbench.engines.translation.walk_queue import first_like, link_last, take_from_queue
from workbench.records.translation import OVER_TIME, SERVED_BY
from workbench.structures.set_assoc import NONE, touch

FIRST_OF_BATCH: Any = np.int64(1)
IN_SOFTWARE: Any = np.int64(0)
"""Instead of a number in a batch: a core walks."""
NO_WALK: Any = np.int32(-1)
SHARED: Any = np.int64(SERVED_BY.index("shared"))
WALK: Any = np.int64(SERVED_BY.index("walk"))
QUEUED_COLUMN = OVER_TIME.index("walk_queue_cycles")


@inlined
def request_at_shared(run: Run, miss: int, now: int) -> None:
    """Let a request at the shared TLB wait for a port of its bank."""
    rules, state = run.rules, run.state
    state.counters[COUNT.shared_accesses] += 1
    bank = state.misses[miss * MISS + OF.key] & (rules.banks - 1)
    start = port_cycle(state.banks, bank, rules.bank_ports, now)
    if start > now:
        schedule_miss(run, start, now, KIND.shared_port, REQUESTS, miss)
    else:
        shared_looks_up(run, miss, now)


@noinline
def shared_looks_up(run: Run, miss: int, now: int) -> None:
    """Look a page up in the shared TLB; a request that it cannot answer is at the walkers when that is known (T5)."""
    at = now + run.rules.shared_cycles
    answers = _shared_answers(run, miss, at, now)
    tell_row(run, miss, SAYS.shared, 1 if answers else 0, now)
    if not answers:
        schedule_miss(run, at, now, KIND.walkers, REQUESTS, miss)


@inlined
def _shared_answers(run: Run, miss: int, at: int, now: int) -> bool:
    """Return whether the shared TLB holds the page of a miss, which it then answers at a cycle."""
    state, row = run.state, miss * MISS
    entry = find(run, run.rules.tlbs - 1, state.misses[row + OF.page])
    if entry == NOWHERE:
        if run.rules.dead_threshold:
            is_missed(run, state.misses[row + OF.key])
        return False
    if run.rules.dead_threshold:
        state.entry_used[entry] = 1
    at_set = shared_set(run, state.misses[row + OF.key])
    touch(state.tlbs, at_set, entry)
    tell_use(run, run.policies.shared_eviction, entry, at_set, first_shared_set(run), UNUSED, now)
    state.misses[row + OF.source] = SHARED
    schedule_miss(run, at, now, KIND.answer, ANSWERS, miss)
    return True


@noinline
def request_at_walkers(run: Run, miss: int, now: int) -> None:
    """Let a request join the walk of its page, take a free walker, wait in the queue, or for a place in it (T5, T6)."""
    state = run.state
    counters = state.counters
    state.misses[miss * MISS + OF.queued] = now
    tell_row(run, miss, SAYS.walk_request, NONE, now)
    if _joins(run, miss, now):
        return
    if counters[COUNT.walkers_free] > 0:
        counters[COUNT.walkers_free] -= 1
        _note_walk(run, miss)
        _start_walk(run, miss, FIRST_OF_BATCH, now)
    elif run.rules.software_walks and _core_walks(run, miss, now):
        return
    elif run.rules.walk_queue == 0 or counters[COUNT.queue_length] < run.rules.walk_queue:
        _enter_queue(run, miss)
    else:
        last = counters[COUNT.backlog_tail]
        link_last(run, COUNT.backlog_head, last, miss)
        counters[COUNT.backlog_tail] = miss


@inlined
def _joins(run: Run, miss: int, now: int) -> bool:
    """Return whether a walk of the page waits or is under way, which the request then waits for."""
    state, row = run.state, miss * MISS
    if state.misses[row + OF.dead]:
        opener = _opener_as_dead(run, miss)
    else:
        opener = to_int64(state.walking[state.misses[row + OF.page]])
    if opener == NONE:
        return False
    at = opener * MISS
    state.misses[state.misses[at + OF.last] * MISS + OF.next] = miss
    state.misses[at + OF.last] = miss
    state.counters[COUNT.walks_joined] += 1
    if state.misses[at + OF.begun] != NONE:
        state.misses[row + OF.begun] = now
        state.counters[COUNT.queued_latency] += now - state.misses[row + OF.queued]
    return True


@noinline
def _opener_as_dead(run: Run, miss: int) -> int:
    """Return who opened a walk of a page before the same unmapping as a miss, or -1: that walk fills nothing either."""
    rules, misses, row = run.rules, run.state.misses, miss * MISS
    if not rules.merges:
        return NONE
    for core in range(rules.cores):
        first = core * rules.mshrs
        for place in range(first, first + run.state.in_use[core]):
            other = run.state.active[place]
            at = other * MISS
            same = misses[at + OF.page] == misses[row + OF.page] and misses[at + OF.dead] == misses[row + OF.dead]
            if same and misses[at + OF.last] != NONE:
                return other
    return NONE


@kernel
def _enter_queue(run: Run, miss: int) -> None:
    counters = run.state.counters
    link_last(run, COUNT.queue_head, counters[COUNT.queue_tail], miss)
    counters[COUNT.queue_tail] = miss
    counters[COUNT.queue_length] += 1
    _note_walk(run, miss)


@kernel
def _note_walk(run: Run, miss: int) -> None:
    """Note that a request has a walk that waits or is under way, for others to join."""
    misses, row = run.state.misses, miss * MISS
    misses[row + OF.last] = miss
    if run.rules.merges and not misses[row + OF.dead]:
        run.state.walking[misses[row + OF.page]] = np.int32(miss)


@noinline
def _start_walk(run: Run, miss: int, number: int, now: int) -> None:
    """Walk for a request, and whoever joins it; `number` is that of its batch, or `IN_SOFTWARE`."""
    misses, row = run.state.misses, miss * MISS
    levels = levels_to_read(run, misses[row + OF.key], misses[row + OF.name])
    if number > FIRST_OF_BATCH:
        levels = min(levels, run.rules.batch_level)
    misses[row + OF.batch] = number
    _count_walk(run, miss, levels, now)
    cycles = _software_cycles(run, levels) if number == IN_SOFTWARE else levels * run.rules.level_cycles
    schedule_miss(run, now + cycles, now, KIND.walk_ends, ENDS, miss)


@noinline
def _software_cycles(run: Run, levels: int) -> int:
    """Count a walk of a core, and return how long it takes."""
    counters, rules = run.state.counters, run.rules
    counters[COUNT.software_begun] += 1
    counters[COUNT.software_levels] += levels
    return rules.software_start + levels * rules.software_level


@kernel
def _count_walk(run: Run, miss: int, levels: int, now: int) -> None:
    """Count a walk that starts, and what it has waited."""
    state = run.state
    counters, waited = state.counters, now - state.misses[miss * MISS + OF.queued]
    counters[COUNT.walks] += 1
    counters[COUNT.walk_levels] += levels
    counters[COUNT.walk_queued] += waited
    if run.rules.keeps_answers:
        tell_row(run, miss, SAYS.walk, NONE, now)
    _begin_for_all(run, miss, now)
    state.over_time[window(run, now) + QUEUED_COLUMN] += waited


@kernel
def _begin_for_all(run: Run, miss: int, now: int) -> None:
    """Note that a walk begins for each request that it serves so far, and count what each has waited since it came."""
    misses = run.state.misses
    while miss != NONE:
        misses[miss * MISS + OF.begun] = now
        run.state.counters[COUNT.queued_latency] += now - misses[miss * MISS + OF.queued]
        miss = misses[miss * MISS + OF.next]


@noinline
def walk_ends(run: Run, miss: int, now: int) -> None:
    """Make the shared entry, answer all that joined, and let whoever walked take the next walk (T6, T7).

    No entry is made where the page was unmapped since the walk was asked for, wherever the miss was by then (T12).
    """
    state, row = run.state, miss * MISS
    if run.rules.keeps_answers and waits_for_bytes(run, miss, now):
        return
    page, key = state.misses[row + OF.page], state.misses[row + OF.key]
    if state.misses[row + OF.dead]:
        state.misses[row + OF.last] = NONE
    else:
        state.walking[page] = NO_WALK
        fill_shared(run, page, key, state.misses[row + OF.ordinal], now)
    if run.rules.walk_cache:
        keep_levels(run, key, state.misses[row + OF.name])
    is_alone = state.misses[row + OF.next] == NONE
    if not is_alone:
        _answer_all(run, miss, now)
    if state.misses[row + OF.batch] == IN_SOFTWARE:
        _core_goes_on(run, miss, now)
    elif state.counters[COUNT.queue_length] > 0:
        _walker_goes_on(run, miss, now)
    else:
        state.counters[COUNT.walkers_free] += 1
    while _has_place(run):
        _try_again(run, now)
    if is_alone:
        _answer_one(run, miss, now)


@inlined
def _answer_one(run: Run, miss: int, now: int) -> None:
    """Answer the only request that a walk serves: at once, where nothing else happens at the cycle and nobody outside
    could ask for what precedes the answer."""
    run.state.misses[miss * MISS + OF.source] = WALK
    if next_cycle(run) > now and not run.rules.keeps_answers and has_room(run):
        answer_arrives(run, miss, now)
    else:
        schedule_miss(run, now, now, KIND.answer, ANSWERS, miss)


@kernel
def _has_place(run: Run) -> bool:
    """Return whether the first request that waits for a place in the queue has one, or a core that may walk for it."""
    counters, first = run.state.counters, run.state.counters[COUNT.backlog_head]
    if first == NONE:
        return False
    if counters[COUNT.queue_length] < run.rules.walk_queue:
        return True
    return bool(run.state.software_free[run.state.misses[first * MISS + OF.core]] > 0)


@inlined
def _answer_all(run: Run, miss: int, now: int) -> None:
    misses = run.state.misses
    while miss != NONE:
        misses[miss * MISS + OF.source] = WALK
        schedule_miss(run, now, now, KIND.answer, ANSWERS, miss)
        miss = misses[miss * MISS + OF.next]


@kernel
def _walker_goes_on(run: Run, ended: int, now: int) -> None:
    """Let a walker take the next walk of its batch, where one waits, or the head of the queue."""
    number = run.state.misses[ended * MISS + OF.batch]
    if number < run.rules.batch_most:
        before, miss = first_like(run, ended)
        if miss != NONE:
            take_from_queue(run, before, miss)
            _start_walk(run, miss, number + 1, now)
            return
    miss = run.state.counters[COUNT.queue_head]
    take_from_queue(run, NONE, miss)
    _start_walk(run, miss, FIRST_OF_BATCH, now)


@noinline
def _core_goes_on(run: Run, ended: int, now: int) -> None:
    """Let a core that has ended a walk take the next that its own requests opened, or walk one fewer."""
    before, miss = first_like(run, ended)
    if miss == NONE:
        run.state.software_free[run.state.misses[ended * MISS + OF.core]] += 1
    else:
        take_from_queue(run, before, miss)
        _start_walk(run, miss, IN_SOFTWARE, now)


@noinline
def _core_walks(run: Run, miss: int, now: int) -> bool:
    """Return whether the core of a request may walk for it, which it then does."""
    state, core = run.state, run.state.misses[miss * MISS + OF.core]
    if state.software_free[core] == 0:
        return False
    state.software_free[core] -= 1
    _note_walk(run, miss)
    _start_walk(run, miss, IN_SOFTWARE, now)
    return True


@noinline
def _try_again(run: Run, now: int) -> None:
    """Let the first request that waits for a place look into the shared TLB, join a walk, walk, or take the place."""
    counters = run.state.counters
    miss = counters[COUNT.backlog_head]
    counters[COUNT.backlog_head] = run.state.misses[miss * MISS + OF.behind]
    if counters[COUNT.backlog_head] == NONE:
        counters[COUNT.backlog_tail] = NONE
    if run.rules.shared_entries > 0 and _shared_answers(run, miss, now, now):
        run.state.misses[miss * MISS + OF.begun] = now
        return
    tell_row(run, miss, SAYS.walk_request, NONE, now)
    if _joins(run, miss, now) or (run.rules.software_walks and _core_walks(run, miss, now)):
        return
    _enter_queue(run, miss)


@kernel
def hide_walk(run: Run, page: int) -> None:
    """Let no access that comes after an unmapping join the walk of the page, which is dead with its opener."""
    run.state.walking[page] = NO_WALK
