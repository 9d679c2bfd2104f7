"""Short ways of rows that nothing disturbs: hits before the next event, and stretches without any event.

A hit never touches the event queue. One of constant latency is counted by its count, and the window of time is looked
up only past its end. A row whose core waits, that unmaps, or that uses a copy of which somebody wants to hear ends the
stretch.

Without shared TLB and directory nothing else is under way. So a miss whose walk ends before the next row is one step.
The entry that goes takes in the page that comes. Under LRU, MRU and FIFO that entry stands at an end of a list of its
set. Every other policy is asked, and told what it wants to know; if it raises, the stretch ends. Of the two orders of a
set, by use and by arrival, those are kept that the policy may read.

A long stretch of hits of the only core is skimmed: each row is only asked whether it hits. What such a stretch leaves
behind is the order in which its entries were used last, and that the rows tell, read from the last one backward. Each
entry is then made the newest of its set, the one that was used last at the end, as if each row had done it.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from workbench.compiled import inlined, kernel, noinline, prefetch
from workbench.engines.kit import FINE, STOP
from workbench.engines.translation.answers import has_room
from workbench.engines.translation.events import next_cycle
from workbench.engines.translation.fill import (
    FRESH,
    OF_PRIVATE,
    THERE,
    UNUSED,
    fail_eviction,
    tell_incoming,
    tell_use,
    victim_of,
)
from workbench.engines.translation.frontend import PRIVATE, miss
from workbench.engines.translation.lookup import NOWHERE, find, forget_place, note_place
from workbench.engines.translation.state import COUNT, KINDS_OF_SERVICE, Run, to_int64
from workbench.engines.translation.statistics import latency_bin, sample_if_due, window
from workbench.engines.translation.trace import first_from
from workbench.engines.translation.walker import WALK
from workbench.structures.bitmaps import add_core, drop_core
from workbench.structures.set_assoc import (
    HELD,
    NONE,
    PAGE,
    PUSHER,
    ROW,
    insert,
    renew,
    set_of,
    take_free,
    touch,
)

AHEAD = 12
"""Rows between one that is served and one whose page is looked for in memory: the time that memory takes."""
NEAR_CELLS = 1 << 12
"""Cells of the table by page (16 KiB) that are near enough."""


@noinline
def serve_rows(run: Run, row: int, end: int) -> int:
    """Serve rows before the next event: hits, and misses that are answered at once or wait; return the first row that
    is not served."""
    cycle, soonest, last = run.rows.cycle, next_cycle(run), _last(run, row, end)
    until = end_of_window(run, cycle[row])
    while row < last:
        began, row = row, _serve_hits(run, row, last, end, min(soonest, until))
        if row > began:
            count_window(run, cycle[row - 1], row - began)
            count_hits(run, row - began, 0, cycle[row - 1])
        # If a row and an event share a cycle, the loop compares their orders.
        if row == last or cycle[row] >= soonest or run.state.counters[STOP.fault] != FINE:
            break
        if cycle[row] >= until:
            until = end_of_window(run, cycle[row])
        elif _is_missed(run, row) and has_room(run):
            miss(run, row, end)
            row += 1
            # The miss may have entered events or been served, so both limits may have changed.
            soonest, last = next_cycle(run), _last(run, row, end)
        else:
            break
    return row


@inlined
def _last(run: Run, row: int, end: int) -> int:
    """Return the row before which a look at who shares what is due, if all before it hit."""
    counters = run.state.counters
    return min(end, row + counters[COUNT.next_sample] - counters[COUNT.served])


@inlined
def _serve_hits(run: Run, row: int, last: int, end: int, until: int) -> int:
    """Serve rows before a cycle as long as they hit; return the first that is not served."""
    state, rows, sets = run.state, run.rows, run.rules.private_sets
    unmaps, ahead = rows.unmap.size > 0, is_far(run)
    while row < last and rows.cycle[row] < until:
        core = to_int64(rows.core[row])
        if state.halted[core] or (unmaps and rows.unmap[row]):
            break
        if ahead:
            fetch_page(run, row, end)
        entry = find(run, core, to_int64(rows.number[row]))
        if entry == NOWHERE or state.tlbs.entries[entry * ROW + PUSHER] != NONE:
            break
        use = _use(run, core * sets + (set_of(rows.key[row], sets) if sets > 1 else 0), entry, rows.cycle[row])
        state.served[core * KINDS_OF_SERVICE + PRIVATE] += 1
        row += 1
        if not use:
            break
    return row


@inlined
def _use(run: Run, at_set: int, entry: int, now: int) -> bool:
    """Note the use of an entry, and return whether the policy, where it is told, did not raise."""
    if run.rules.follows_use:
        touch(run.state.tlbs, at_set, entry)
    if not run.rules.hears_hits:
        return True
    tell_use(run, run.policies.eviction, entry, at_set, UNUSED, UNUSED, now)
    return bool(run.state.counters[STOP.fault] == FINE)


@inlined
def _is_missed(run: Run, row: int) -> bool:
    """Return whether a row is an access that its core can issue, and misses."""
    rows, core = run.rows, to_int64(run.rows.core[row])
    if run.state.halted[core] or (rows.unmap.size > 0 and rows.unmap[row]):
        return False
    return bool(find(run, core, to_int64(rows.number[row])) == NOWHERE)


@kernel
def is_far(run: Run) -> bool:
    """Return whether the table by page is too large for the nearest caches, so that it pays to look ahead."""
    return bool(run.rules.dense and run.state.where.size > NEAR_CELLS)


@inlined
def fetch_page(run: Run, row: int, end: int) -> None:
    """Let the tables by page come nearer where a row of the trace will soon need them."""
    rules, state = run.rules, run.state
    soon = min(row + AHEAD, end - 1)
    page = to_int64(run.rows.number[soon])
    prefetch(state.where, page * rules.tlbs + to_int64(run.rows.core[soon]))
    if rules.reads_ahead:
        # If the row misses, it may read the shared TLB's cell and the holders too.
        prefetch(state.where, page * rules.tlbs + rules.tlbs - 1)
        prefetch(state.held, page * rules.words)


@kernel
def end_of_window(run: Run, cycle: int) -> int:
    """Return the first cycle behind the window of a cycle, as long as windows are now.

    Counting makes them longer, looking ahead does not: the row may be an unmapping, which no window counts.
    """
    counters = run.state.counters
    bits, first = counters[COUNT.window_bits], counters[COUNT.first_cycle]
    return first + ((((cycle - first) >> bits) + 1) << bits)


@kernel
def count_window(run: Run, cycle: int, hits: int) -> None:
    run.state.over_time[window(run, cycle) + PRIVATE] += hits


@inlined
def count_hits(run: Run, served: int, walks: int, cycle: int) -> None:
    """Count accesses that are served, all but so many of them hits, the last of which was issued at a cycle."""
    state, latency = run.state, run.rules.private_cycles
    counters, hits = state.counters, served - walks
    counters[COUNT.served] += served
    counters[COUNT.now] = cycle
    counters[COUNT.last_cycle] = max(counters[COUNT.last_cycle], cycle + latency)
    state.spent[PRIVATE] += hits * latency
    if hits > 0:
        state.latency[latency_bin(latency)] += hits
    sample_if_due(run)


SHORT = 1024
"""Hits in a row from which on a stretch is skimmed: what was listed at its end would else not be worth it."""


@noinline
def serve_alone(run: Run, row: int, end: int) -> int:
    """Serve rows while nothing is under way; return the first that is not served."""
    rules, state, rows = run.rules, run.state, run.rows
    counters, began, counted, walks, sets = state.counters, row, row, 0, rules.private_sets
    walk, unmaps = rules.private_cycles + rules.levels * rules.level_cycles, rows.unmap.size > 0
    last = min(end, row + counters[COUNT.next_sample] - counters[COUNT.served])
    until, walks_counted, done = end_of_window(run, rows.cycle[row]), 0, counters[COUNT.last_cycle]
    stop, plain = first_from(rows.cycle, row, last, until), rules.cores == 1 and sets == 1 and not unmaps
    while row < last:
        row = _serve_hits_of_one(run, row, stop, end, until) if plain else _serve_hits_alone(run, row, stop)
        # A skimmed stretch may pass `last`. Then `count_hits` takes all looks that are due.
        if row >= last or (unmaps and rows.unmap[row]) or counters[STOP.fault] != FINE:
            break
        cycle = rows.cycle[row]
        if row == stop:
            _count_window_alone(run, rows.cycle[row - 1], row - counted, walks - walks_counted)
            until, counted, walks_counted = end_of_window(run, cycle), row, walks
            stop = first_from(rows.cycle, row, last, until)
            continue
        # A walk may end at the cycle of the next row, as issues rank last (T1). Behind the last row of a piece, no row
        # is known.
        if row + 1 >= end or rows.cycle[row + 1] - cycle < walk:
            break
        core = to_int64(rows.core[row])
        at_set = core * sets + (set_of(rows.key[row], sets) if sets > 1 else 0)
        _let_in(run, core, to_int64(rows.number[row]), at_set, cycle + walk)
        state.served[core * KINDS_OF_SERVICE + WALK] += 1
        walks += 1
        done = cycle + walk
        row += 1
    if row > began:
        _count_window_alone(run, rows.cycle[row - 1], row - counted, walks - walks_counted)
        counters[COUNT.last_cycle] = max(counters[COUNT.last_cycle], done)
        _count_walks(run, walks, walk)
        count_hits(run, row - began, walks, rows.cycle[row - 1])
    return row


@inlined
def _serve_hits_alone(run: Run, row: int, stop: int) -> int:
    """Serve rows of one window of time as long as they hit; return the first that is not served."""
    rules, state, rows = run.rules, run.state, run.rows
    sets, unmaps, ahead = rules.private_sets, rows.unmap.size > 0, is_far(run)
    while row < stop and not (unmaps and rows.unmap[row]):
        core = to_int64(rows.core[row])
        if ahead:
            fetch_page(run, row, stop)
        entry = find(run, core, to_int64(rows.number[row]))
        if entry == NOWHERE:
            break
        use = _use(run, core * sets + (set_of(rows.key[row], sets) if sets > 1 else 0), entry, rows.cycle[row])
        state.served[core * KINDS_OF_SERVICE + PRIVATE] += 1
        row += 1
        if not use:
            break
    return row


ONLY: Any = np.int64(0)
"""The only core, and the only set."""


@inlined
def _serve_hits_of_one(run: Run, row: int, stop: int, end: int, until: int) -> int:
    """Do the same where there is one core, with one set: what it looks at of a row is the page's number.

    A stretch that is skimmed goes on to the end of its window: who looks at the TLB meanwhile finds as many entries.
    """
    number, began, ahead, short = run.rows.number, row, is_far(run), min(stop, row + SHORT)
    if run.rules.hears_hits:
        row = _serve_hits_heard(run, row, stop)
    elif not run.rules.follows_use:
        row = _serve_hits_unordered(run, row, stop)
    else:
        while row < short:
            if ahead:
                fetch_page(run, row, stop)
            entry = find(run, ONLY, to_int64(number[row]))
            if entry == NOWHERE:
                break
            touch(run.state.tlbs, ONLY, entry)
            row += 1
        if row == began + SHORT and run.rules.dense:
            row = skim_hits(run, row, first_from(run.rows.cycle, row, end, until))
    run.state.served[PRIVATE] += row - began
    return row


@inlined
def _serve_hits_heard(run: Run, row: int, stop: int) -> int:
    """Serve rows as long as they hit, and the policy does not raise when it is told."""
    ahead, heard = is_far(run), True
    while row < stop and heard:
        if ahead:
            fetch_page(run, row, stop)
        entry = find(run, ONLY, to_int64(run.rows.number[row]))
        if entry == NOWHERE:
            break
        heard = _use(run, ONLY, entry, run.rows.cycle[row])
        row += 1
    return row


@inlined
def _serve_hits_unordered(run: Run, row: int, stop: int) -> int:
    """Serve rows as long as they hit, where the order of use does not matter."""
    ahead = is_far(run)
    while row < stop:
        if ahead:
            fetch_page(run, row, stop)
        if find(run, ONLY, to_int64(run.rows.number[row])) == NOWHERE:
            break
        row += 1
    return row


@inlined
def _let_in(run: Run, core: int, page: int, at_set: int, now: int) -> None:
    """Let a page come into a private TLB, in the place of the policy's victim where there is no other."""
    state, words, policy = run.state, run.rules.words, run.policies.eviction
    # Before the victim is chosen: the policy's choice may depend on the incoming page.
    tell_incoming(run, policy, page, at_set, UNUSED, now)
    entry = take_free(state.tlbs, at_set)
    if entry != NONE:
        insert(state.tlbs, at_set, entry, page, THERE, NONE)
    else:
        entry = victim_of(run, core, at_set)
        if entry < 0:
            fail_eviction(run, entry, OF_PRIVATE, core, now)
            return
        gone = state.tlbs.entries[entry * ROW + PAGE]
        forget_place(run, core, gone)
        drop_core(state.held, gone * words, core)
        _take_place_of(run, entry, page, at_set)
        state.counters[COUNT.evictions] += 1
    note_place(run, core, page, entry)
    add_core(state.held, page * words, core)
    tell_use(run, policy, entry, at_set, UNUSED, FRESH, now)


@inlined
def _take_place_of(run: Run, entry: int, page: int, at_set: int) -> None:
    """Put a page into the place of another, in the orders that the policy may read."""
    tlbs = run.state.tlbs
    tlbs.entries[entry * ROW + PAGE] = page
    if run.rules.follows_use:
        touch(tlbs, at_set, entry)
    if run.rules.follows_arrival:
        renew(tlbs, at_set, entry)


@kernel
def _count_window_alone(run: Run, cycle: int, rows: int, walks: int) -> None:
    if rows > 0:
        at = window(run, cycle)
        run.state.over_time[at + PRIVATE] += rows - walks
        run.state.over_time[at + WALK] += walks


@inlined
def _count_walks(run: Run, walks: int, latency: int) -> None:
    """Count misses that walks of one length served."""
    state, counters = run.state, run.state.counters
    counters[COUNT.walks] += walks
    counters[COUNT.walk_levels] += walks * run.rules.levels
    counters[COUNT.fills] += walks
    state.spent[WALK] += walks * latency
    if walks > 0:
        state.latency[latency_bin(latency)] += walks


@noinline
def skim_hits(run: Run, row: int, stop: int) -> int:
    """Serve rows as long as they hit; return the first that is not served. A table by page says where pages lie."""
    number, where, tlbs, began = run.rows.number, run.state.where, run.rules.tlbs, row
    while row < stop and to_int64(where[to_int64(number[row]) * tlbs]) != NOWHERE:
        row += 1
    _touch_in_order(run, _list_used(run, began, row))
    return row


@kernel
def _list_used(run: Run, row: int, end: int) -> int:
    """List the entries that rows use, the one used last first, and return how many they are."""
    state, count, held = run.state, 0, run.state.tlbs.sets[HELD]
    # Once every entry is listed, earlier rows do not change the order.
    while end > row and count < held:
        end -= 1
        entry = to_int64(state.where[to_int64(run.rows.number[end]) * run.rules.tlbs])
        if not state.is_used[entry]:
            state.is_used[entry], state.last_used[count] = 1, entry
            count += 1
    return count


@kernel
def _touch_in_order(run: Run, count: int) -> None:
    """Make each of the listed entries the newest, from the last of the list to its first."""
    state = run.state
    for place in range(count - 1, -1, -1):
        entry = state.last_used[place]
        state.is_used[entry] = 0
        touch(state.tlbs, ONLY, entry)
