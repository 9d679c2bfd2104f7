"""Entries come into TLBs, and others make room for them (spec 4, R14-R28)."""

from __future__ import annotations

from typing import Any

import numpy as np

from workbench.compiled import NO_ANSWER, RAISED, apart, kernel
from workbench.engines.translation.finding import NOWHERE, find, forget_place, note_place
from workbench.engines.translation.knowing import forget_records, gained, keep_record, lost
from workbench.engines.translation.network import travel
from workbench.engines.translation.reporting import fail, log
from workbench.engines.translation.state import (
    ENDLESS_EVICTION,
    EVICTION_RAISED,
    EVICTIONS,
    FILL_RAISED,
    FILLS,
    FINE,
    NO_PUSH,
    NO_VICTIM,
    PUSHES,
    PUSHES_UNUSED,
    REFUSED_FILLS,
    SHARED_TLB,
    SHOT_DOWN,
    STATUS,
    Run,
)
from workbench.policies.translation.eviction.choose import ENDLESS, choose_victim
from workbench.policies.translation.eviction.question import TOUCHED, ReadyEviction
from workbench.policies.translation.eviction.view import TouchView
from workbench.policies.translation.fill.question import FILL, REFUSED, TOLD
from workbench.policies.translation.fill.view import FillNotice, FillView
from workbench.policies.translation.locate.question import CLUSTER, DIRECTORY
from workbench.records import translation_events as kinds
from workbench.records.translation import MESSAGES
from workbench.structures.core_bits import NOBODY, next_core
from workbench.structures.entry_sets import (
    EARLIEST,
    FIRST,
    HELD,
    NEWEST,
    NONE,
    OLDEST,
    PAGE,
    PUSHER,
    ROW,
    WAYS,
    insert,
    remove,
    set_of,
    take_free,
)

_KINDS: Any = tuple(np.int64(kind) for kind in (kinds.EVICT, kinds.FILL, kinds.INVALIDATE, kinds.PUSH))
EVICT, FILLED, INVALIDATE, PUSH = _KINDS
USED: Any = np.int64(1)
UNUSED: Any = np.int64(0)
FRESH: Any = np.int64(1)
PUSHED, SHOT = MESSAGES.index("push"), MESSAGES.index("shootdown")
touched = TOUCHED.ask
fill = FILL.ask
told = TOLD.ask


@kernel
def tell_use(run: Run, policy: ReadyEviction, entry: int, at: int, first_set: int, fresh: int, issue: int) -> None:
    """Tell an eviction policy that an entry was used, where it wants to know."""
    if policy.touched != NO_ANSWER:
        _tell_use(run, policy, entry, at, first_set, fresh, issue)


@apart
def _tell_use(run: Run, policy: ReadyEviction, entry: int, at: int, first_set: int, fresh: int, issue: int) -> None:
    sets, row = run.state.tlbs.sets, at * ROW
    first, ways = sets[row + FIRST], sets[row + WAYS]
    said = touched(policy.touched, TouchView(entry, at - first_set, first, ways, fresh, policy.params, policy.memory))
    if said == RAISED:
        run.state.counters[SHARED_TLB] = first_set > 0
        fail(run.state.counters, EVICTION_RAISED, issue, -1, RAISED)


@apart
def fill_private(run: Run, core: int, page: int, key: int, ready: int, pusher: int, issue: int) -> None:
    """Put a page into a core's own TLB, which does not hold it."""
    rules, state = run.rules, run.state
    at = core * rules.private_sets + set_of(key, rules.private_sets)
    entry = take_free(state.tlbs, at)
    if entry == NONE:
        entry = _make_room(run, core, at, issue)
        if entry == NONE:
            return
    insert(state.tlbs, at, entry, page, ready, pusher)
    note_place(run, core, page, entry)
    gained(run, core, page, issue)
    tell_use(run, run.policies.eviction, entry, at, UNUSED, FRESH, issue)
    state.counters[FILLS] += 1
    log(run, issue, FILLED if pusher == NONE else PUSH, core, page, NONE, pusher, NONE)


@kernel
def _make_room(run: Run, core: int, at: int, issue: int) -> int:
    """Evict an entry of a full set of a private TLB, and take it; -1 where the policy broke its contract."""
    rules, state, policy = run.rules, run.state, run.policies.eviction
    spread, base, words = 0, 0, 0
    if run.policies.plan.kind == DIRECTORY:
        words = rules.words
        spread = words * rules.cores if rules.beliefs else words
        base = words * core if rules.beliefs else 0
    holders = state.belief if rules.beliefs else state.held
    sets, row = state.tlbs.sets, at * ROW
    entry = choose_victim(
        policy,
        at,
        sets[row + FIRST],
        sets[row + WAYS],
        sets[row + NEWEST],
        sets[row + OLDEST],
        sets[row + EARLIEST],
        state.tlbs.entries,
        holders,
        spread,
        base,
        words,
    )
    if entry < 0:
        _fail_eviction(run, entry, core, issue)
        return NONE
    gone, pusher = state.tlbs.entries[entry * ROW + PAGE], state.tlbs.entries[entry * ROW + PUSHER]
    if pusher != NONE:
        state.counters[PUSHES_UNUSED] += 1
        tell_push(run, pusher, core, UNUSED, issue)
    state.counters[EVICTIONS] += 1
    drop_private(run, core, gone, entry, at, issue)
    keep_record(run, core, gone)
    log(run, issue, EVICT, core, gone, NONE, NONE, NONE)
    return take_free(state.tlbs, at)


@apart
def _fail_eviction(run: Run, answer: int, core: int, issue: int) -> None:
    status = NO_VICTIM
    if answer == RAISED:
        status = EVICTION_RAISED
    if answer == ENDLESS:
        status = ENDLESS_EVICTION
    fail(run.state.counters, status, issue, core, answer)


@kernel
def drop_private(run: Run, core: int, page: int, entry: int, at: int, issue: int) -> None:
    """Take an entry out of a core's own TLB."""
    remove(run.state.tlbs, at, entry)
    forget_place(run, core, page)
    lost(run, core, page, issue)


@apart
def invalidate_private(run: Run, page: int, key: int, issue: int) -> None:
    """Take a page out of every private TLB, and records of it out of directories."""
    rules, state = run.rules, run.state
    core = next_core(state.held, page * rules.words, rules.words, 0)
    while core != NOBODY:
        at = core * rules.private_sets + set_of(key, rules.private_sets)
        drop_private(run, core, page, find(run, core, page), at, issue)
        state.counters[SHOT_DOWN] += 1
        log(run, issue, INVALIDATE, core, page, NONE, NONE, NONE)
        core = next_core(state.held, page * rules.words, rules.words, core + 1)
    forget_records(run, page)


@kernel
def tell_push(run: Run, core: int, peer: int, used: int, issue: int) -> None:
    """Tell the fill rule what became of a copy, where it wants to know."""
    if run.policies.fill.told != NO_ANSWER:
        _tell_push(run, core, peer, used, issue)


@apart
def _tell_push(run: Run, core: int, peer: int, used: int, issue: int) -> None:
    policy = run.policies.fill
    said = told(policy.told, FillNotice(core, peer, used, run.rules.cores, policy.params, policy.memory))
    if said == RAISED:
        fail(run.state.counters, FILL_RAISED, issue, core, RAISED)


@kernel
def fill_from_shared(run: Run, core: int, page: int, key: int, ready: int, issue: int) -> None:
    """A translation came from the shared TLB or a walk: fill whom the fill rule says."""
    rules, state, policy = run.rules, run.state, run.policies.fill
    if run.policies.plan.kind == CLUSTER:
        _fill_cluster(run, core, page, key, ready, issue)
    held = 0
    for at in range(core * rules.private_sets, (core + 1) * rules.private_sets):
        held += state.tlbs.sets[at * ROW + HELD]
    entries, counted = rules.private_entries, state.shared[core]
    said = fill(
        policy.answer,
        FillView(core, rules.cores, entries, held, counted, state.pairs, state.push, policy.params, policy.memory),
    )
    if said == RAISED or said < REFUSED or said >= rules.cores:
        fail(state.counters, FILL_RAISED if said == RAISED else NO_PUSH, issue, core, said)
        return
    if said == REFUSED:
        state.counters[REFUSED_FILLS] += 1
        return
    fill_private(run, core, page, key, ready, NONE, issue)
    for k in range(said):
        _push(run, core, state.push[k], page, key, ready, issue)


@apart
def _push(run: Run, core: int, peer: int, page: int, key: int, ready: int, issue: int) -> None:
    """Send a copy to a peer that does not hold the page (spec 4, R21)."""
    state = run.state
    if peer < 0 or peer >= run.rules.cores or peer == core:
        fail(state.counters, NO_PUSH, issue, core, peer)
        return
    if state.counters[STATUS] != FINE or find(run, peer, page) != NOWHERE:
        return
    state.counters[PUSHES] += 1
    state.messages[PUSHED] += 1
    fill_private(run, peer, page, key, travel(run, issue, core, peer, ready), core, issue)


@apart
def _fill_cluster(run: Run, core: int, page: int, key: int, ready: int, issue: int) -> None:
    """Keep a page in the cluster's TLB, which evicts its least recently used entry."""
    rules, state = run.rules, run.state
    cluster = core // run.policies.plan.cluster_cores
    tlb = rules.cores + cluster
    if find(run, tlb, page) != NOWHERE:
        return
    at = rules.cores * rules.private_sets + cluster * rules.cluster_sets + set_of(key, rules.cluster_sets)
    entry = take_free(state.tlbs, at)
    if entry == NONE:
        entry = state.tlbs.sets[at * ROW + OLDEST]
        forget_place(run, tlb, state.tlbs.entries[entry * ROW + PAGE])
        remove(state.tlbs, at, entry)
        entry = take_free(state.tlbs, at)
    insert(state.tlbs, at, entry, page, ready, NONE)
    note_place(run, tlb, page, entry)


@apart
def fill_shared(run: Run, page: int, key: int, ready: int, issue: int) -> None:
    """Put a page into the shared TLB, which does not hold it."""
    rules, state, policy = run.rules, run.state, run.policies.shared_eviction
    first_set = rules.cores * rules.private_sets + rules.clusters * rules.cluster_sets
    at, tlb = first_set + set_of(key, rules.shared_sets), rules.tlbs - 1
    sets, row = state.tlbs.sets, at * ROW
    entry = take_free(state.tlbs, at)
    if entry == NONE:
        entry = choose_victim(
            policy,
            at - first_set,
            sets[row + FIRST],
            sets[row + WAYS],
            sets[row + NEWEST],
            sets[row + OLDEST],
            sets[row + EARLIEST],
            state.tlbs.entries,
            state.held,
            0,
            0,
            0,
        )
        if entry < 0:
            state.counters[SHARED_TLB] = 1
            _fail_eviction(run, entry, NONE, issue)
            return
        gone = state.tlbs.entries[entry * ROW + PAGE]
        drop_shared(run, gone, entry, at)
        if rules.inclusive:
            before = state.counters[SHOT_DOWN]
            invalidate_private(run, gone, state.key_of[gone], issue)
            state.messages[SHOT] += state.counters[SHOT_DOWN] - before
        entry = take_free(state.tlbs, at)
    insert(state.tlbs, at, entry, page, ready, NONE)
    note_place(run, tlb, page, entry)
    tell_use(run, policy, entry, at, first_set, FRESH, issue)


@kernel
def drop_shared(run: Run, page: int, entry: int, at: int) -> None:
    """Take an entry out of the shared TLB; whom it was given to is forgotten with it."""
    remove(run.state.tlbs, at, entry)
    forget_place(run, run.rules.tlbs - 1, page)
    if run.state.given.size > 0:
        for word in range(page * run.rules.words, (page + 1) * run.rules.words):
            run.state.given[word] = 0
