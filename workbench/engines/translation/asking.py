"""Who is asked before the shared TLB: directories, a central one, a ring of neighbours, a cluster's TLB (spec 4, R6).

Each returns when the answer is there, and from whom; -1 for nobody, and when the shared TLB can be asked.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from workbench.compiled import RAISED, apart, kernel
from workbench.engines.translation.filling import UNUSED, tell_use
from workbench.engines.translation.finding import NOWHERE, find
from workbench.engines.translation.knowing import has_record, known_row, note_record, unlearn
from workbench.engines.translation.network import travel
from workbench.engines.translation.reporting import fail
from workbench.engines.translation.state import NO_PEER, PEER_RAISED, REMOTE, STALE, Run
from workbench.engines.translation.walking import through_port
from workbench.policies.translation.locate.question import CENTRAL, CLUSTER, DIRECTORY, RING
from workbench.policies.translation.peer.question import PEER
from workbench.policies.translation.peer.view import PeerView
from workbench.records.translation import MESSAGES
from workbench.structures.core_bits import count_cores, drop_core, has_core
from workbench.structures.entry_sets import READY, ROW, set_of, touch

NOBODY: Any = np.int64(-1)
WALK_AT_ONCE: Any = np.int64(-2)
"""Instead of a peer: the record says that nobody holds the page, not even the shared TLB (spec 4, E12)."""
REQUEST, ANSWER = MESSAGES.index("request"), MESSAGES.index("answer")
choose_peer = PEER.ask


@apart
def ask_near(run: Run, core: int, page: int, key: int, issue: int, at: int) -> tuple[int, int]:
    """Ask whoever the plan says; see above."""
    kind = run.policies.plan.kind
    if kind == DIRECTORY:
        return _ask_directory(run, core, page, key, issue, at)
    if kind == CENTRAL:
        return _ask_centre(run, core, page, key, issue, at)
    if kind == RING:
        return _ask_ring(run, core, page, key, issue, at)
    if kind == CLUSTER:
        return _ask_cluster(run, core, page, key, at)
    return at, NOBODY


@kernel
def _ask_directory(run: Run, core: int, page: int, key: int, issue: int, at: int) -> tuple[int, int]:
    rules, state, plan = run.rules, run.state, run.policies.plan
    at += max(plan.look_up_cycles - rules.private_cycles, 0) if plan.parallel else plan.look_up_cycles
    if not has_record(run, core, page):
        return at, NOBODY
    if rules.finite:
        note_record(run, core, page)
    left = _named(run, core, page)
    in_shared = rules.shared_entries > 0 and find(run, rules.tlbs - 1, page) != NOWHERE
    for _ in range(plan.tries):
        if left == 0:
            break
        peer = _choose(run, core, issue)
        if peer < 0:
            return at, NOBODY
        if plan.use_l2_bit and in_shared and _round_trip(run, core, peer) > rules.shared_cycles:
            return at, NOBODY
        at, entry = _ask(run, core, peer, page, key, issue, at)
        if entry != NOWHERE:
            return at, peer
        drop_core(state.others, 0, peer)
        if rules.beliefs:
            unlearn(run, core, page, peer)
        left -= 1
    if plan.use_l2_bit and left == 0 and rules.shared_entries > 0 and not in_shared:
        return at, WALK_AT_ONCE
    return at, NOBODY


@kernel
def _named(run: Run, core: int, page: int) -> int:
    """Lay out the other cores that the record names, and count them."""
    rules, state = run.rules, run.state
    words, row = (state.belief if rules.beliefs else state.held), known_row(run, core, page)
    for word in range(rules.words):
        state.others[word] = words[row + word]
    drop_core(state.others, 0, core)
    return count_cores(state.others, 0, rules.words)


@kernel
def _choose(run: Run, core: int, issue: int) -> int:
    """The peer that the policy chooses of those laid out; -1 where it broke its contract."""
    rules, state, policy = run.rules, run.state, run.policies.peer
    peer = choose_peer(
        policy.answer, PeerView(core, rules.cores, state.others, state.hops, state.load, policy.params, policy.memory)
    )
    if 0 <= peer < rules.cores and has_core(state.others, 0, peer):
        return peer
    fail(state.counters, PEER_RAISED if peer == RAISED else NO_PEER, issue, core, peer)
    return NOBODY


@kernel
def _round_trip(run: Run, core: int, peer: int) -> int:
    return 2 * run.state.hops[core * run.rules.cores + peer] * run.rules.hop_cycles + run.rules.private_cycles


@kernel
def _ask(run: Run, core: int, peer: int, page: int, key: int, issue: int, at: int) -> tuple[int, int]:
    """Send a request and wait for the answer: when it is back, and the peer's entry, -1 = it holds none."""
    run.state.messages[ANSWER] += 1
    at, entry = _look_at(run, peer, page, key, issue, _send(run, issue, core, peer, at))
    return travel(run, issue, peer, core, at), entry


@kernel
def _send(run: Run, issue: int, sender: int, receiver: int, at: int) -> int:
    """Send a question to a core: when it is there."""
    run.state.messages[REQUEST] += 1
    run.state.counters[REMOTE] += 1
    run.state.load[receiver] += 1
    return travel(run, issue, sender, receiver, at)


@apart
def _look_at(run: Run, peer: int, page: int, key: int, issue: int, at: int) -> tuple[int, int]:
    """A peer looks a page up: when it knows, and its entry, -1 = none; it waits for one on its way (spec 4, E14)."""
    rules, state = run.rules, run.state
    at = through_port(state.ports, peer, rules.private_ports, issue, at) + rules.private_cycles
    entry = find(run, peer, page)
    if entry == NOWHERE:
        state.counters[STALE] += 1
        return at, NOWHERE
    if run.policies.plan.refreshes_peer:
        at_set = peer * rules.private_sets + set_of(key, rules.private_sets)
        touch(state.tlbs, at_set, entry)
        tell_use(run, run.policies.eviction, entry, at_set, UNUSED, UNUSED, issue)
    return max(at, state.tlbs.entries[entry * ROW + READY]), entry


@apart
def _ask_centre(run: Run, core: int, page: int, key: int, issue: int, at: int) -> tuple[int, int]:
    rules, state = run.rules, run.state
    look_up, centre = run.policies.plan.look_up_cycles, rules.cores // 2
    if _named(run, core, page) == 0:
        return at + look_up, NOBODY
    peer = _choose(run, core, issue)
    if peer < 0:
        return at, NOBODY
    state.messages[REQUEST] += 1
    state.messages[ANSWER] += 1
    at = _send(run, issue, centre, peer, travel(run, issue, core, centre, at) + look_up)
    at, _ = _look_at(run, peer, page, key, issue, at)
    return travel(run, issue, peer, core, at), peer


@apart
def _ask_ring(run: Run, core: int, page: int, key: int, issue: int, at: int) -> tuple[int, int]:
    rules, here = run.rules, core
    for step in range(1, min(run.policies.plan.reach, rules.cores - 1) + 1):
        peer = (core + step) % rules.cores
        at = _send(run, issue, here, peer, at)
        at, entry = _look_at(run, peer, page, key, issue, at)
        if entry != NOWHERE:
            run.state.messages[ANSWER] += 1
            return travel(run, issue, peer, core, at), peer
        here = peer
    return at, NOBODY


@apart
def _ask_cluster(run: Run, core: int, page: int, key: int, at: int) -> tuple[int, int]:
    rules, state, plan = run.rules, run.state, run.policies.plan
    cluster = core // plan.cluster_cores
    at += plan.look_up_cycles
    entry = find(run, rules.cores + cluster, page)
    if entry == NOWHERE:
        return at, NOBODY
    at_set = rules.cores * rules.private_sets + cluster * rules.cluster_sets + set_of(key, rules.cluster_sets)
    touch(state.tlbs, at_set, entry)
    return max(at, state.tlbs.entries[entry * ROW + READY]), cluster
