"""A core issues an access: its TLB is looked up, and a miss takes a register or waits for one (spec 4, T2, T3)."""

from __future__ import annotations

from typing import Any

import numpy as np

from workbench.compiled import inlined, kernel, noinline
from workbench.engines.translation.asking import ask_near
from workbench.engines.translation.counters import COUNT
from workbench.engines.translation.filling import UNUSED, USED, tell_push, tell_use
from workbench.engines.translation.finding import NOWHERE, find
from workbench.engines.translation.parking import FOR_PORT, FOR_REGISTER, JOINED, park, unpark
from workbench.engines.translation.ports import port_cycle
from workbench.engines.translation.registers import kill_newest, register_of, take_register
from workbench.engines.translation.releasing import release_warp
from workbench.engines.translation.reporting import count_served
from workbench.engines.translation.sampling import sample_if_due
from workbench.engines.translation.scheduling import wake
from workbench.engines.translation.state import MISS, PARKED, Run
from workbench.engines.translation.telling import WAY, tell_hit, tell_issue
from workbench.engines.translation.under_way import OF, WAITING
from workbench.records.translation import SERVED_BY
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
        _look_up(run, core, page, key, name, row, since, now)


@kernel
def _halt(run: Run, core: int, place: int) -> None:
    """Let a core issue nothing until it is woken for an access that waits."""
    run.state.halted[core] = 1
    run.state.blocked[core] = place


@noinline
def _look_up(run: Run, core: int, page: int, key: int, name: int, row: int, since: int, now: int) -> None:
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
        _look_up(run, core, page, key, name, row, since, now)
        return
    at = max(now, known)
    run.state.counters[COUNT.mshr_wait] += at - known
    if not _hits(run, core, page, key, name, row, since, at, now):
        await_answer(run, core, page, key, name, row, since, at, now)
        if dead:
            kill_newest(run, core, dead)
