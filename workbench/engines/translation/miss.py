"""The way of a miss: whom it asks before the shared TLB (spec 4, R6, T8, T9).

It asks directories, a central one, a ring of neighbors or a cluster's TLB. Then it asks the middle TLB of its core's
group, where there is one. Each routine handles one event of its way.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from workbench.compiled import NO_BITS, RAISED, inlined, kernel, noinline, trailing_zeros
from workbench.engines.kit import fail
from workbench.engines.translation.answers import SAYS, tell_holders, tell_row
from workbench.engines.translation.directory import has_record, known_row, note_record, unlearn
from workbench.engines.translation.events import ANSWERS, KIND, REQUESTS, next_cycle, schedule_miss
from workbench.engines.translation.fill import UNUSED, tell_use
from workbench.engines.translation.lookup import NOWHERE, find, port_cycle
from workbench.engines.translation.network import send_miss
from workbench.engines.translation.shared_fill import cluster_set, find_shared, middle_page, middle_set
from workbench.engines.translation.state import COUNT, FAULT, MISS, OF, Run
from workbench.engines.translation.statistics import MIDDLE
from workbench.policies.translation.locate import CENTRAL, CLUSTER, DIRECTORY, ON_RESPONSE, RING
from workbench.policies.translation.peer import PEER, PeerView
from workbench.records.translation import MESSAGES, SERVED_BY
from workbench.structures.bitmaps import FIRST_WORD, copy_cores, count_cores, drop_core, has_core
from workbench.structures.set_assoc import set_of, touch

NO_PEER: Any = np.int64(-1)
FROM_PEER: Any = np.int64(SERVED_BY.index("peer"))
REQUEST: Any = np.int64(MESSAGES.index("request"))
ANSWER: Any = np.int64(MESSAGES.index("answer"))
choose_peer = PEER.ask


@inlined
def ask_near(run: Run, miss: int, read: int, at: int, now: int) -> None:
    """Ask whoever the plan says about a miss that goes on at a cycle; `read` is when it was looked up."""
    plan, core = run.policies.plan, run.state.misses[miss * MISS + OF.core]
    if plan.kind == DIRECTORY and plan.parallel:
        _read_directory(run, miss, max(at, read + plan.look_up_cycles), now)
    elif plan.kind == DIRECTORY and _is_undisturbed(run, at):
        _read_directory(run, miss, at + plan.look_up_cycles, now)
    elif plan.kind == DIRECTORY:
        schedule_miss(run, at, now, KIND.directory, REQUESTS, miss)
    elif plan.kind == CENTRAL:
        _travel(run, miss, KIND.centre, core, run.rules.cores // 2, at, now)
    elif plan.kind == RING:
        _ask_next_neighbour(run, miss, core, at, now)
    elif plan.kind == CLUSTER:
        schedule_miss(run, at, now, KIND.cluster, REQUESTS, miss)
    else:
        ask_shared(run, miss, at, now)


@inlined
def _is_undisturbed(run: Run, at: int) -> bool:
    """Return whether a directory says at a cycle, before its issues, what it says now.

    Nothing happens until then but issues, none of them an unmapping: those change no entry that a directory knows of.
    """
    rows = run.rows
    if not run.rules.reads_ahead or rows.unmap.size > 0 or rows.cycle.size == 0:
        return False
    # As the last known row is not before `at`, no unmapping of a later piece can come before `at`.
    return bool(rows.cycle[rows.cycle.size - 1] >= at and next_cycle(run) > at)


@noinline
def ask_shared(run: Run, miss: int, at: int, now: int) -> None:
    """Send a miss to the shared TLB by way of the middle one of its core's group, where there is one."""
    if run.rules.groups:
        schedule_miss(run, at, now, KIND.middle, REQUESTS, miss)
    else:
        _ask_behind(run, miss, at, now)


@kernel
def _ask_behind(run: Run, miss: int, at: int, now: int) -> None:
    """Send a miss to the shared TLB, or to the walkers where there is none."""
    kind = KIND.shared if run.rules.shared_entries else KIND.walkers
    schedule_miss(run, at, now, kind, REQUESTS, miss)


@inlined
def _travel(run: Run, miss: int, kind: int, sender: int, receiver: int, leave: int, now: int) -> None:
    """Send a request of a miss."""
    send_miss(run, kind, REQUESTS, miss, sender, receiver, leave, now, REQUEST)


@inlined
def _ask(run: Run, miss: int, sender: int, peer: int, leave: int, now: int) -> None:
    """Ask a peer."""
    run.state.misses[miss * MISS + OF.peer] = peer
    run.state.counters[COUNT.remote] += 1
    run.state.load[peer] += 1
    _travel(run, miss, KIND.peer, sender, peer, leave, now)


@inlined
def directory_is_read(run: Run, miss: int, now: int) -> None:
    """Read the directory of a miss's core; its answer is there after the look-up (T4)."""
    _read_directory(run, miss, now + run.policies.plan.look_up_cycles, now)


@noinline
def _read_directory(run: Run, miss: int, at: int, now: int) -> None:
    rules, state, row = run.rules, run.state, miss * MISS
    core, page = state.misses[row + OF.core], state.misses[row + OF.page]
    if not has_record(run, core, page):
        if rules.keeps_rows:
            tell_holders(run, miss, 0, now)
        ask_shared(run, miss, at, now)
        return
    # Reading a record uses it: records are replaced by least recent use (E8).
    if rules.finite:
        note_record(run, core, page)
    in_shared = rules.shared_entries > 0 and find_shared(run, page, state.misses[row + OF.key]) != NOWHERE
    state.misses[row + OF.in_shared] = 1 if in_shared else 0
    _copy_holders(run, miss, core, page)
    if rules.keeps_rows:
        tell_holders(run, miss, state.misses[row + OF.holders], now)
    _ask_or_go_on(run, miss, at, now)


@inlined
def _copy_holders(run: Run, miss: int, core: int, page: int) -> None:
    """Copy the other cores that the record of a page names."""
    rules, state, first = run.rules, run.state, miss * run.rules.words
    words, row = (state.belief if rules.beliefs else state.held), known_row(run, core, page)
    copy_cores(state.left, first, words, row, rules.words)
    drop_core(state.left, first, core)
    state.misses[miss * MISS + OF.holders] = count_cores(state.left, first, rules.words)


@inlined
def _ask_or_go_on(run: Run, miss: int, at: int, now: int) -> None:
    """Ask a holder that is left, where another may be asked, else go on to the shared TLB or the walkers."""
    plan, misses, row = run.policies.plan, run.state.misses, miss * MISS
    left = misses[row + OF.holders]
    if left > 0 and misses[row + OF.tries] < plan.tries:
        if run.rules.asks_nearest:
            _depart(run, miss, at, now)
            return
        schedule_miss(run, at, now, KIND.departure, REQUESTS, miss)
    # No holder is left and the record named no shared entry: the request goes straight to the walkers (E12, M10).
    elif plan.use_l2_bit and left == 0 and run.rules.shared_entries > 0 and not misses[row + OF.in_shared]:
        schedule_miss(run, at, now, KIND.walkers, REQUESTS, miss)
    else:
        ask_shared(run, miss, at, now)


@inlined
def request_departs(run: Run, miss: int, now: int) -> None:
    """Choose a holder and ask it now."""
    _depart(run, miss, now, now)


@noinline
def _depart(run: Run, miss: int, leave: int, now: int) -> None:
    """Choose a holder and ask it at a cycle, from the core or from the center.

    The nearest is the same now and later, so that its request need not be chosen when it leaves.
    """
    plan, core = run.policies.plan, run.state.misses[miss * MISS + OF.core]
    peer = _choose(run, miss, core, now)
    if peer < 0:
        return
    if plan.kind == CENTRAL:
        _ask(run, miss, run.rules.cores // 2, peer, leave, now)
    elif plan.use_l2_bit and run.state.misses[miss * MISS + OF.in_shared] and _is_far(run, core, peer):
        ask_shared(run, miss, leave, now)
    else:
        _ask(run, miss, core, peer, leave, now)


@inlined
def _choose(run: Run, miss: int, core: int, now: int) -> int:
    """Return the holder that the policy chooses; -1 where it broke its contract."""
    if run.rules.asks_nearest:
        return nearest(run, core, run.state.left, miss * run.rules.words)
    return _ask_whom(run, miss, core, now)


@kernel
def nearest(run: Run, core: int, holders: np.ndarray, first: int) -> int:
    """Return the holder that is fewest links away, the lowest of several: the usual answer, one ring after the other.

    The core itself is not asked; -1 where no other core holds the page.
    """
    rules, state = run.rules, run.state
    ring = core * (rules.most_hops + 1) * rules.words
    for _ in range(rules.most_hops):
        ring += rules.words
        for word in range(rules.words):
            there = holders[first + word] & state.rings[ring + word]
            if there != NO_BITS:
                return word * 64 + trailing_zeros(there)
    return NO_PEER


@noinline
def _ask_whom(run: Run, miss: int, core: int, now: int) -> int:
    """Ask the policy which holder is asked."""
    rules, state, policy = run.rules, run.state, run.policies.peer
    # The view reads a bitmap from its first word on, and `left` holds the bitmaps of all misses.
    copy_cores(state.others, FIRST_WORD, state.left, miss * rules.words, rules.words)
    see = PeerView(core, rules.cores, state.others, state.hops, state.load, policy.params, policy.memory)
    peer = choose_peer(policy.answer, see)
    if 0 <= peer < rules.cores and has_core(state.others, FIRST_WORD, peer):
        return peer
    fail(state.counters, FAULT.peer_raised if peer == RAISED else FAULT.no_peer, now, core, peer)
    return NO_PEER


@kernel
def _is_far(run: Run, core: int, peer: int) -> bool:
    """Return whether the shared TLB answers sooner than a peer would."""
    rules = run.rules
    there_and_back = 2 * run.state.hops[core * rules.cores + peer] * rules.hop_cycles
    shared_cycles = rules.shared_cycles + (rules.middle_cycles if rules.groups else 0)
    return bool(there_and_back + rules.private_cycles > shared_cycles)


@inlined
def request_at_peer(run: Run, miss: int, now: int) -> None:
    """Let a request at a peer wait for a port of its TLB."""
    start = port_cycle(run.state.ports, run.state.misses[miss * MISS + OF.peer], run.rules.private_ports, now)
    if start > now:
        schedule_miss(run, start, now, KIND.peer_port, REQUESTS, miss)
    else:
        peer_looks_up(run, miss, now)


@noinline
def peer_looks_up(run: Run, miss: int, now: int) -> None:
    """Look a page up at a peer, which answers, refuses, or hands the probe on."""
    state, plan, row = run.state, run.policies.plan, miss * MISS
    peer, page = state.misses[row + OF.peer], state.misses[row + OF.page]
    entry, leave = find(run, peer, page), now + run.rules.private_cycles
    tell_row(run, miss, SAYS.peer, 2 * peer + (entry != NOWHERE), now)
    if entry != NOWHERE:
        if plan.refreshes_peer:
            _refresh(run, peer, state.misses[row + OF.key], entry, now)
        if plan.update == ON_RESPONSE and plan.kind == DIRECTORY:
            _copy_what_peer_knows(run, miss, peer, page)
        state.misses[row + OF.source] = FROM_PEER
        _reply(run, miss, KIND.answer, peer, leave, now)
        return
    # Probes of a ring count too, although no record named this core.
    state.counters[COUNT.stale] += 1
    if plan.kind == RING:
        _ask_next_neighbour(run, miss, peer, leave, now)
    else:
        _reply(run, miss, KIND.refusal, peer, leave, now)


@inlined
def _refresh(run: Run, peer: int, key: int, entry: int, now: int) -> None:
    """Count a remote hit as a use of the peer's entry."""
    at_set = peer * run.rules.private_sets + set_of(key, run.rules.private_sets)
    touch(run.state.tlbs, at_set, entry)
    tell_use(run, run.policies.eviction, entry, at_set, UNUSED, UNUSED, now)


@kernel
def _copy_what_peer_knows(run: Run, miss: int, peer: int, page: int) -> None:
    """Let an answer carry what the peer's record names, itself among them."""
    state, words = run.state, run.rules.words
    copy_cores(state.left, miss * words, state.belief, known_row(run, peer, page), words)


@inlined
def _reply(run: Run, miss: int, kind: int, peer: int, leave: int, now: int) -> None:
    send_miss(run, kind, ANSWERS, miss, peer, run.state.misses[miss * MISS + OF.core], leave, now, ANSWER)


@noinline
def refusal_arrives(run: Run, miss: int, now: int) -> None:
    """Clear the bit of a peer that does not hold the page, and ask the next (spec 4, R11)."""
    state, row = run.state, miss * MISS
    # The entry left after the central directory was read. The core has no directory that names another holder.
    if run.policies.plan.kind == CENTRAL:
        ask_shared(run, miss, now, now)
        return
    core, page, peer = state.misses[row + OF.core], state.misses[row + OF.page], state.misses[row + OF.peer]
    drop_core(state.left, miss * run.rules.words, peer)
    state.misses[row + OF.peer] = NO_PEER
    state.misses[row + OF.holders] -= 1
    state.misses[row + OF.tries] += 1
    if run.rules.beliefs:
        unlearn(run, core, page, peer)
    _ask_or_go_on(run, miss, now, now)


@noinline
def request_at_centre(run: Run, miss: int, now: int) -> None:
    """Read the central directory, which is always right; the request goes on from there."""
    row, misses = miss * MISS, run.state.misses
    _copy_holders(run, miss, misses[row + OF.core], misses[row + OF.page])
    _ask_or_go_on(run, miss, now + run.policies.plan.look_up_cycles, now)


@noinline
def _ask_next_neighbour(run: Run, miss: int, here: int, leave: int, now: int) -> None:
    """Send the probe to the next core of the ring, or, after the last, ask the shared TLB."""
    rules, misses, row = run.rules, run.state.misses, miss * MISS
    misses[row + OF.tries] += 1
    # The first cores - 1 steps reach every other core; one more would reach the probe's own.
    if misses[row + OF.tries] > min(run.policies.plan.reach, rules.cores - 1):
        misses[row + OF.peer] = NO_PEER
        ask_shared(run, miss, leave, now)
    else:
        _ask(run, miss, here, (here + 1) % rules.cores, leave, now)


@noinline
def cluster_looks_up(run: Run, miss: int, now: int) -> None:
    """Look a page up in the TLB of the core's cluster."""
    state, plan, row = run.state, run.policies.plan, miss * MISS
    cluster, key = state.misses[row + OF.core] // plan.cluster_cores, state.misses[row + OF.key]
    entry = find(run, run.rules.cores + cluster, state.misses[row + OF.page])
    if entry == NOWHERE:
        ask_shared(run, miss, now + plan.look_up_cycles, now)
        return
    touch(state.tlbs, cluster_set(run, cluster, key), entry)
    state.misses[row + OF.source], state.misses[row + OF.peer] = FROM_PEER, cluster
    schedule_miss(run, now + plan.look_up_cycles, now, KIND.answer, ANSWERS, miss)


@noinline
def request_at_middle(run: Run, miss: int, now: int) -> None:
    """Let a request at the middle TLB of its core's group wait for a port."""
    state = run.state
    state.counters[COUNT.middle_accesses] += 1
    group = state.group_of[state.misses[miss * MISS + OF.core]]
    start = port_cycle(state.middle_ports, group, run.rules.middle_ports, now)
    if start > now:
        schedule_miss(run, start, now, KIND.middle_port, REQUESTS, miss)
    else:
        middle_looks_up(run, miss, now)


@noinline
def middle_looks_up(run: Run, miss: int, now: int) -> None:
    """Look a page up in the middle TLB of its core's group; a request that it cannot answer goes on when that is
    known."""
    state, rules, row = run.state, run.rules, miss * MISS
    group, key = state.group_of[state.misses[row + OF.core]], state.misses[row + OF.key]
    entry = find(run, rules.cores + rules.clusters + group, middle_page(run, state.misses[row + OF.page], key))
    if entry == NOWHERE:
        _ask_behind(run, miss, now + rules.middle_cycles, now)
        return
    touch(state.tlbs, middle_set(run, group, key), entry)
    state.misses[row + OF.source] = MIDDLE
    schedule_miss(run, now + rules.middle_cycles, now, KIND.answer, ANSWERS, miss)
