"""The shared TLB, the queue behind it, the walkers and their cache of upper levels (spec 4, section 7, R9, R10, T5-T7).

Walks that wait are a list in the order of entry, from which any may be taken. Upper levels of the page table that the
page-walk cache holds are not read again.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from workbench.compiled import inlined, kernel, noinline
from workbench.engines.translation.answers import SAYS, has_room, tell_row, waits_for_bytes
from workbench.engines.translation.events import ANSWERS, ENDS, KIND, REQUESTS, next_cycle, schedule_miss
from workbench.engines.translation.fill import UNUSED, tell_use
from workbench.engines.translation.lookup import NOWHERE, port_cycle
from workbench.engines.translation.miss_answer import answer_arrives
from workbench.engines.translation.shared_fill import fill_shared, find_shared, first_shared_set, is_missed, shared_set
from workbench.engines.translation.state import COUNT, LARGE_BITS, LEVEL_BITS, MISS, OF, Run, to_int64
from workbench.engines.translation.statistics import window
from workbench.records.translation import OVER_TIME, SERVED_BY
from workbench.structures.key_index import look_up, put_key, take_key
from workbench.structures.set_assoc import NONE, OLDEST, PAGE, ROW, insert, remove, take_free, touch

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
    bank = (state.misses[miss * MISS + OF.key] >> rules.shared_shift) & (rules.banks - 1)
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
    entry = find_shared(run, state.misses[row + OF.page], state.misses[row + OF.key])
    if entry == NOWHERE:
        if run.rules.dead_threshold:
            is_missed(run, state.misses[row + OF.key] >> run.rules.shared_shift)
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
    # `_try_again` does not set it again: a request that tries again still waits since its first arrival.
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
    # A queue length of 0 means no limit.
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
    # The walk has begun, so this request's wait at the walkers ends now.
    if state.misses[at + OF.begun] != NONE:
        state.misses[row + OF.begun] = now
        state.counters[COUNT.queued_latency] += now - state.misses[row + OF.queued]
    return True


@noinline
def _opener_as_dead(run: Run, miss: int) -> int:
    """Return the miss that opened a walk of the same page and is marked by the same unmapping as a miss, or -1: that
    walk fills nothing either."""
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
    # The walk before it in the batch has found their common node, below which at most `batch_level` levels are left.
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
        # The walk is over: no request with the same mark may join it while its answers are due.
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
    # Last: `_answer_one` must see the events of this cycle that the next walk and the retries entered.
    if is_alone:
        _answer_one(run, miss, now)


@inlined
def _answer_one(run: Run, miss: int, now: int) -> None:
    """Answer the only request that a walk serves. It is answered at once if nothing else happens at the cycle and no
    other part could ask for what precedes the answer."""
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
    # Without delay: the request waits at the shared TLB (T6), and has paid for its first look-up.
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


@kernel
def link_last(run: Run, head: int, last: int, miss: int) -> None:
    """Put a request at the end of a list whose last is given."""
    if last == NONE:
        run.state.counters[head] = miss
    else:
        run.state.misses[last * MISS + OF.behind] = miss
    run.state.misses[miss * MISS + OF.behind] = NONE


@kernel
def take_from_queue(run: Run, before: int, miss: int) -> None:
    """Take a walk out of the queue; `before` is the one before it, or none."""
    counters, misses = run.state.counters, run.state.misses
    after = misses[miss * MISS + OF.behind]
    if before == NONE:
        counters[COUNT.queue_head] = after
    else:
        misses[before * MISS + OF.behind] = after
    if after == NONE:
        counters[COUNT.queue_tail] = before
    counters[COUNT.queue_length] -= 1


@noinline
def first_like(run: Run, ended: int) -> tuple[int, int]:
    """Return the walk that whoever ended one prefers, and the one before it; none where none is like it.

    A walker prefers the first of the same node of the page table, a core the first that its own requests opened.
    """
    misses, before, miss = run.state.misses, NONE, run.state.counters[COUNT.queue_head]
    in_software = misses[ended * MISS + OF.batch] == 0
    while miss != NONE:
        if _is_own(run, ended, miss) if in_software else _is_of_node(run, ended, miss):
            break
        before, miss = miss, misses[miss * MISS + OF.behind]
    return before, miss


@kernel
def _is_own(run: Run, ended: int, miss: int) -> bool:
    return bool(run.state.misses[ended * MISS + OF.core] == run.state.misses[miss * MISS + OF.core])


@kernel
def _is_of_node(run: Run, ended: int, miss: int) -> bool:
    """Return whether two walks share a node of the page table, which leaves as many levels to read."""
    misses, one, two = run.state.misses, ended * MISS, miss * MISS
    saved = levels_saved(run, misses[one + OF.key])
    shift = LEVEL_BITS * (run.rules.batch_level + saved)
    if saved != levels_saved(run, misses[two + OF.key]):
        return False
    return bool(misses[one + OF.name] >> shift == misses[two + OF.name] >> shift)


@kernel
def levels_saved(run: Run, key: int) -> int:
    """Return the levels that a walk of a large page does not read."""
    # The two bits of class 0, pages of the machine's size, are 0.
    return (run.rules.levels_saved >> (2 * (key >> LARGE_BITS))) & 3


ONLY_SET: Any = np.int64(0)


@kernel
def levels_to_read(run: Run, key: int, name: int) -> int:
    """Return the levels of the page table that a walk reads."""
    saved = levels_saved(run, key)
    return _levels_uncached(run, name, saved) if run.rules.walk_cache else run.rules.levels - saved


@noinline
def _levels_uncached(run: Run, name: int, saved: int) -> int:
    """Return the levels that neither a large page nor the page-walk cache saves."""
    # From the lowest level: the first that is cached leaves the fewest to read.
    for upper in range(saved + 1, run.rules.levels):
        if look_up(run.state.walk_index, ONLY_SET, _upper_key(name, upper)) != NONE:
            return upper - saved
    return run.rules.levels - saved


@noinline
def keep_levels(run: Run, key: int, name: int) -> None:
    """Keep the upper levels of a walk that has ended, the highest first."""
    # The lowest level comes last, so that LRU keeps it longest.
    for kept in range(run.rules.levels - 1, levels_saved(run, key), -1):
        _keep_upper(run, _upper_key(name, kept))


@kernel
def _upper_key(name: int, level: int) -> int:
    """Return an upper level of the page table, as the cache knows it: the part of the page's name, and the level."""
    # Two bits are enough: a walk has at most three upper levels.
    return (name >> (LEVEL_BITS * level)) * 4 + level


@noinline
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
