"""Fills of private TLBs: an entry comes in, and another one makes space for it (spec 4, section 7, R14-R28, T7, T8)."""

from __future__ import annotations

from typing import Any

import numpy as np

from workbench.compiled import NO_ANSWER, RAISED, inlined, kernel, noinline
from workbench.engines.kit import FINE, STOP, fail
from workbench.engines.translation.answers import SAYS, tell
from workbench.engines.translation.directory import gained, keep_record, lost
from workbench.engines.translation.events import ANSWERS, KIND
from workbench.engines.translation.lookup import NOWHERE, find, forget_place, note_place
from workbench.engines.translation.network import send
from workbench.engines.translation.state import COUNT, FAULT, Run
from workbench.engines.translation.statistics import log
from workbench.policies.translation.eviction.question import INCOMING, TOUCHED, ReadyEviction
from workbench.policies.translation.eviction.victim import ENDLESS, choose_victim
from workbench.policies.translation.eviction.view import IncomingView, TouchView
from workbench.policies.translation.fill import FILL, REFUSED, TOLD, FillNotice, FillView
from workbench.policies.translation.locate import DIRECTORY
from workbench.records import translation as kinds
from workbench.records.translation import MESSAGES
from workbench.structures.set_assoc import (
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
    replace,
    set_of,
    take_free,
)

_KINDS: Any = tuple(np.int64(kind) for kind in (kinds.EVICT, kinds.FILL, kinds.PUSH))
EVICT, FILLED, PUSH = _KINDS
USED: Any = np.int64(1)
UNUSED: Any = np.int64(0)
FRESH: Any = np.int64(1)
TELLS: Any = np.int64(1)
SILENT: Any = np.int64(0)
OF_PRIVATE: Any = np.int64(0)
OF_SHARED: Any = np.int64(1)
THERE: Any = np.int64(0)
"""The cycle from which an entry can be used: what is under way is no entry (T8)."""
PUSHED: Any = np.int64(MESSAGES.index("push"))
touched = TOUCHED.ask
fill = FILL.ask
tell_policy = TOLD.ask


@inlined
def tell_use(run: Run, policy: ReadyEviction, entry: int, at: int, first_set: int, fresh: int, now: int) -> None:
    """Tell an eviction policy that an entry was used, where it wants to know."""
    if policy.touched != NO_ANSWER:
        _tell_use(run, policy, entry, at, first_set, fresh, now)


@noinline
def _tell_use(run: Run, policy: ReadyEviction, entry: int, at: int, first_set: int, fresh: int, now: int) -> None:
    sets, row = run.state.tlbs.sets, at * ROW
    first, ways = sets[row + FIRST], sets[row + WAYS]
    answer = touched(policy.touched, TouchView(entry, at - first_set, first, ways, fresh, policy.params, policy.memory))
    if answer == RAISED:
        # The sets of private TLBs come first, so the first set of the shared TLB is never 0.
        fault = FAULT.shared_eviction_raised if first_set > 0 else FAULT.eviction_raised
        fail(run.state.counters, fault, now, NONE, RAISED)


@noinline
def fill_private(run: Run, core: int, page: int, key: int, pusher: int, row: int, now: int) -> None:
    """Put a page into a core's own TLB, which does not hold it."""
    rules, state = run.rules, run.state
    at = core * rules.private_sets + set_of(key, rules.private_sets)
    # Before the victim is chosen: the policy's choice may depend on the incoming page.
    tell_incoming(run, run.policies.eviction, page, at, UNUSED, now)
    entry, victim = take_free(state.tlbs, at), NONE
    if entry == NONE:
        entry = _make_room(run, core, at, row, now)
        if entry == NONE:
            return
        # The entry still names the victim's page, until `replace`.
        victim = state.key_of[state.tlbs.entries[entry * ROW + PAGE]]
        replace(state.tlbs, at, entry, page, THERE, pusher)
    else:
        insert(state.tlbs, at, entry, page, THERE, pusher)
    note_place(run, core, page, entry)
    gained(run, core, page, key, row, now)
    tell_use(run, run.policies.eviction, entry, at, UNUSED, FRESH, now)
    state.counters[COUNT.fills] += 1
    log(run, now, FILLED if pusher == NONE else PUSH, core, page, NONE, pusher, NONE)
    if rules.keeps_rows:
        tell(run, SAYS.filled, row, now, victim, core, key)


@inlined
def _make_room(run: Run, core: int, at: int, row: int, now: int) -> int:
    """Evict the page of an entry of a full set of a private TLB; -1 where the policy broke its contract."""
    state = run.state
    entry = victim_of(run, core, at)
    if entry < 0:
        fail_eviction(run, entry, OF_PRIVATE, core, now)
        return NONE
    gone, pusher = state.tlbs.entries[entry * ROW + PAGE], state.tlbs.entries[entry * ROW + PUSHER]
    if pusher != NONE:
        state.counters[COUNT.pushes_unused] += 1
        tell_push(run, pusher, core, UNUSED, now)
    state.counters[COUNT.evictions] += 1
    _forget(run, core, gone, row, now, TELLS)
    keep_record(run, core, gone)
    log(run, now, EVICT, core, gone, NONE, NONE, NONE)
    return entry


@inlined
def victim_of(run: Run, core: int, at: int) -> int:
    """Ask for the entry of a full set of a private TLB that goes."""
    rules, state = run.rules, run.state
    if rules.victim_end >= 0:
        return state.tlbs.sets[at * ROW + rules.victim_end]
    # The bitmap of a page begins at page * spread + base. Without a directory every degree is 1.
    spread, base, words = 0, 0, 0
    if run.policies.plan.kind == DIRECTORY:
        words = rules.words
        spread = words * rules.cores if rules.beliefs else words
        base = words * core if rules.beliefs else 0
    sets, row = state.tlbs.sets, at * ROW
    return choose_victim(
        run.policies.eviction,
        at,
        sets[row + FIRST],
        sets[row + WAYS],
        sets[row + NEWEST],
        sets[row + OLDEST],
        sets[row + EARLIEST],
        state.tlbs.entries,
        state.belief if rules.beliefs else state.held,
        spread,
        base,
        words,
    )


@noinline
def fail_eviction(run: Run, answer: int, shared: int, core: int, now: int) -> None:
    """Keep what an eviction policy did wrong, that of the shared TLB or that of the private ones."""
    if answer == RAISED:
        fault = FAULT.shared_eviction_raised if shared else FAULT.eviction_raised
    elif answer == ENDLESS:
        fault = FAULT.endless_shared_eviction if shared else FAULT.endless_eviction
    else:
        fault = FAULT.no_shared_victim if shared else FAULT.no_victim
    fail(run.state.counters, fault, now, core, answer)


@noinline
def drop_private(run: Run, core: int, page: int, entry: int, at: int, row: int, now: int, tells: int) -> None:
    """Take an entry out of a core's own TLB; `tells` says whether news of it leaves."""
    remove(run.state.tlbs, at, entry)
    _forget(run, core, page, row, now, tells)


@noinline
def _forget(run: Run, core: int, page: int, row: int, now: int, tells: int) -> None:
    """Forget that a core's own TLB holds a page."""
    forget_place(run, core, page)
    lost(run, core, page, run.state.key_of[page], row, now, tells)


@kernel
def tell_push(run: Run, core: int, peer: int, used: int, now: int) -> None:
    """Tell the fill rule what became of a copy, where it wants to know."""
    if run.policies.fill.told != NO_ANSWER:
        _tell_push(run, core, peer, used, now)


@noinline
def _tell_push(run: Run, core: int, peer: int, used: int, now: int) -> None:
    policy = run.policies.fill
    answer = tell_policy(policy.told, FillNotice(core, peer, used, run.rules.cores, policy.params, policy.memory))
    if answer == RAISED:
        fail(run.state.counters, FAULT.fill_raised, now, core, RAISED)


@kernel
def held_by(run: Run, core: int) -> int:
    """Return the number of entries of a core's own TLB that are in use."""
    total = 0
    for at in range(core * run.rules.private_sets, (core + 1) * run.rules.private_sets):
        total += run.state.tlbs.sets[at * ROW + HELD]
    return total


@noinline
def fill_as_the_rule_says(run: Run, core: int, page: int, key: int, row: int, now: int) -> None:
    """Fill whom the fill rule says with a translation that came from the shared TLB or a walk."""
    rules, state, policy = run.rules, run.state, run.policies.fill
    entries, counted, held = rules.private_entries, state.shared[core], held_by(run, core)
    answer = fill(
        policy.answer,
        FillView(core, rules.cores, entries, held, counted, state.pairs, state.push, policy.params, policy.memory),
    )
    # The answer is `REFUSED`, or the number of copies: at most as many as there are other cores.
    if answer == RAISED or answer < REFUSED or answer >= rules.cores:
        fail(state.counters, FAULT.fill_raised if answer == RAISED else FAULT.no_push, now, core, answer)
        return
    if answer == REFUSED:
        state.counters[COUNT.refused_fills] += 1
        return
    # A push may have brought the page meanwhile (T8).
    if find(run, core, page) == NOWHERE:
        fill_private(run, core, page, key, NONE, row, now)
    for k in range(answer):
        _push(run, core, state.push[k], page, key, row, now)


@noinline
def _push(run: Run, core: int, peer: int, page: int, key: int, row: int, now: int) -> None:
    """Send a copy to a peer that does not hold the page (spec 4, R21)."""
    state = run.state
    if peer < 0 or peer >= run.rules.cores or peer == core:
        fail(state.counters, FAULT.no_push, now, core, peer)
    # The requester's fill or an earlier push may have stopped the run.
    elif state.counters[STOP.fault] == FINE and find(run, peer, page) == NOWHERE:
        send(run, KIND.copy, ANSWERS, peer, key, row, core, page, THERE, core, peer, now, now, PUSHED)


@noinline
def copy_arrives(run: Run, peer: int, page: int, key: int, pusher: int, row: int, now: int) -> None:
    """Enter a copy that has come, unless the page is there by now."""
    if find(run, peer, page) == NOWHERE:
        run.state.counters[COUNT.pushes] += 1
        fill_private(run, peer, page, key, pusher, row, now)


incoming = INCOMING.ask


@inlined
def tell_incoming(run: Run, policy: ReadyEviction, page: int, at: int, first_set: int, now: int) -> None:
    """Tell an eviction policy which page comes into a set, where it wants to know."""
    if policy.incoming != NO_ANSWER:
        _tell_incoming(run, policy, page, at, first_set, now)


@noinline
def _tell_incoming(run: Run, policy: ReadyEviction, page: int, at: int, first_set: int, now: int) -> None:
    sets, row = run.state.tlbs.sets, at * ROW
    view = IncomingView(page, at - first_set, sets[row + FIRST], sets[row + WAYS], policy.params, policy.memory)
    if incoming(policy.incoming, view) == RAISED:
        fault = FAULT.shared_eviction_raised if first_set > 0 else FAULT.eviction_raised
        fail(run.state.counters, fault, now, NONE, RAISED)
