"""What directories know: who holds a page, what cores share, who is closely related (spec 4, R2, R14, E6-E8).

Where directories are always right, one bitmap a page serves them all. Where they may be wrong each has its own, in
which the core's own bit is always right.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from workbench.compiled import NO_BITS, apart, kernel
from workbench.engines.translation.finding import NOWHERE, find
from workbench.engines.translation.state import NEWS, PENDING, PENDING_HEAD, Run
from workbench.policies.translation.locate.question import (
    DIRECTORY,
    MESSAGE,
    ON_RESPONSE,
    ORACLE,
    OWN_ONLY,
    OWN_PLUS_AFFINE,
)
from workbench.structures.core_bits import NOBODY, add_core, count_cores, drop_core, has_core, next_core
from workbench.structures.entry_sets import NONE, OLDEST, PAGE, ROW, insert, remove, take_free, touch

NEWS_ROW = 4
CAME: Any = np.int64(1)
LEFT: Any = np.int64(0)


@kernel
def known_row(run: Run, core: int, page: int) -> int:
    """Where the bitmap of a page begins, as a core's directory knows it, in `known(run)`."""
    rules = run.rules
    return (page * rules.cores + core) * rules.words if rules.beliefs else page * rules.words


@kernel
def others_known(run: Run, core: int, page: int) -> int:
    """How many other cores hold a page, as a core's directory knows it."""
    words, row = (run.state.belief if run.rules.beliefs else run.state.held), known_row(run, core, page)
    return count_cores(words, row, run.rules.words) - has_core(words, row, core)


@kernel
def gained(run: Run, core: int, page: int, issue: int) -> None:
    """A private TLB holds a page from now on: its own directory knows at once, the others as the update says."""
    rules, state = run.rules, run.state
    if rules.counts:
        _count_own(run, core, page, CAME)
    if run.policies.plan.kind == DIRECTORY:
        _tell(run, core, page, issue, CAME)
    add_core(state.held, page * rules.words, core)
    if rules.beliefs:
        add_core(state.belief, known_row(run, core, page), core)
    _forget_record(run, core, page)
    if run.policies.plan.kind == DIRECTORY and run.policies.plan.scope == OWN_PLUS_AFFINE:
        _look_who_is_close(run, core)


@kernel
def lost(run: Run, core: int, page: int, issue: int) -> None:
    """A private TLB does not hold a page any more."""
    rules, state = run.rules, run.state
    drop_core(state.held, page * rules.words, core)
    if rules.beliefs:
        drop_core(state.belief, known_row(run, core, page), core)
    if rules.counts:
        _count_own(run, core, page, -CAME)
    if run.policies.plan.kind == DIRECTORY:
        _tell(run, core, page, issue, LEFT)


@kernel
def keep_record(run: Run, core: int, page: int) -> None:
    """A page left to make room: a directory of limited room makes a record of it, where covered peers hold it."""
    if run.rules.finite and others_known(run, core, page) and _in_scope(run, core, page):
        note_record(run, core, page)


@kernel
def forget_records(run: Run, page: int) -> None:
    """A page is in no private TLB any more: records of it take no room."""
    if run.rules.finite:
        for core in range(run.rules.cores):
            _forget_record(run, core, page)


@apart
def _count_own(run: Run, core: int, page: int, step: int) -> None:
    """Count an own entry that comes or goes among those that are shared; its core's own bit is not set."""
    rules, state = run.rules, run.state
    words, row = (state.belief if rules.beliefs else state.held), known_row(run, core, page)
    others, peer = 0, next_core(words, row, rules.words, 0)
    while peer != NOBODY:
        others += 1
        state.pairs[core * rules.cores + peer] += step
        if not rules.beliefs:
            state.pairs[peer * rules.cores + core] += step
        peer = next_core(words, row, rules.words, peer + 1)
    state.shared[core] += step * (others > 0)
    if not rules.beliefs and others == 1:
        state.shared[next_core(words, row, rules.words, 0)] += step


@kernel
def _tell(run: Run, core: int, page: int, issue: int, came: int) -> None:
    """Let the other directories know, and count the messages; `held` does not name the core."""
    rules, state, plan = run.rules, run.state, run.policies.plan
    if plan.update == ON_RESPONSE:
        return
    state.counters[NEWS] += _receivers(run, core, page)
    if plan.update == MESSAGE:
        _send_news(run, core, page, issue, came)
    elif rules.finite and came:
        for other in range(rules.cores):
            if other != core:
                _hear(run, other, page, core)


@apart
def _send_news(run: Run, core: int, page: int, issue: int, came: int) -> None:
    state = run.state
    room = state.pending.size // NEWS_ROW
    at = (state.counters[PENDING_HEAD] + state.counters[PENDING]) % room * NEWS_ROW
    state.pending[at], state.pending[at + 1] = issue + run.policies.plan.delay_cycles, page
    state.pending[at + 2], state.pending[at + 3] = core, came
    state.counters[PENDING] += 1


@kernel
def _receivers(run: Run, core: int, page: int) -> int:
    """The other directories that keep a record of the page, or would: those that the scope says."""
    rules, state, plan = run.rules, run.state, run.policies.plan
    if plan.scope == ORACLE:
        return rules.cores - 1
    if plan.scope == OWN_ONLY:
        return count_cores(state.held, page * rules.words, rules.words)
    return _holders_and_followers(run, core, page)


@apart
def _holders_and_followers(run: Run, core: int, page: int) -> int:
    rules, state, row = run.rules, run.state, page * run.rules.words
    for word in range(rules.words):
        state.others[word] = state.held[row + word] | state.followers[core * rules.words + word]
    drop_core(state.others, 0, core)
    return count_cores(state.others, 0, rules.words)


@apart
def deliver_news(run: Run, issue: int) -> None:
    """Let every message that has arrived take effect."""
    rules, state = run.rules, run.state
    room = state.pending.size // NEWS_ROW
    while state.counters[PENDING] > 0:
        at = state.counters[PENDING_HEAD] * NEWS_ROW
        if state.pending[at] > issue:
            return
        page, core, came = state.pending[at + 1], state.pending[at + 2], state.pending[at + 3]
        for other in range(rules.cores):
            if other != core and came:
                learn(run, other, page, core)
            elif other != core:
                unlearn(run, other, page, core)
        state.counters[PENDING_HEAD] = (state.counters[PENDING_HEAD] + 1) % room
        state.counters[PENDING] -= 1


@apart
def learn(run: Run, core: int, page: int, peer: int) -> None:
    """A core's directory comes to know that a peer holds a page."""
    rules, state = run.rules, run.state
    row = known_row(run, core, page)
    if not has_core(state.belief, row, peer):
        if rules.counts and find(run, core, page) != NOWHERE:
            state.shared[core] += others_known(run, core, page) == 0
            state.pairs[core * rules.cores + peer] += 1
        add_core(state.belief, row, peer)
    _hear(run, core, page, peer)


@apart
def unlearn(run: Run, core: int, page: int, peer: int) -> None:
    """A core's directory comes to know that a peer does not hold a page."""
    rules, state = run.rules, run.state
    row = known_row(run, core, page)
    if has_core(state.belief, row, peer):
        drop_core(state.belief, row, peer)
        if rules.counts and find(run, core, page) != NOWHERE:
            state.shared[core] -= others_known(run, core, page) == 0
            state.pairs[core * rules.cores + peer] -= 1


@apart
def _hear(run: Run, core: int, page: int, peer: int) -> None:
    """A directory of limited room hears that a peer holds a page: it makes a record, or makes the one it has newest."""
    if not run.rules.finite or find(run, core, page) != NOWHERE:
        return
    plan = run.policies.plan
    close = plan.scope == OWN_PLUS_AFFINE and has_core(run.state.affine, core * run.rules.words, peer)
    if plan.scope == ORACLE or close:
        note_record(run, core, page)


@apart
def note_record(run: Run, core: int, page: int) -> None:
    """Make a record of a peer's entry the newest, in place of the oldest where there is no room."""
    state, at = run.state, page * run.rules.cores + core
    place = int(state.record[at])
    if place != NONE:
        touch(state.records, core, place)
        return
    if run.policies.plan.quota == 0:
        return
    place = take_free(state.records, core)
    if place == NONE:
        place = state.records.sets[core * ROW + OLDEST]
        state.record[state.records.entries[place * ROW + PAGE] * run.rules.cores + core] = NONE
        remove(state.records, core, place)
        place = take_free(state.records, core)
    insert(state.records, core, place, page, LEFT, NONE)
    state.record[at] = place


@kernel
def _forget_record(run: Run, core: int, page: int) -> None:
    """A record of a peer's entry becomes that of an own entry, which needs no room."""
    if run.rules.finite:
        at = page * run.rules.cores + core
        if run.state.record[at] != NONE:
            remove(run.state.records, core, int(run.state.record[at]))
            run.state.record[at] = NONE


@kernel
def _in_scope(run: Run, core: int, page: int) -> bool:
    """Whether the directory covers a page that its core does not hold: some peer that holds it is covered."""
    plan = run.policies.plan
    return _is_close(run, core, page) if plan.scope == OWN_PLUS_AFFINE else bool(plan.scope == ORACLE)


@apart
def _is_close(run: Run, core: int, page: int) -> bool:
    rules, state = run.rules, run.state
    words, row = (state.belief if rules.beliefs else state.held), known_row(run, core, page)
    common = NO_BITS
    for word in range(rules.words):
        common |= words[row + word] & state.affine[core * rules.words + word]
    return bool(common != NO_BITS)


@kernel
def has_record(run: Run, core: int, page: int) -> bool:
    """Whether a core that misses a page finds a record of it."""
    if not _in_scope(run, core, page):
        return False
    return not run.rules.finite or run.state.record[page * run.rules.cores + core] != NONE


@apart
def _look_who_is_close(run: Run, core: int) -> None:
    """After so many fills: closely related is who shares so many entries, or more (spec 4, E7)."""
    rules, state, plan = run.rules, run.state, run.policies.plan
    state.since[core] += 1
    if state.since[core] < plan.affine_fills:
        return
    state.since[core] = 0
    for peer in range(rules.cores):
        close = peer != core and state.pairs[core * rules.cores + peer] >= plan.affine_threshold
        if close:
            add_core(state.affine, core * rules.words, peer)
            add_core(state.followers, peer * rules.words, core)
        else:
            drop_core(state.affine, core * rules.words, peer)
            drop_core(state.followers, peer * rules.words, core)
