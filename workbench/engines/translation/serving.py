"""The path of an access from its issue to its translation, and of an unmapping (spec 4, R5-R13, E14, E15)."""

from __future__ import annotations

from typing import Any

import numpy as np

from workbench.compiled import RAISED, apart, kernel
from workbench.engines.translation.asking import NOBODY, WALK_AT_ONCE, ask_near
from workbench.engines.translation.filling import (
    SHOT,
    UNUSED,
    USED,
    drop_shared,
    fill_from_shared,
    fill_private,
    fill_shared,
    invalidate_private,
    tell_push,
    tell_use,
)
from workbench.engines.translation.finding import NOWHERE, find, forget_place
from workbench.engines.translation.knowing import deliver_news, learn, others_known
from workbench.engines.translation.reporting import fail, finish, window
from workbench.engines.translation.state import (
    KINDS_OF_MESSAGE,
    MSHR_WAIT,
    NEWS,
    NEXT_SAMPLE,
    NOC_QUEUED,
    PORT_WAIT,
    PUSHES_USED,
    REMOTE_RAISED,
    SAMPLES,
    SERVED,
    SHOOTDOWNS,
    Run,
)
from workbench.engines.translation.walking import ask_shared, through_port, walk
from workbench.policies.translation.locate.question import DIRECTORY, MESSAGE, NO_DIRECTORY, ON_RESPONSE
from workbench.policies.translation.remote_fill.question import REMOTE_FILL
from workbench.policies.translation.remote_fill.view import RemoteFillView
from workbench.records.translation import MESSAGES, OVER_TIME, SERVED_BY
from workbench.structures.core_bits import NOBODY as NO_CORE
from workbench.structures.core_bits import add_core, count_cores, has_core, next_core
from workbench.structures.entry_sets import HELD, NONE, PAGE, PUSHER, READY, ROW, remove, set_of, touch

_SOURCES: Any = tuple(np.int64(SERVED_BY.index(k)) for k in SERVED_BY)
PRIVATE, MERGED, FROM_PEER, FROM_SHARED, FROM_WALK = _SOURCES
UPDATE = MESSAGES.index("update")
SENT_COLUMN, WAITED_COLUMN = OVER_TIME.index("messages"), OVER_TIME.index("noc_queue_cycles")
NOT_AWAITED: Any = np.int64(-1)
NO_PAGE: Any = np.int64(-1)
UNMAPPED: Any = np.int64(-2)
"""In place of the page that a register waits for: it has been unmapped since."""
NEVER: Any = np.int64(1 << 62)
keep_copy = REMOTE_FILL.ask


@kernel
def serve(run: Run, core: int, page: int, key: int, name: int, issue: int) -> int:
    """Serve an access that is issued at a cycle, with everything that it brings about; when its translation is known.

    `page` is the short number, `key` what entries are found by, `name` the page of the trace.
    """
    rules, state = run.rules, run.state
    if run.policies.plan.update == MESSAGE:
        deliver_news(run, issue)
    at = max(issue, state.stall[core])
    if rules.private_ports:
        start = through_port(state.ports, core, rules.private_ports, issue, at)
        state.counters[PORT_WAIT] += start - at
        at = start
    at += rules.private_cycles
    entry = find(run, core, page)
    if entry == NOWHERE:
        at = _miss(run, core, page, key, name, issue, at)
    else:
        at = _hit(run, core, page, key, name, entry, issue, at)
    if state.counters[SERVED] == state.counters[NEXT_SAMPLE]:
        state.counters[NEXT_SAMPLE] += rules.sample_accesses
        sample(run)
    return at


@kernel
def _hit(run: Run, core: int, page: int, key: int, name: int, entry: int, issue: int, at: int) -> int:
    rules, state = run.rules, run.state
    at_set = core * rules.private_sets + set_of(key, rules.private_sets)
    touch(state.tlbs, at_set, entry)
    tell_use(run, run.policies.eviction, entry, at_set, UNUSED, UNUSED, issue)
    row = entry * ROW
    pusher, ready = state.tlbs.entries[row + PUSHER], state.tlbs.entries[row + READY]
    if pusher != NONE:
        state.tlbs.entries[row + PUSHER] = NONE
        state.counters[PUSHES_USED] += 1
        tell_push(run, pusher, core, USED, issue)
    source = PRIVATE
    if ready > at:
        source, at = MERGED, ready
    finish(run, core, name, issue, at, source, NONE)
    return at


@apart
def _miss(run: Run, core: int, page: int, key: int, name: int, issue: int, at: int) -> int:
    state = run.state
    if state.last_done[core] > at:
        soonest, done = _look_at_registers(run, core, page, at)
        if done != NOT_AWAITED:
            finish(run, core, name, issue, done, MERGED, NONE)
            return done
        if state.under_way[core] == run.rules.mshrs:
            at = _take_register(run, core, at, soonest)
    else:
        state.under_way[core] = 0
    sent, waited, news = _sent(run), state.counters[NOC_QUEUED], state.counters[NEWS]
    done, peer = at, NOBODY
    if run.policies.plan.kind != NO_DIRECTORY:
        done, peer = ask_near(run, core, page, key, issue, at)
    source = FROM_PEER
    if peer < 0:
        done, source = _far(run, core, page, key, name, issue, done, peer == WALK_AT_ONCE)
        fill_from_shared(run, core, page, key, done, issue)
        if run.policies.plan.update == ON_RESPONSE:
            _learn_from_shared(run, core, page)
        peer = NOBODY
    else:
        _keep(run, core, page, key, peer, issue, done)
    _note_missing(run, core, page, done)
    state.messages[UPDATE] += state.counters[NEWS] - news
    row = window(run, issue)
    state.over_time[row + SENT_COLUMN] += _sent(run) - sent
    state.over_time[row + WAITED_COLUMN] += state.counters[NOC_QUEUED] - waited
    finish(run, core, name, issue, done, source, peer)
    return done


@kernel
def _sent(run: Run) -> int:
    """Messages sent so far."""
    total = 0
    for kind in range(KINDS_OF_MESSAGE):
        total += run.state.messages[kind]
    return total


@kernel
def _far(
    run: Run, core: int, page: int, key: int, name: int, issue: int, at: int, walk_at_once: bool
) -> tuple[int, int]:
    """Ask the shared TLB, or walk at once where it is known not to hold the page."""
    if walk_at_once:
        done = walk(run, core, name, issue, at)
        fill_shared(run, page, key, done, issue)
        return done, FROM_WALK
    return ask_shared(run, core, page, key, name, issue, at)


@kernel
def _keep(run: Run, core: int, page: int, key: int, peer: int, issue: int, ready: int) -> None:
    """A peer, or a cluster's TLB, has answered: keep a copy where the policy says so; directories may learn from it."""
    rules, state, policy, plan = run.rules, run.state, run.policies.remote_fill, run.policies.plan
    known = plan.kind == DIRECTORY
    learns = known and plan.update == ON_RESPONSE
    if learns:
        other = next_core(state.belief, (page * rules.cores + peer) * rules.words, rules.words, 0)
        while other != NO_CORE:
            if other != core:
                learn(run, core, page, other)
            other = next_core(state.belief, (page * rules.cores + peer) * rules.words, rules.words, other + 1)
    degree = others_known(run, core, page) if known else 1
    held = _held(run, core)
    said = keep_copy(
        policy.answer,
        RemoteFillView(
            core, peer, rules.cores, rules.private_entries, held, degree, state.pairs, policy.params, policy.memory
        ),
    )
    if said == RAISED:
        fail(state.counters, REMOTE_RAISED, issue, core, said)
    elif said:
        fill_private(run, core, page, key, ready, NONE, issue)
        if learns:
            learn(run, peer, page, core)


@kernel
def _held(run: Run, core: int) -> int:
    from_set = core * run.rules.private_sets
    total = 0
    for at in range(from_set, from_set + run.rules.private_sets):
        total += run.state.tlbs.sets[at * ROW + HELD]
    return total


@apart
def _learn_from_shared(run: Run, core: int, page: int) -> None:
    """Where directories learn from answers: the shared TLB's names whom it has given the entry to."""
    rules, state, plan = run.rules, run.state, run.policies.plan
    if plan.kind != DIRECTORY or rules.shared_entries == 0:
        return
    row = page * rules.words
    peer = next_core(state.given, row, rules.words, 0)
    while peer != NO_CORE:
        if peer != core:
            learn(run, core, page, peer)
        peer = next_core(state.given, row, rules.words, peer + 1)
    if has_core(state.held, row, core):
        add_core(state.given, row, core)


@apart
def _take_register(run: Run, core: int, at: int, soonest: int) -> int:
    """Wait for a miss-status register, all of which are in use; while they are, the core starts nothing."""
    run.state.counters[MSHR_WAIT] += soonest - at
    run.state.stall[core] = max(run.state.stall[core], soonest)
    _look_at_registers(run, core, NO_PAGE, soonest)
    return soonest


@apart
def _look_at_registers(run: Run, core: int, page: int, at: int) -> tuple[int, int]:
    """Free the registers of misses that are done at a cycle; the earliest end of the others, and that of a page's."""
    state, first = run.state, core * run.rules.mshrs
    kept, soonest, own = first, NEVER, NOT_AWAITED
    for register in range(first, first + state.under_way[core]):
        done, awaited = state.missing[register], state.awaited[register]
        if done > at:
            state.missing[kept], state.awaited[kept] = done, awaited
            kept += 1
            soonest = min(soonest, done)
            if awaited == page:
                own = done
    state.under_way[core] = kept - first
    return soonest, own


@kernel
def _note_missing(run: Run, core: int, page: int, done: int) -> None:
    state = run.state
    register = core * run.rules.mshrs + state.under_way[core]
    state.missing[register], state.awaited[register] = done, page
    state.under_way[core] += 1
    state.last_done[core] = max(state.last_done[core], done)


@apart
def _join_no_more(run: Run, page: int) -> None:
    """Nobody joins the misses of a page that are under way: what they bring is out of date."""
    rules, state = run.rules, run.state
    for core in range(rules.cores):
        first = core * rules.mshrs
        for register in range(first, first + state.under_way[core]):
            if state.awaited[register] == page:
                state.awaited[register] = UNMAPPED


@apart
def unmap(run: Run, core: int, page: int, key: int, issue: int) -> None:
    """Take a page out of every TLB (spec 4, E15): tell its holders, or every core, and wait for the last answer."""
    rules, state = run.rules, run.state
    if run.policies.plan.update == MESSAGE:
        deliver_news(run, issue)
    state.counters[SHOOTDOWNS] += 1
    row, farthest, told = page * rules.words, 0, 0
    for other in range(rules.cores):
        if other != core and (not rules.targeted or has_core(state.held, row, other)):
            farthest = max(farthest, state.hops[core * rules.cores + other])
            told += 1
    state.messages[SHOT] += 2 * told
    if told:
        back = max(issue, state.stall[core]) + 2 * farthest * rules.hop_cycles + rules.private_cycles
        state.stall[core] = back
    news = state.counters[NEWS]
    invalidate_private(run, page, key, issue)
    state.counters[NEWS] = news
    _drop_far(run, page, key)
    _join_no_more(run, page)
    if rules.beliefs:
        for word in range(page * rules.cores * rules.words, (page + 1) * rules.cores * rules.words):
            state.belief[word] = 0


@apart
def _drop_far(run: Run, page: int, key: int) -> None:
    """Take a page out of the TLBs behind the private ones."""
    rules, state = run.rules, run.state
    first_set = rules.cores * rules.private_sets
    for cluster in range(rules.clusters):
        entry = find(run, rules.cores + cluster, page)
        if entry != NOWHERE:
            remove(state.tlbs, first_set + cluster * rules.cluster_sets + set_of(key, rules.cluster_sets), entry)
            forget_place(run, rules.cores + cluster, page)
    if rules.shared_entries:
        entry = find(run, rules.tlbs - 1, page)
        if entry != NOWHERE:
            drop_shared(
                run, page, entry, first_set + rules.clusters * rules.cluster_sets + set_of(key, rules.shared_sets)
            )


@apart
def sample(run: Run) -> None:
    """Look at who shares what: entries by the degree of their page, and pages that two cores both hold."""
    rules, state = run.rules, run.state
    state.counters[SAMPLES] += 1
    for entry in range(rules.cores * rules.private_entries):
        page = state.tlbs.entries[entry * ROW + PAGE]
        if page != NONE:
            row, core = page * rules.words, entry // rules.private_entries
            state.degrees[count_cores(state.held, row, rules.words)] += 1
            peer = next_core(state.held, row, rules.words, 0)
            while peer != NO_CORE:
                if peer != core:
                    state.pair_sums[core * rules.cores + peer] += 1
                peer = next_core(state.held, row, rules.words, peer + 1)
