"""Entries come into TLBs, and others make room for them (spec 4, section 7, R14-R28, T7, T8).

TLBs are private ones, those of clusters, and the shared one. Entries of the shared one that are predicted dead are not
made (docs/translation-rules.md). Shoot-downs take entries out of private TLBs: those of an unmapping, and of what
leaves an inclusive shared TLB (E13, E15).
"""

from __future__ import annotations

from typing import Any

import numpy as np

from workbench.compiled import NO_ANSWER, RAISED, inlined, kernel, noinline
from workbench.engines.kit import FINE, STOP, fail
from workbench.engines.translation.directory import forget_beliefs, forget_records, gained, keep_record, lost
from workbench.engines.translation.events import ANSWERS, KIND, NEWS, SAYS, tell
from workbench.engines.translation.lookup import NOWHERE, find, forget_place, note_place
from workbench.engines.translation.network import NO_NOTE, forward, send
from workbench.engines.translation.state import COUNT, FAULT, Run
from workbench.engines.translation.statistics import ONE_MESSAGE, count_messages, log
from workbench.policies.translation.eviction.question import INCOMING, TOUCHED, ReadyEviction
from workbench.policies.translation.eviction.victim import ENDLESS, choose_victim
from workbench.policies.translation.eviction.view import IncomingView, TouchView
from workbench.policies.translation.fill import FILL, REFUSED, TOLD, FillNotice, FillView
from workbench.policies.translation.locate import DIRECTORY
from workbench.records import translation as kinds
from workbench.records.translation import MESSAGES
from workbench.structures.bitmaps import FIRST_WORD, NOBODY, has_core, next_core
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
told = TOLD.ask


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
        fault = FAULT.shared_eviction_raised if first_set > 0 else FAULT.eviction_raised
        fail(run.state.counters, fault, now, NONE, RAISED)


@noinline
def fill_private(run: Run, core: int, page: int, key: int, pusher: int, row: int, now: int) -> None:
    """Put a page into a core's own TLB, which does not hold it."""
    rules, state = run.rules, run.state
    at = core * rules.private_sets + set_of(key, rules.private_sets)
    tell_incoming(run, run.policies.eviction, page, at, UNUSED, now)
    entry, victim = take_free(state.tlbs, at), NONE
    if entry == NONE:
        entry = _make_room(run, core, at, row, now)
        if entry == NONE:
            return
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
    entry = _victim(run, core, at)
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
def _victim(run: Run, core: int, at: int) -> int:
    """Ask for the entry of a full set of a private TLB that goes."""
    rules, state = run.rules, run.state
    if rules.evicts_oldest:
        return state.tlbs.sets[at * ROW + OLDEST]
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
    answer = told(policy.told, FillNotice(core, peer, used, run.rules.cores, policy.params, policy.memory))
    if answer == RAISED:
        fail(run.state.counters, FAULT.fill_raised, now, core, RAISED)


@kernel
def held_by(run: Run, core: int) -> int:
    """Return how many entries of a core's own TLB are in use."""
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
    if answer == RAISED or answer < REFUSED or answer >= rules.cores:
        fail(state.counters, FAULT.fill_raised if answer == RAISED else FAULT.no_push, now, core, answer)
        return
    if answer == REFUSED:
        state.counters[COUNT.refused_fills] += 1
        return
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
    elif state.counters[STOP.fault] == FINE and find(run, peer, page) == NOWHERE:
        send(run, KIND.copy, ANSWERS, peer, key, row, core, page, THERE, core, peer, now, now, PUSHED)


@noinline
def copy_arrives(run: Run, peer: int, page: int, key: int, pusher: int, row: int, now: int) -> None:
    """Enter a copy that has come, unless the page is there by now."""
    if find(run, peer, page) == NOWHERE:
        run.state.counters[COUNT.pushes] += 1
        fill_private(run, peer, page, key, pusher, row, now)


@kernel
def cluster_set(run: Run, cluster: int, key: int) -> int:
    """Return the set of a cluster's TLB that a page belongs to."""
    rules = run.rules
    return rules.cores * rules.private_sets + cluster * rules.cluster_sets + set_of(key, rules.cluster_sets)


@kernel
def first_shared_set(run: Run) -> int:
    """Return the first set of the shared TLB."""
    rules = run.rules
    return rules.cores * rules.private_sets + rules.clusters * rules.cluster_sets


@kernel
def shared_set(run: Run, key: int) -> int:
    """Return the set of the shared TLB that a page belongs to."""
    return first_shared_set(run) + set_of(key, run.rules.shared_sets)


@noinline
def fill_cluster(run: Run, core: int, page: int, key: int) -> None:
    """Keep a page in the TLB of a core's cluster, which evicts its least recently used entry."""
    rules, state = run.rules, run.state
    cluster = core // run.policies.plan.cluster_cores
    tlb, at = rules.cores + cluster, cluster_set(run, cluster, key)
    if find(run, tlb, page) != NOWHERE:
        return
    entry = take_free(state.tlbs, at)
    if entry == NONE:
        entry = state.tlbs.sets[at * ROW + OLDEST]
        forget_place(run, tlb, state.tlbs.entries[entry * ROW + PAGE])
        remove(state.tlbs, at, entry)
        entry = take_free(state.tlbs, at)
    insert(state.tlbs, at, entry, page, THERE, NONE)
    note_place(run, tlb, page, entry)


@noinline
def fill_shared(run: Run, page: int, key: int, row: int, now: int) -> None:
    """Put a page into the shared TLB, unless it is there; the victim is chosen now."""
    rules, state, policy = run.rules, run.state, run.policies.shared_eviction
    if rules.shared_entries == 0 or find(run, rules.tlbs - 1, page) != NOWHERE:
        return
    if rules.dead_threshold and is_bypassed(run, key):
        return
    at = shared_set(run, key)
    tell_incoming(run, policy, page, at, first_shared_set(run), now)
    entry = take_free(state.tlbs, at)
    if entry == NONE:
        entry = _shared_victim(run, at)
        if entry < 0:
            fail_eviction(run, entry, OF_SHARED, NONE, now)
            return
        gone = state.tlbs.entries[entry * ROW + PAGE]
        if rules.dead_threshold:
            is_evicted(run, state.key_of[gone], entry)
        _forget_shared(run, gone)
        if rules.inclusive:
            shoot_down_holders(run, gone, row, now)
        replace(state.tlbs, at, entry, page, THERE, NONE)
    else:
        insert(state.tlbs, at, entry, page, THERE, NONE)
    note_place(run, rules.tlbs - 1, page, entry)
    if rules.dead_threshold:
        state.entry_used[entry] = 0
    tell_use(run, policy, entry, at, first_shared_set(run), FRESH, now)


@inlined
def _shared_victim(run: Run, at: int) -> int:
    """Ask for the entry of a full set of the shared TLB that goes."""
    state, row = run.state, at * ROW
    sets = state.tlbs.sets
    if run.rules.shared_evicts_oldest:
        return sets[row + OLDEST]
    return choose_victim(
        run.policies.shared_eviction,
        at - first_shared_set(run),
        sets[row + FIRST],
        sets[row + WAYS],
        sets[row + NEWEST],
        sets[row + OLDEST],
        sets[row + EARLIEST],
        state.tlbs.entries,
        state.held,
        UNUSED,
        UNUSED,
        UNUSED,
    )


@inlined
def drop_shared(run: Run, page: int, entry: int, at: int) -> None:
    """Take an entry out of the shared TLB."""
    remove(run.state.tlbs, at, entry)
    _forget_shared(run, page)


@inlined
def _forget_shared(run: Run, page: int) -> None:
    """Forget that the shared TLB holds a page, and whom it was given to."""
    forget_place(run, run.rules.tlbs - 1, page)
    if run.state.given.size > 0:
        for word in range(page * run.rules.words, (page + 1) * run.rules.words):
            run.state.given[word] = 0


@noinline
def drop_far(run: Run, page: int, key: int) -> None:
    """Take a page out of the TLBs behind the private ones."""
    rules, state = run.rules, run.state
    for cluster in range(rules.clusters):
        entry = find(run, rules.cores + cluster, page)
        if entry != NOWHERE:
            remove(state.tlbs, cluster_set(run, cluster, key), entry)
            forget_place(run, rules.cores + cluster, page)
    if rules.shared_entries:
        entry = find(run, rules.tlbs - 1, page)
        if entry != NOWHERE:
            drop_shared(run, page, entry, shared_set(run, key))


NO_TAG: Any = np.int64(-1)


@kernel
def _counter_of(run: Run, tag: int) -> int:
    """Return the counter of a tag's region."""
    return (tag // run.rules.dead_region) % run.state.dead_counts.size


@noinline
def is_bypassed(run: Run, tag: int) -> bool:
    """Return whether the entry of a tag is predicted dead; it is counted and remembered then."""
    state = run.state
    if state.dead_counts[_counter_of(run, tag)] < run.rules.dead_threshold:
        return False
    state.counters[COUNT.bypassed_entries] += 1
    size = state.bypassed.size
    if size > 0:
        place = _place_of(run, tag)
        for at in range(max(place, 0), size - 1):
            state.bypassed[at] = state.bypassed[at + 1]
        state.bypassed[size - 1] = tag
    return True


@kernel
def _place_of(run: Run, tag: int) -> int:
    """Return where a tag stands among those remembered, the newest last; -1 = nowhere."""
    for at in range(run.state.bypassed.size):
        if run.state.bypassed[at] == tag:
            return at
    return -1


@noinline
def is_missed(run: Run, tag: int) -> None:
    """Learn from a tag that the shared TLB does not hold: it was bypassed wrongly where it is remembered."""
    state, place = run.state, _place_of(run, tag)
    if place >= 0:
        for at in range(place, 0, -1):
            state.bypassed[at] = state.bypassed[at - 1]
        state.bypassed[0] = NO_TAG
        state.dead_counts[_counter_of(run, tag)] = 0


@noinline
def is_evicted(run: Run, tag: int, entry: int) -> None:
    """Learn from an entry of the shared TLB that makes room."""
    state, counter = run.state, _counter_of(run, tag)
    if state.entry_used[entry]:
        state.dead_counts[counter] = 0
    else:
        state.dead_counts[counter] = min(state.dead_counts[counter] + 1, run.rules.dead_threshold)


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


INVALIDATE: Any = np.int64(kinds.INVALIDATE)
SHOT: Any = np.int64(MESSAGES.index("shootdown"))
OF_INCLUSION: Any = np.int64(-1)
"""Instead of the core that unmaps."""


@noinline
def shoot_down_holders(run: Run, page: int, row: int, now: int) -> None:
    """Tell the holders of a page that left an inclusive shared TLB, which lies beside the core in the middle."""
    rules, state, centre = run.rules, run.state, run.rules.cores // 2
    key, of = state.key_of[page], OF_INCLUSION
    peer = next_core(state.held, page * rules.words, rules.words, FIRST_WORD)
    while peer != NOBODY:
        if peer == centre:
            count_messages(run, SHOT, ONE_MESSAGE, now)
            forward(run, KIND.shoot_down, NEWS, centre, key, row, of, page, NO_NOTE, peer, peer, now, now)
        else:
            send(run, KIND.shoot_down, NEWS, centre, key, row, of, page, NO_NOTE, centre, peer, now, now, SHOT)
        peer = next_core(state.held, page * rules.words, rules.words, peer + 1)
    forget_records(run, page)


@noinline
def shoot_down_others(run: Run, core: int, page: int, key: int, row: int, now: int) -> int:
    """Tell the holders of a page that a core unmaps, or every core; return how many are told."""
    rules, state, informed = run.rules, run.state, 0
    for other in range(rules.cores):
        if other != core and (not rules.targeted or has_core(state.held, page * rules.words, other)):
            send(run, KIND.shoot_down, NEWS, core, key, row, core, page, NO_NOTE, core, other, now, now, SHOT)
            informed += 1
    return informed


@noinline
def shoot_down_arrives(run: Run, peer: int, page: int, key: int, sender: int, row: int, now: int) -> None:
    """Take the page out of a core's own TLB, and acknowledge an unmapping."""
    inclusion = sender == OF_INCLUSION
    invalidate(run, peer, page, key, row, now, TELLS if inclusion else SILENT)
    if not inclusion:
        forget_beliefs(run, peer, page)
        leave = now + run.rules.private_cycles
        send(run, KIND.acknowledgement, NEWS, peer, key, row, sender, page, NO_NOTE, peer, sender, leave, now, SHOT)


@noinline
def invalidate(run: Run, core: int, page: int, key: int, row: int, now: int, tells: int) -> None:
    """Take a page out of a core's own TLB, if it is there."""
    entry = find(run, core, page)
    if entry == NOWHERE:
        return
    at = core * run.rules.private_sets + set_of(key, run.rules.private_sets)
    drop_private(run, core, page, entry, at, row, now, tells)
    run.state.counters[COUNT.shot_down] += 1
    log(run, now, INVALIDATE, core, page, NONE, NONE, NONE)
