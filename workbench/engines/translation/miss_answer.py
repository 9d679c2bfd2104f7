"""The answer of a miss: it serves those that wait, frees the register, and fills the core (spec 4, R14-R21, T8, T9)."""

from __future__ import annotations

from typing import Any

import numpy as np

from workbench.compiled import RAISED, inlined, noinline
from workbench.engines.kit import fail
from workbench.engines.translation.answers import fill_comes_first, tell_answer
from workbench.engines.translation.directory import learn, others_known
from workbench.engines.translation.events import wake
from workbench.engines.translation.fill import fill_as_the_rule_says, fill_private, held_by
from workbench.engines.translation.lookup import (
    FOR_CORE,
    FOR_REGISTER,
    NOWHERE,
    find,
    free_register,
    release_warp,
    unpark,
)
from workbench.engines.translation.miss import FROM_PEER
from workbench.engines.translation.shared_fill import fill_cluster, fill_middle, find_shared, shared_page
from workbench.engines.translation.state import COUNT, FAULT, MISS, OF, PARKED, WAITING, Run
from workbench.engines.translation.statistics import MIDDLE, count_served, sample_if_due
from workbench.policies.translation.locate import CLUSTER, DIRECTORY, ON_RESPONSE
from workbench.policies.translation.remote_fill import REMOTE_FILL, RemoteFillView
from workbench.records.translation import SERVED_BY
from workbench.structures.bitmaps import FIRST_WORD, NOBODY, add_core, has_core, next_core
from workbench.structures.set_assoc import NONE

MERGED: Any = np.int64(SERVED_BY.index("merged"))
keep_copy = REMOTE_FILL.ask


@noinline
def answer_arrives(run: Run, miss: int, now: int) -> None:
    """Serve the access that missed and those that joined it, free the register, and fill."""
    state, row = run.state, miss * MISS
    core, page, key = state.misses[row + OF.core], state.misses[row + OF.page], state.misses[row + OF.key]
    ordinal, source, peer = state.misses[row + OF.ordinal], state.misses[row + OF.source], state.misses[row + OF.peer]
    dead, first = state.misses[row + OF.dead], state.counters[COUNT.answered]
    _serve(run, miss, core, now)
    if not dead:
        if source == FROM_PEER:
            _keep(run, miss, core, page, key, peer, ordinal, now)
        else:
            _fill(run, core, page, key, source, ordinal, now)
        if run.rules.keeps_rows:
            fill_comes_first(run, first)
    sample_if_due(run)


@inlined
def _serve(run: Run, miss: int, core: int, now: int) -> None:
    """Count the access that missed and those that joined it as served."""
    state, row = run.state, miss * MISS
    source, peer = state.misses[row + OF.source], state.misses[row + OF.peer]
    if source != FROM_PEER:
        peer = NONE
    count_served(run, core, state.misses[row + OF.name], state.misses[row + OF.since], now, source, peer)
    if run.rules.keeps_answers:
        tell_answer(run, miss, state.misses[row + OF.ordinal], source, now, now)
    release_warp(run, core, now, now)
    _serve_joined(run, miss, core, state.misses[row + OF.joined], now)
    free_register(run, miss)
    blocked = state.blocked[core]
    if blocked != NONE and state.parking[blocked * PARKED + WAITING.why] == FOR_REGISTER:
        # With this mark, a second answer at this cycle does not wake the core again.
        state.parking[blocked * PARKED + WAITING.why] = FOR_CORE
        wake(run, core, now, now)


@inlined
def _serve_joined(run: Run, miss: int, core: int, place: int, now: int) -> None:
    parking = run.state.parking
    while place != NONE:
        at = place * PARKED
        # An access may join a miss that is answered before its own look-up is done.
        done, following = max(now, parking[at + WAITING.known]), parking[at + WAITING.next]
        count_served(run, core, parking[at + WAITING.name], parking[at + WAITING.since], done, MERGED, NONE)
        if run.rules.keeps_answers:
            tell_answer(run, miss, parking[at + WAITING.ordinal], MERGED, done, now)
        release_warp(run, core, done, now)
        unpark(run, place)
        place = following


@inlined
def _fill(run: Run, core: int, page: int, key: int, source: int, ordinal: int, now: int) -> None:
    """Fill after an answer of a middle TLB, of the shared one or of a walk."""
    plan = run.policies.plan
    # An answer of the middle TLB makes no entry there (M5) and teaches no directory (M7).
    if run.rules.groups and source != MIDDLE:
        fill_middle(run, core, page, key)
    if plan.kind == CLUSTER:
        fill_cluster(run, core, page, key)
    if not run.rules.fills_always:
        fill_as_the_rule_says(run, core, page, key, ordinal, now)
    elif find(run, core, page) == NOWHERE:
        fill_private(run, core, page, key, NONE, ordinal, now)
    if plan.kind == DIRECTORY and plan.update == ON_RESPONSE and source != MIDDLE:
        _learn_from_shared(run, core, page, key)


@inlined
def _keep(run: Run, miss: int, core: int, page: int, key: int, peer: int, ordinal: int, now: int) -> None:
    """Keep a copy of what a peer, or a cluster's TLB, answered, where the policy says so; directories may learn."""
    rules, plan = run.rules, run.policies.plan
    known = plan.kind == DIRECTORY
    learns = known and plan.update == ON_RESPONSE
    # Before the policy is asked: the holders that the peer's reply names may change the degree that the policy reads.
    if learns:
        _learn_from_peer(run, miss, core, page)
    answer = 1 if rules.keeps_always else _ask_whether_to_keep(run, core, page, peer, known)
    if answer == RAISED:
        fail(run.state.counters, FAULT.remote_raised, now, core, answer)
    elif answer:
        if find(run, core, page) == NOWHERE:
            fill_private(run, core, page, key, NONE, ordinal, now)
        # The peer needs no message, as it gave the copy.
        if learns:
            learn(run, peer, page, core)


@noinline
def _ask_whether_to_keep(run: Run, core: int, page: int, peer: int, known: bool) -> int:
    """Ask the policy whether a copy is kept."""
    rules, policy = run.rules, run.policies.remote_fill
    degree, held = (others_known(run, core, page) if known else 1), held_by(run, core)
    return keep_copy(
        policy.answer,
        RemoteFillView(
            core, peer, rules.cores, rules.private_entries, held, degree, run.state.pairs, policy.params, policy.memory
        ),
    )


@noinline
def _learn_from_peer(run: Run, miss: int, core: int, page: int) -> None:
    """Learn who holds a page from what a peer's answer carries."""
    state, words = run.state, run.rules.words
    other = next_core(state.left, miss * words, words, FIRST_WORD)
    while other != NOBODY:
        if other != core:
            learn(run, core, page, other)
        other = next_core(state.left, miss * words, words, other + 1)


@noinline
def _learn_from_shared(run: Run, core: int, page: int, key: int) -> None:
    """Learn from the shared TLB's answer whom it has given the entry to; it notes the core, if that holds it now."""
    rules, state = run.rules, run.state
    if rules.shared_entries == 0:
        return
    row = shared_page(run, page, key) * rules.words
    peer = next_core(state.given, row, rules.words, FIRST_WORD)
    while peer != NOBODY:
        if peer != core:
            learn(run, core, page, peer)
        peer = next_core(state.given, row, rules.words, peer + 1)
    if has_core(state.held, page * rules.words, core) and find_shared(run, page, key) != NOWHERE:
        add_core(state.given, row, core)
