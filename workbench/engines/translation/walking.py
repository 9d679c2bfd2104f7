"""The shared TLB, the queue behind it, the walkers and their cache of upper levels (spec 4, R9, R10)."""

from __future__ import annotations

from typing import Any

import numpy as np

from workbench.compiled import apart, kernel
from workbench.engines.translation.filling import fill_shared, tell_use
from workbench.engines.translation.finding import NOWHERE, find
from workbench.engines.translation.reporting import window
from workbench.engines.translation.shape import LEVEL_BITS
from workbench.engines.translation.state import (
    SHARED_ACCESSES,
    WALK_LEVELS,
    WALK_QUEUED,
    WALKS,
    WALKS_JOINED,
    Run,
)
from workbench.records.translation import OVER_TIME, SERVED_BY
from workbench.structures.calendar import Calendar, book, first_free
from workbench.structures.entry_sets import NONE, OLDEST, PAGE, READY, ROW, insert, remove, take_free, touch
from workbench.structures.key_index import look_up, put_key, take_key

ONLY_SET: Any = np.int64(0)
SHARED: Any = np.int64(SERVED_BY.index("shared"))
WALK: Any = np.int64(SERVED_BY.index("walk"))
QUEUED_COLUMN = OVER_TIME.index("walk_queue_cycles")


@kernel
def through_port(table: Calendar, resource: int, ports: int, issue: int, at: int) -> int:
    """The cycle at which one of the ports of a resource starts a look-up; 0 ports = any number."""
    return _through_port(table, resource, ports, issue, at) if ports else at


@apart
def _through_port(table: Calendar, resource: int, ports: int, issue: int, at: int) -> int:
    best = resource * ports
    soonest = first_free(table, best, issue, at, 1)
    for port in range(resource * ports + 1, (resource + 1) * ports):
        if soonest > at:
            start = first_free(table, port, issue, at, 1)
            if start < soonest:
                best, soonest = port, start
    book(table, best, soonest, 1)
    return soonest


@apart
def ask_shared(run: Run, core: int, page: int, key: int, name: int, issue: int, at: int) -> tuple[int, int]:
    """When the shared TLB, or a walk, has the translation, and which of the two it was."""
    rules, state = run.rules, run.state
    if rules.shared_entries == 0:
        return walk(run, core, name, issue, at), WALK
    state.counters[SHARED_ACCESSES] += 1
    at = through_port(state.banks, key & (rules.banks - 1), rules.bank_ports, issue, at) + rules.shared_cycles
    entry = find(run, rules.tlbs - 1, page)
    if entry == NOWHERE:
        done = walk(run, core, name, issue, at)
        fill_shared(run, page, key, done, issue)
        return done, WALK
    first_set = rules.cores * rules.private_sets + rules.clusters * rules.cluster_sets
    at_set = first_set + key % rules.shared_sets
    touch(state.tlbs, at_set, entry)
    tell_use(run, run.policies.shared_eviction, entry, at_set, first_set, ONLY_SET, issue)
    ready = state.tlbs.entries[entry * ROW + READY]
    state.counters[WALKS_JOINED] += ready > at
    return max(at, ready), SHARED


@apart
def walk(run: Run, core: int, name: int, issue: int, at: int) -> int:
    """Walk the page table for a page, named as in the trace: when the translation is known.

    A walk waits for a place in the queue, during which its core starts nothing, then for the walker that is free first.
    """
    rules, state = run.rules, run.state
    counters = state.counters
    arrived = at
    if rules.walk_queue:
        at = max(at, state.walk_starts[counters[WALKS] % rules.walk_queue])
        if at > arrived:
            state.stall[core] = max(state.stall[core], at)
    best = 0
    for walker in range(1, rules.walkers):
        if state.walker_free[walker] < state.walker_free[best]:
            best = walker
    start = max(at, state.walker_free[best])
    if rules.walk_queue:
        state.walk_starts[counters[WALKS] % rules.walk_queue] = start
    levels = _levels_to_read(run, name)
    state.walker_free[best] = start + levels * rules.level_cycles
    counters[WALKS] += 1
    counters[WALK_LEVELS] += levels
    counters[WALK_QUEUED] += start - arrived
    state.over_time[window(run, issue) + QUEUED_COLUMN] += start - arrived
    return state.walker_free[best]


@apart
def _levels_to_read(run: Run, name: int) -> int:
    """The levels that the page-walk cache does not save; what is read is kept in it, upper levels first."""
    rules = run.rules
    if rules.walk_cache == 0:
        return rules.levels
    levels, upper = rules.levels, 1
    while upper < rules.levels:
        if look_up(run.state.walk_index, ONLY_SET, _upper_key(name, upper)) != NONE:
            levels = upper
            break
        upper += 1
    for kept in range(rules.levels - 1, 0, -1):
        _keep_upper(run, _upper_key(name, kept))
    return levels


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
