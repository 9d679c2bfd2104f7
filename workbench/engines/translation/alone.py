"""A stretch of hits and misses of private TLBs that nothing else disturbs: no shared TLB, no directory, LRU.

A miss whose walk ends before the next row is served in one step: nothing else is under way, so nothing could come in
between. The entry that goes takes in the page that comes, and is made the newest of its set.
"""

from __future__ import annotations

from workbench.compiled import inlined, kernel, noinline
from workbench.engines.translation.counters import COUNT
from workbench.engines.translation.filling import THERE
from workbench.engines.translation.finding import NOWHERE, find, forget_place, note_place
from workbench.engines.translation.hits import count_hits, end_of_window, fetch_page, is_far
from workbench.engines.translation.issuing import PRIVATE
from workbench.engines.translation.ordering import first_from
from workbench.engines.translation.reporting import latency_bin, window
from workbench.engines.translation.shape import to_int64
from workbench.engines.translation.skimming import ONLY, skim_hits
from workbench.engines.translation.state import KINDS_OF_SERVICE, Run
from workbench.engines.translation.walking import WALK
from workbench.structures.bitmaps import add_core, drop_core
from workbench.structures.set_assoc import NONE, OLDEST, PAGE, ROW, insert, set_of, take_free, touch

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
        row = _serve_hits_of_one(run, row, stop, end, until) if plain else _serve_hits(run, row, stop)
        if row >= last or (unmaps and rows.unmap[row]):
            break
        cycle = rows.cycle[row]
        if row == stop:
            _count_window(run, rows.cycle[row - 1], row - counted, walks - walks_counted)
            until, counted, walks_counted = end_of_window(run, cycle), row, walks
            stop = first_from(rows.cycle, row, last, until)
            continue
        if row + 1 >= end or rows.cycle[row + 1] - cycle < walk:
            break
        core = to_int64(rows.core[row])
        _replace(run, core, to_int64(rows.number[row]), core * sets + (set_of(rows.key[row], sets) if sets > 1 else 0))
        state.served[core * KINDS_OF_SERVICE + WALK] += 1
        walks += 1
        done = cycle + walk
        row += 1
    if row > began:
        _count_window(run, rows.cycle[row - 1], row - counted, walks - walks_counted)
        counters[COUNT.last_cycle] = max(counters[COUNT.last_cycle], done)
        _count_walks(run, walks, walk)
        count_hits(run, row - began, walks, rows.cycle[row - 1])
    return row


@inlined
def _serve_hits(run: Run, row: int, stop: int) -> int:
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
        touch(state.tlbs, core * sets + (set_of(rows.key[row], sets) if sets > 1 else 0), entry)
        state.served[core * KINDS_OF_SERVICE + PRIVATE] += 1
        row += 1
    return row


@inlined
def _serve_hits_of_one(run: Run, row: int, stop: int, end: int, until: int) -> int:
    """Do the same where there is one core, with one set: what it looks at of a row is the page's number.

    A stretch that is skimmed goes on to the end of its window: who looks at the TLB meanwhile finds as many entries.
    """
    number, began, ahead, short = run.rows.number, row, is_far(run), min(stop, row + SHORT)
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
def _replace(run: Run, core: int, page: int, at_set: int) -> None:
    """Let a page come into a private TLB, in the place of the least recently used one where there is no other."""
    state, words = run.state, run.rules.words
    entry = take_free(state.tlbs, at_set)
    if entry != NONE:
        insert(state.tlbs, at_set, entry, page, THERE, NONE)
    else:
        entry = state.tlbs.sets[at_set * ROW + OLDEST]
        gone = state.tlbs.entries[entry * ROW + PAGE]
        forget_place(run, core, gone)
        drop_core(state.held, gone * words, core)
        state.tlbs.entries[entry * ROW + PAGE] = page
        touch(state.tlbs, at_set, entry)
        state.counters[COUNT.evictions] += 1
    note_place(run, core, page, entry)
    add_core(state.held, page * words, core)


@kernel
def _count_window(run: Run, cycle: int, rows: int, walks: int) -> None:
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
