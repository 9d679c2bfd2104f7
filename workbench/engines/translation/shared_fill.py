"""Fills of the shared TLB, of middle ones and of clusters': sets, victims, bypass, inclusion (spec 4, section 7).

Entries that are predicted dead are not made (docs/translation-rules.md). Shoot-downs take entries out of private TLBs:
those of an unmapping, and of what leaves an inclusive shared TLB (E13, E15).
"""

from __future__ import annotations

from typing import Any

import numpy as np

from workbench.compiled import inlined, kernel, noinline
from workbench.engines.translation.directory import forget_beliefs, forget_records
from workbench.engines.translation.events import KIND, NEWS
from workbench.engines.translation.fill import (
    FRESH,
    OF_SHARED,
    SILENT,
    TELLS,
    THERE,
    UNUSED,
    drop_private,
    fail_eviction,
    tell_incoming,
    tell_use,
)
from workbench.engines.translation.lookup import NOWHERE, find, forget_place, note_place
from workbench.engines.translation.network import NO_NOTE, forward, send
from workbench.engines.translation.state import COUNT, Run
from workbench.engines.translation.statistics import ONE_MESSAGE, count_messages, log
from workbench.policies.translation.eviction.victim import choose_victim
from workbench.records import translation as kinds
from workbench.records.translation import MESSAGES
from workbench.structures.bitmaps import FIRST_WORD, NOBODY, has_core, next_core
from workbench.structures.key_index import known_number
from workbench.structures.set_assoc import (
    EARLIEST,
    FIRST,
    NEWEST,
    NONE,
    OLDEST,
    PAGE,
    ROW,
    WAYS,
    insert,
    remove,
    replace,
    set_of,
    take_free,
)


@kernel
def cluster_set(run: Run, cluster: int, key: int) -> int:
    """Return the set of a cluster's TLB that a page belongs to."""
    rules = run.rules
    return rules.cores * rules.private_sets + cluster * rules.cluster_sets + set_of(key, rules.cluster_sets)


@kernel
def first_shared_set(run: Run) -> int:
    """Return the first set of the shared TLB."""
    rules = run.rules
    return rules.cores * rules.private_sets + rules.clusters * rules.cluster_sets + rules.groups * rules.middle_sets


@kernel
def shared_set(run: Run, key: int) -> int:
    """Return the set of the shared TLB that a page belongs to."""
    return first_shared_set(run) + set_of(key >> run.rules.shared_shift, run.rules.shared_sets)


@kernel
def middle_set(run: Run, group: int, key: int) -> int:
    """Return the set of a group's middle TLB that a page belongs to."""
    rules = run.rules
    first = rules.cores * rules.private_sets + rules.clusters * rules.cluster_sets
    return first + group * rules.middle_sets + set_of(key >> rules.middle_shift, rules.middle_sets)


@inlined
def shared_page(run: Run, page: int, key: int) -> int:
    """Return the short number by which the shared TLB knows a page: that of the first page which its entry covers."""
    return _first_page(run, key, run.rules.shared_shift) if run.rules.shared_shift else page


@inlined
def middle_page(run: Run, page: int, key: int) -> int:
    """Return the short number by which middle TLBs know a page."""
    return _first_page(run, key, run.rules.middle_shift) if run.rules.middle_shift else page


@noinline
def _first_page(run: Run, key: int, shift: int) -> int:
    # The first page always has a number: the trace numbers it (`number_first_pages`).
    return known_number(run.state.numbers, (key >> shift) << shift)


@inlined
def find_shared(run: Run, page: int, key: int) -> int:
    """Return the entry of the shared TLB that covers a page, or -1."""
    return find(run, run.rules.tlbs - 1, shared_page(run, page, key))


@noinline
def fill_cluster(run: Run, core: int, page: int, key: int) -> None:
    """Keep a page in the TLB of a core's cluster."""
    cluster = core // run.policies.plan.cluster_cores
    _keep(run, run.rules.cores + cluster, page, cluster_set(run, cluster, key))


@noinline
def fill_middle(run: Run, core: int, page: int, key: int) -> None:
    """Keep a page in the middle TLB of a core's group."""
    rules, group = run.rules, run.state.group_of[core]
    tlb = rules.cores + rules.clusters + group
    _keep(run, tlb, middle_page(run, page, key), middle_set(run, group, key))


@noinline
def _keep(run: Run, tlb: int, page: int, at: int) -> None:
    """Keep a page in a set of a TLB that evicts its least recently used entry."""
    state = run.state
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
    page = shared_page(run, page, key)
    if rules.shared_entries == 0 or find(run, rules.tlbs - 1, page) != NOWHERE:
        return
    if rules.dead_threshold and is_bypassed(run, key >> rules.shared_shift):
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
            is_evicted(run, state.key_of[gone] >> rules.shared_shift, entry)
        _forget_shared(run, gone)
        # Middle TLBs lose the page at once (M9), private ones when the shoot-down arrives.
        if rules.inclusive:
            _drop_middle(run, gone, state.key_of[gone])
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
    _drop_middle(run, page, key)
    if rules.shared_entries:
        entry = find_shared(run, page, key)
        if entry != NOWHERE:
            drop_shared(run, shared_page(run, page, key), entry, shared_set(run, key))


@kernel
def _drop_middle(run: Run, page: int, key: int) -> None:
    """Take a page out of the middle TLBs."""
    rules, state = run.rules, run.state
    for group in range(rules.groups):
        known, tlb = middle_page(run, page, key), rules.cores + rules.clusters + group
        entry = find(run, tlb, known)
        if entry != NOWHERE:
            remove(state.tlbs, middle_set(run, group, key), entry)
            forget_place(run, tlb, known)


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
        # A new tag displaces what is at the front: an empty place, else the oldest tag.
        for at in range(max(place, 0), size - 1):
            state.bypassed[at] = state.bypassed[at + 1]
        state.bypassed[size - 1] = tag
    return True


@kernel
def _place_of(run: Run, tag: int) -> int:
    """Return the place of a tag among those remembered, the newest last; -1 = nowhere."""
    for at in range(run.state.bypassed.size):
        if run.state.bypassed[at] == tag:
            return at
    return -1


@noinline
def is_missed(run: Run, tag: int) -> None:
    """Learn from a tag that the shared TLB does not hold: it was bypassed wrongly where it is remembered."""
    state, place = run.state, _place_of(run, tag)
    if place >= 0:
        # The gap moves to the old end, so it is filled first.
        for at in range(place, 0, -1):
            state.bypassed[at] = state.bypassed[at - 1]
        state.bypassed[0] = NO_TAG
        state.dead_counts[_counter_of(run, tag)] = 0


@noinline
def is_evicted(run: Run, tag: int, entry: int) -> None:
    """Learn from an entry of the shared TLB that makes space."""
    state, counter = run.state, _counter_of(run, tag)
    if state.entry_used[entry]:
        state.dead_counts[counter] = 0
    else:
        state.dead_counts[counter] = min(state.dead_counts[counter] + 1, run.rules.dead_threshold)


INVALIDATE: Any = np.int64(kinds.INVALIDATE)
SHOT: Any = np.int64(MESSAGES.index("shootdown"))
OF_INCLUSION: Any = np.int64(-1)
"""Instead of the core that unmaps."""


@noinline
def shoot_down_holders(run: Run, page: int, row: int, now: int) -> None:
    """Notify the holders of a page that left an inclusive shared TLB, which lies next to the core in the middle."""
    rules, state, centre = run.rules, run.state, run.rules.cores // 2
    key, of = state.key_of[page], OF_INCLUSION
    peer = next_core(state.held, page * rules.words, rules.words, FIRST_WORD)
    while peer != NOBODY:
        # The shared TLB is next to this core, so the message takes no link, but it counts.
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
    # A shoot-down by inclusion tells no directory, so the entry sends news like any victim.
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
