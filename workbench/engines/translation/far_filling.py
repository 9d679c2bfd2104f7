"""Entries of the TLBs behind the private ones: those of clusters, and the shared one (spec 4, section 7, T7)."""

from __future__ import annotations

from workbench.compiled import inlined, kernel, noinline
from workbench.engines.translation.announcing import tell_incoming
from workbench.engines.translation.bypassing import is_bypassed, is_evicted
from workbench.engines.translation.filling import FRESH, OF_SHARED, THERE, UNUSED, fail_eviction, tell_use
from workbench.engines.translation.finding import NOWHERE, find, forget_place, note_place
from workbench.engines.translation.shooting_down import shoot_down_holders
from workbench.engines.translation.state import Run
from workbench.policies.translation.eviction.victim import choose_victim
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
