"""The shared TLB, the queue behind it, the walkers and their cache of upper levels (spec 4, R9, R10, T5-T7)."""

from __future__ import annotations

from typing import Any

import numpy as np

from workbench.compiled import apart, inlined, kernel
from workbench.engines.translation.counters import COUNT
from workbench.engines.translation.far_filling import fill_shared, first_shared_set, shared_set
from workbench.engines.translation.filling import UNUSED, tell_use
from workbench.engines.translation.finding import NOWHERE, find
from workbench.engines.translation.ports import port_cycle
from workbench.engines.translation.reporting import window
from workbench.engines.translation.scheduling import ANSWERS, ENDS, KIND, REQUESTS, schedule_miss
from workbench.engines.translation.shape import LEVEL_BITS, to_int64
from workbench.engines.translation.state import MISS, Run
from workbench.engines.translation.under_way import OF
from workbench.records.translation import OVER_TIME, SERVED_BY
from workbench.structures.entry_sets import NONE, OLDEST, PAGE, ROW, insert, remove, take_free, touch
from workbench.structures.key_index import look_up, put_key, take_key

ONLY_SET: Any = np.int64(0)
NO_WALK: Any = np.int32(-1)
SHARED = SERVED_BY.index("shared")
WALK = SERVED_BY.index("walk")
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


@apart
def shared_looks_up(run: Run, miss: int, now: int) -> None:
    """Look a page up in the shared TLB; a request that it cannot answer is at the walkers when that is known (T5)."""
    at = now + run.rules.shared_cycles
    if not _shared_answers(run, miss, at, now):
        schedule_miss(run, at, now, KIND.walkers, REQUESTS, miss)


@inlined
def _shared_answers(run: Run, miss: int, at: int, now: int) -> bool:
    """Return whether the shared TLB holds the page of a miss, which it then answers at a cycle."""
    state, row = run.state, miss * MISS
    entry = find(run, run.rules.tlbs - 1, state.misses[row + OF.page])
    if entry == NOWHERE:
        return False
    at_set = shared_set(run, state.misses[row + OF.key])
    touch(state.tlbs, at_set, entry)
    tell_use(run, run.policies.shared_eviction, entry, at_set, first_shared_set(run), UNUSED, now)
    state.misses[row + OF.source] = SHARED
    schedule_miss(run, at, now, KIND.answer, ANSWERS, miss)
    return True


@apart
def request_at_walkers(run: Run, miss: int, now: int) -> None:
    """Let a request join the walk of its page, take a free walker, wait in the queue, or for a place in it (T5, T6)."""
    state = run.state
    counters = state.counters
    state.misses[miss * MISS + OF.queued] = now
    if _joins(run, miss):
        return
    if counters[COUNT.walkers_free] > 0:
        _start_walk(run, miss, now)
    elif run.rules.walk_queue == 0 or counters[COUNT.queue_length] < run.rules.walk_queue:
        _enter_queue(run, miss)
    else:
        last = counters[COUNT.backlog_tail]
        _link(run, COUNT.backlog_head, last, miss)
        counters[COUNT.backlog_tail] = miss


@inlined
def _joins(run: Run, miss: int) -> bool:
    """Return whether a walk of the page waits or is under way, which the request then waits for."""
    state, row = run.state, miss * MISS
    opener = to_int64(state.walking[state.misses[row + OF.page]])
    if opener == NONE:
        return False
    at = opener * MISS
    last = state.misses[at + OF.last]
    state.misses[(opener if last == NONE else last) * MISS + OF.next] = miss
    state.misses[at + OF.last] = miss
    state.counters[COUNT.walks_joined] += 1
    return True


@kernel
def _link(run: Run, head: int, last: int, miss: int) -> None:
    """Put a request at the end of a queue whose last is given."""
    if last == NONE:
        run.state.counters[head] = miss
    else:
        run.state.misses[last * MISS + OF.behind] = miss
    run.state.misses[miss * MISS + OF.behind] = NONE


@inlined
def _enter_queue(run: Run, miss: int) -> None:
    counters = run.state.counters
    _link(run, COUNT.queue_head, counters[COUNT.queue_tail], miss)
    counters[COUNT.queue_tail] = miss
    counters[COUNT.queue_length] += 1
    run.state.walking[run.state.misses[miss * MISS + OF.page]] = np.int32(miss)


@apart
def _start_walk(run: Run, miss: int, now: int) -> None:
    """Let a free walker walk for a request, and whoever joins it."""
    rules, state, row = run.rules, run.state, miss * MISS
    counters, levels = state.counters, _levels_to_read(run, state.misses[row + OF.name])
    waited = now - state.misses[row + OF.queued]
    counters[COUNT.walkers_free] -= 1
    counters[COUNT.walks] += 1
    counters[COUNT.walk_levels] += levels
    counters[COUNT.walk_queued] += waited
    _count_wait(run, miss, now)
    state.over_time[window(run, now) + QUEUED_COLUMN] += waited
    if not state.misses[row + OF.walk_dead]:
        state.walking[state.misses[row + OF.page]] = np.int32(miss)
    schedule_miss(run, now + levels * rules.level_cycles, now, KIND.walk_ends, ENDS, miss)


@kernel
def _count_wait(run: Run, miss: int, now: int) -> None:
    """Count what each request that a walk serves has waited for its start; who joins it later waits for none of it."""
    misses = run.state.misses
    while miss != NONE:
        run.state.counters[COUNT.queued_latency] += now - misses[miss * MISS + OF.queued]
        miss = misses[miss * MISS + OF.next]


@apart
def walk_ends(run: Run, miss: int, now: int) -> None:
    """Make the shared entry, answer all that joined, and let the walker take the head of the queue (T6, T7)."""
    state, row = run.state, miss * MISS
    page, key = state.misses[row + OF.page], state.misses[row + OF.key]
    if not state.misses[row + OF.walk_dead]:
        state.walking[page] = NO_WALK
        fill_shared(run, page, key, state.misses[row + OF.ordinal], now)
    if run.rules.walk_cache:
        _keep_levels(run, state.misses[row + OF.name])
    _answer_all(run, miss, now)
    state.counters[COUNT.walkers_free] += 1
    if state.counters[COUNT.queue_length] > 0:
        _take_head(run, now)


@inlined
def _answer_all(run: Run, miss: int, now: int) -> None:
    misses = run.state.misses
    while miss != NONE:
        misses[miss * MISS + OF.source] = WALK
        schedule_miss(run, now, now, KIND.answer, ANSWERS, miss)
        miss = misses[miss * MISS + OF.next]


@apart
def _take_head(run: Run, now: int) -> None:
    """Start the walk at the head of the queue; who waits for its place tries again, in order, while there is one."""
    state, counters = run.state, run.state.counters
    miss = counters[COUNT.queue_head]
    counters[COUNT.queue_head] = state.misses[miss * MISS + OF.behind]
    counters[COUNT.queue_length] -= 1
    if counters[COUNT.queue_head] == NONE:
        counters[COUNT.queue_tail] = NONE
    _start_walk(run, miss, now)
    while counters[COUNT.backlog_head] != NONE and counters[COUNT.queue_length] < run.rules.walk_queue:
        _try_again(run, now)


@inlined
def _try_again(run: Run, now: int) -> None:
    """Let the first request that waits for a place look into the shared TLB, join a walk, or take the place."""
    counters = run.state.counters
    miss = counters[COUNT.backlog_head]
    counters[COUNT.backlog_head] = run.state.misses[miss * MISS + OF.behind]
    if counters[COUNT.backlog_head] == NONE:
        counters[COUNT.backlog_tail] = NONE
    if run.rules.shared_entries > 0 and _shared_answers(run, miss, now, now):
        return
    if not _joins(run, miss):
        _enter_queue(run, miss)


@apart
def kill_walk(run: Run, page: int) -> None:
    """Mark the walk of a page that is unmapped: it answers those that joined, fills nothing, and nobody joins it."""
    state = run.state
    opener = to_int64(state.walking[page])
    if opener != NONE:
        state.misses[opener * MISS + OF.walk_dead] = 1
        state.walking[page] = NO_WALK


@kernel
def _levels_to_read(run: Run, name: int) -> int:
    """Return the levels of the page table that a walk reads."""
    return _levels_uncached(run, name) if run.rules.walk_cache else run.rules.levels


@apart
def _levels_uncached(run: Run, name: int) -> int:
    """Return the levels that the page-walk cache does not save."""
    for upper in range(1, run.rules.levels):
        if look_up(run.state.walk_index, ONLY_SET, _upper_key(name, upper)) != NONE:
            return upper
    return run.rules.levels


@apart
def _keep_levels(run: Run, name: int) -> None:
    """Keep the upper levels of a walk that has ended, the highest first."""
    for kept in range(run.rules.levels - 1, 0, -1):
        _keep_upper(run, _upper_key(name, kept))


@kernel
def _upper_key(name: int, level: int) -> int:
    """An upper level of the page table, as the cache knows it: the part of the page's name, and the level."""
    return (name >> (LEVEL_BITS * level)) * 4 + level


@apart
def _keep_upper(run: Run, key: int) -> None:
    table, index = run.state.walk_cache, run.state.walk_index
    entry = look_up(index, ONLY_SET, key)
    if entry != NONE:
        touch(table, ONLY_SET, entry)
        return
    entry = take_free(table, ONLY_SET)
    if entry == NONE:
        entry = table.sets[OLDEST]
        take_key(index, ONLY_SET, table.entries[entry * ROW + PAGE])
        remove(table, ONLY_SET, entry)
        entry = take_free(table, ONLY_SET)
    insert(table, ONLY_SET, entry, key, ONLY_SET, NONE)
    put_key(index, ONLY_SET, key, entry)
