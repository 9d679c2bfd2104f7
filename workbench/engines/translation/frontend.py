"""What a core does: it issues an access, which hits, misses or is answered at once, and unmaps pages.

A miss takes a register or waits for one (spec 4, T2, T3). One that is answered before anything else happens is served
in one step, as if each of its events had happened: it takes no register, and none of its messages is an event; a walk
that it needs begins in the same step. A page that is unmapped leaves every TLB, and what is under way of it fills
nothing (spec 4, E15, T12).
"""

from __future__ import annotations

from typing import Any

import numpy as np

from workbench.compiled import inlined, kernel, noinline
from workbench.engines.translation.answers import WAY, tell_hit, tell_issue
from workbench.engines.translation.directory import forget_beliefs, forget_records
from workbench.engines.translation.events import KIND, next_cycle, wake
from workbench.engines.translation.fill import SILENT, UNUSED, USED, fill_private, tell_push, tell_use
from workbench.engines.translation.lookup import (
    FOR_PORT,
    FOR_REGISTER,
    JOINED,
    NOWHERE,
    find,
    kill_misses,
    kill_newest,
    park,
    port_cycle,
    register_of,
    release_warp,
    take_register,
    unpark,
)
from workbench.engines.translation.miss import ANSWER, FROM_PEER, NO_PEER, REQUEST, ask_near, nearest
from workbench.engines.translation.shared_fill import drop_far, invalidate, shared_set, shoot_down_others
from workbench.engines.translation.state import COUNT, MISS, OF, PARKED, WAITING, Run, to_int64
from workbench.engines.translation.statistics import ONE_MESSAGE, count_messages, count_served, sample_if_due
from workbench.engines.translation.trace import order_of_row
from workbench.engines.translation.walker import SHARED, hide_walk, request_at_walkers
from workbench.policies.translation.locate import DIRECTORY
from workbench.records.translation import SERVED_BY
from workbench.structures import event_queue as at
from workbench.structures.bitmaps import FIRST_WORD, NOBODY, next_core
from workbench.structures.set_assoc import NONE, PUSHER, ROW, set_of, touch

PRIVATE: Any = np.int64(SERVED_BY.index("private"))


@inlined
def issue(run: Run, core: int, page: int, key: int, name: int, row: int, since: int, now: int) -> None:
    """Issue an access, which may have to wait for a port; while it does, its core issues nothing.

    `page` is the short number, `key` what entries are found by, `name` the page of the trace; its latency counts from
    `since`.
    """
    start = port_cycle(run.state.ports, core, run.rules.private_ports, now)
    if start > now:
        run.state.counters[COUNT.port_wait] += start - now
        _halt(run, core, park(run, since, name, page, key, row, FOR_PORT, start))
        wake(run, core, start, now)
    else:
        _look_up_own(run, core, page, key, name, row, since, now)


@kernel
def _halt(run: Run, core: int, place: int) -> None:
    """Let a core issue nothing until it is woken for an access that waits."""
    run.state.halted[core] = 1
    run.state.blocked[core] = place


@noinline
def _look_up_own(run: Run, core: int, page: int, key: int, name: int, row: int, since: int, now: int) -> None:
    """Look a page up in a core's own TLB as it is now."""
    known = now + run.rules.private_cycles
    if not _hits(run, core, page, key, name, row, since, known, now):
        await_answer(run, core, page, key, name, row, since, known, now)


@noinline
def await_answer(
    run: Run, core: int, page: int, key: int, name: int, row: int, since: int, known: int, now: int
) -> None:
    """Let an access wait for a page that its core's own TLB does not hold, as is known at a cycle.

    It joins the miss of its core that waits for the page already, or takes a register, or waits for one.
    """
    if _joins(run, core, page, key, name, row, since, known):
        tell_issue(run, core, key, row, WAY.joined, now)
        return
    if run.state.in_use[core] == run.rules.mshrs:
        run.state.counters[COUNT.mshr_stalls] += 1
        _halt(run, core, park(run, since, name, page, key, row, FOR_REGISTER, known))
        return
    tell_issue(run, core, key, row, WAY.took_register, now)
    miss = take_register(run, core, page, key, name, row, since)
    ask_near(run, miss, now, known, now)


@inlined
def _hits(run: Run, core: int, page: int, key: int, name: int, row: int, since: int, done: int, now: int) -> bool:
    """Return whether the core's own TLB holds a page, which it then answers at a cycle."""
    entry = find(run, core, page)
    if entry == NOWHERE:
        return False
    use(run, core, key, entry, now)
    count_served(run, core, name, since, done, PRIVATE, NONE)
    if run.rules.keeps_answers:
        tell_hit(run, core, key, row, done, now)
    release_warp(run, core, done, now)
    sample_if_due(run)
    return True


@noinline
def use(run: Run, core: int, key: int, entry: int, now: int) -> None:
    """Note the use of an entry of a core's own TLB, and tell who wants to know."""
    rules, state = run.rules, run.state
    at_set = core * rules.private_sets + set_of(key, rules.private_sets)
    touch(state.tlbs, at_set, entry)
    tell_use(run, run.policies.eviction, entry, at_set, UNUSED, UNUSED, now)
    pusher = state.tlbs.entries[entry * ROW + PUSHER]
    if pusher != NONE:
        # Only the first use of a push counts.
        state.tlbs.entries[entry * ROW + PUSHER] = NONE
        state.counters[COUNT.pushes_used] += 1
        tell_push(run, pusher, core, USED, now)


@inlined
def _joins(run: Run, core: int, page: int, key: int, name: int, row: int, since: int, known: int) -> bool:
    """Return whether the core waits for a page already: then the access is answered with that miss."""
    state, miss = run.state, register_of(run, core, page)
    if miss == NONE:
        return False
    place, at = park(run, since, name, page, key, row, JOINED, known), miss * MISS
    last = state.misses[at + OF.last_joined]
    if last == NONE:
        state.misses[at + OF.joined] = place
    else:
        state.parking[last * PARKED + WAITING.next] = place
    state.misses[at + OF.last_joined] = place
    return True


@noinline
def go_on(run: Run, core: int, place: int, now: int) -> None:
    """Let an access for which its core waited go on: its port is free, or a register, or its page has come."""
    parking, at = run.state.parking, place * PARKED
    since, known, why = parking[at + WAITING.since], parking[at + WAITING.known], parking[at + WAITING.why]
    name, page, key = parking[at + WAITING.name], parking[at + WAITING.page], parking[at + WAITING.key]
    row, dead = parking[at + WAITING.ordinal], parking[at + WAITING.dead]
    unpark(run, place)
    if why == FOR_PORT:
        _look_up_own(run, core, page, key, name, row, since, now)
        return
    # The second look-up is made now and costs nothing; its answer is not known before the first one ends (T3).
    at = max(now, known)
    run.state.counters[COUNT.mshr_wait] += at - known
    if not _hits(run, core, page, key, name, row, since, at, now):
        await_answer(run, core, page, key, name, row, since, at, now)
        # The access took a register: its core was halted, so it has no miss of the page to join, and the freed register
        # is still free.
        if dead:
            kill_newest(run, core, dead)


@inlined
def miss(run: Run, row: int, end: int) -> None:
    """Let a row wait for a page that its core's own TLB does not hold, unless it is answered at once."""
    core, page = to_int64(run.rows.core[row]), to_int64(run.rows.number[row])
    if run.rules.answers_at_once and _serve_at_once(run, row, end, core, page):
        return
    rows, cycle = run.rows, run.rows.cycle[row]
    run.state.counters[COUNT.now] = cycle
    known, order = cycle + run.rules.private_cycles, order_of_row(rows, row)
    await_answer(run, core, page, rows.key[row], rows.page[row], order, cycle, known, cycle)


@inlined
def _serve_at_once(run: Run, row: int, end: int, core: int, page: int) -> bool:
    """Return whether a row that misses is served, or its walk begun, before anything else happens."""
    rules, plan, rows = run.rules, run.policies.plan, run.rows
    if row + 1 == end or run.state.in_use[core] == rules.mshrs or register_of(run, core, page) != NONE:
        return False
    # Strictly before the next event, as orders are not compared here. The next row may have the same cycle: issues rank
    # last (T1).
    quiet, leave = min(next_cycle(run) - 1, rows.cycle[row + 1]), rows.cycle[row] + rules.private_cycles
    if plan.kind == DIRECTORY:
        leave += plan.look_up_cycles
        peer = nearest(run, core, run.state.held, page * rules.words)
        if peer != NO_PEER:
            return _ask_peer(run, row, core, page, peer, leave, quiet)
    return _ask_shared(run, row, core, page, leave, quiet)


@inlined
def _ask_peer(run: Run, row: int, core: int, page: int, peer: int, leave: int, quiet: int) -> bool:
    """Return whether a peer, which holds the page, is asked at a cycle and answers until another."""
    rules, state = run.rules, run.state
    way = state.hops[core * rules.cores + peer] * rules.hop_cycles
    replies = leave + way + rules.private_cycles
    if replies + way > quiet:
        return False
    state.load[peer] += 1
    state.counters[COUNT.remote] += 1
    state.counters[COUNT.noc_trips] += 2
    count_messages(run, REQUEST, ONE_MESSAGE, leave)
    count_messages(run, ANSWER, ONE_MESSAGE, replies)
    _serve_row(run, row, core, page, FROM_PEER, peer, replies + way)
    return True


@inlined
def _ask_shared(run: Run, row: int, core: int, page: int, leave: int, quiet: int) -> bool:
    """Return whether the shared TLB is asked at a cycle and answers, or the walkers are reached, until another."""
    rules, state, done = run.rules, run.state, leave + run.rules.shared_cycles
    if done > quiet:
        return False
    state.counters[COUNT.shared_accesses] += 1
    entry = find(run, rules.tlbs - 1, page)
    if entry == NOWHERE:
        _walk(run, row, core, page, done)
    else:
        touch(state.tlbs, shared_set(run, run.rows.key[row]), entry)
        _serve_row(run, row, core, page, SHARED, NONE, done)
    return True


@inlined
def _serve_row(run: Run, row: int, core: int, page: int, source: int, peer: int, done: int) -> None:
    """Serve a row at a cycle, and fill its core."""
    rows, order = run.rows, order_of_row(run.rows, row)
    run.state.counters[COUNT.now] = done
    count_served(run, core, rows.page[row], rows.cycle[row], done, source, peer)
    fill_private(run, core, page, rows.key[row], NONE, order, done)
    sample_if_due(run)


@inlined
def _walk(run: Run, row: int, core: int, page: int, now: int) -> None:
    """Let a row be at the walkers."""
    rows, order = run.rows, order_of_row(run.rows, row)
    run.state.counters[COUNT.now] = now
    miss = take_register(run, core, page, rows.key[row], rows.page[row], order, rows.cycle[row])
    request_at_walkers(run, miss, now)


@noinline
def unmap(run: Run, core: int, page: int, key: int, row: int, now: int) -> None:
    """Take a page out of the TLBs that the core reaches at once, tell the others, and wait for their answers."""
    state = run.state
    state.counters[COUNT.shootdowns] += 1
    state.acks[core] = shoot_down_others(run, core, page, key, row, now)
    invalidate(run, core, page, key, row, now, SILENT)
    forget_beliefs(run, core, page)
    _forget_everywhere(run, page, key)
    if state.acks[core] > 0:
        state.halted[core] = 1


@noinline
def unmap_everywhere(run: Run, page: int, key: int, row: int, now: int) -> int:
    """Take a page out of every TLB at once, as somebody else decides who is told (spec 6, R11); return how many private
    TLBs held it."""
    rules, state = run.rules, run.state
    state.counters[COUNT.shootdowns] += 1
    before = state.counters[COUNT.shot_down]
    core = next_core(state.held, page * rules.words, rules.words, FIRST_WORD)
    while core != NOBODY:
        invalidate(run, core, page, key, row, now, SILENT)
        core = next_core(state.held, page * rules.words, rules.words, core + 1)
    if rules.beliefs:
        for core in range(rules.cores):
            forget_beliefs(run, core, page)
    _forget_everywhere(run, page, key)
    return state.counters[COUNT.shot_down] - before


@noinline
def _forget_everywhere(run: Run, page: int, key: int) -> None:
    """Take a page out of what is behind the private TLBs, and let what is under way of it fill nothing."""
    forget_records(run, page)
    drop_far(run, page, key)
    kill_misses(run, page)
    hide_walk(run, page)
    # Copies exist only if the fill rule may push.
    if not run.rules.fills_always:
        _kill_copies(run, page)


@noinline
def _kill_copies(run: Run, page: int) -> None:
    """Mark the copies of a page that are on their way to peers."""
    events = run.state.event_queue.events
    for here in range(0, events.size, at.EVENT):
        # A free place has no kind, so it never matches.
        if events[here + at.WHAT] == KIND.copy and events[here + at.PAGE] == page:
            events[here + at.NOTE] = 1


@noinline
def acknowledgement_arrives(run: Run, core: int, now: int) -> None:
    """Let a core go on when every core that it told has answered."""
    run.state.acks[core] -= 1
    if run.state.acks[core] == 0:
        wake(run, core, now, now)
