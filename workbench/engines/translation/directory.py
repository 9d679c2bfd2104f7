"""What directories know: who holds a page, what cores share, who is closely related (spec 4, R2, R14, E6-E8).

Where directories are always right, one bitmap a page serves them all. Where they may be wrong each has its own, in
which the core's own bit is always right.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from workbench.compiled import NO_BITS, inlined, kernel, noinline
from workbench.engines.translation.events import KIND, NEWS, schedule
from workbench.engines.translation.lookup import NOWHERE, find
from workbench.engines.translation.network import NO_NOTE, forward
from workbench.engines.translation.state import COUNT, Run, to_int64
from workbench.engines.translation.statistics import count_messages
from workbench.policies.translation.locate import (
    CENTRAL,
    DIRECTORY,
    MESSAGE,
    ON_RESPONSE,
    ORACLE,
    OWN_ONLY,
    OWN_PLUS_AFFINE,
)
from workbench.records.translation import MESSAGES
from workbench.structures import event_queue as at
from workbench.structures.bitmaps import FIRST_WORD, NOBODY, add_core, count_cores, drop_core, has_core, next_core
from workbench.structures.set_assoc import NONE, OLDEST, PAGE, ROW, insert, remove, take_free, touch

UPDATE: Any = np.int64(MESSAGES.index("update"))
ONE_RECEIVER: Any = np.int64(1)
CAME: Any = np.int64(1)
LEFT: Any = np.int64(0)


@kernel
def known_row(run: Run, core: int, page: int) -> int:
    """Return the start of the bitmap of a page, as a core's directory knows it, in `known(run)`."""
    rules = run.rules
    return (page * rules.cores + core) * rules.words if rules.beliefs else page * rules.words


@kernel
def others_known(run: Run, core: int, page: int) -> int:
    """Return the number of other cores that hold a page, as a core's directory knows it."""
    words, row = (run.state.belief if run.rules.beliefs else run.state.held), known_row(run, core, page)
    return count_cores(words, row, run.rules.words) - has_core(words, row, core)


@inlined
def gained(run: Run, core: int, page: int, key: int, row: int, now: int) -> None:
    """Let a private TLB hold a page: its own directory knows at once, the others as the update says."""
    rules, state = run.rules, run.state
    # Before the own bit is set: both calls may count the holders of the page, and mean other cores alone.
    if rules.counts:
        _count_own(run, core, page, CAME)
    _tell(run, core, page, key, row, now, CAME)
    add_core(state.held, page * rules.words, core)
    if rules.beliefs:
        add_core(state.belief, known_row(run, core, page), core)
    _forget_record(run, core, page)
    if run.policies.plan.kind == DIRECTORY and run.policies.plan.scope == OWN_PLUS_AFFINE:
        _look_who_is_close(run, core)


@inlined
def lost(run: Run, core: int, page: int, key: int, row: int, now: int, tells: int) -> None:
    """Let a private TLB hold a page no more; the others are told unless the unmapping tells them."""
    rules, state = run.rules, run.state
    drop_core(state.held, page * rules.words, core)
    if rules.beliefs:
        drop_core(state.belief, known_row(run, core, page), core)
    # After the own bit is cleared: both calls may count the holders of the page, and mean other cores alone.
    if rules.counts:
        _count_own(run, core, page, -CAME)
    if tells:
        _tell(run, core, page, key, row, now, LEFT)


@inlined
def keep_record(run: Run, core: int, page: int) -> None:
    """Keep a record of a page that left to make space, in a directory of limited capacity, where covered peers hold
    it."""
    if run.rules.finite and others_known(run, core, page) and _in_scope(run, core, page):
        note_record(run, core, page)


@kernel
def forget_records(run: Run, page: int) -> None:
    """Forget the records of a page that is in no private TLB any more: they take no space."""
    if run.rules.finite:
        for core in range(run.rules.cores):
            _forget_record(run, core, page)


@noinline
def _count_own(run: Run, core: int, page: int, step: int) -> None:
    """Count an own entry that comes or goes among those that are shared; its core's own bit is not set."""
    rules, state = run.rules, run.state
    words, row = (state.belief if rules.beliefs else state.held), known_row(run, core, page)
    others, peer = 0, next_core(words, row, rules.words, FIRST_WORD)
    while peer != NOBODY:
        others += 1
        state.pairs[core * rules.cores + peer] += step
        if not rules.beliefs:
            state.pairs[peer * rules.cores + core] += step
        peer = next_core(words, row, rules.words, peer + 1)
    state.shared[core] += step * (others > 0)
    # With one other holder, its entry becomes shared, or is no longer shared.
    if not rules.beliefs and others == 1:
        state.shared[next_core(words, row, rules.words, FIRST_WORD)] += step


@inlined
def _tell(run: Run, core: int, page: int, key: int, row: int, now: int, came: int) -> None:
    """Send news of an entry that is usable, or gone, to who keeps records of it; `held` does not name the core."""
    kind = run.policies.plan.kind
    if kind == DIRECTORY and run.policies.plan.update != ON_RESPONSE:
        _tell_directories(run, core, page, key, row, now, came)
    elif kind == CENTRAL:
        _tell_centre(run, core, page, key, row, now)


@inlined
def _tell_directories(run: Run, core: int, page: int, key: int, row: int, now: int, came: int) -> None:
    rules, plan = run.rules, run.policies.plan
    _count_news(run, _receivers(run, core, page), now)
    if plan.update == MESSAGE:
        _send_news(run, core, page, key, row, now, came)
        return
    # A departure makes no other directory's record newer, and takes none away.
    if rules.finite and came:
        for other in range(rules.cores):
            if other != core:
                _hear(run, other, page, core)
    if rules.news_rides and rules.link_cycles:
        _load_links(run, core, page, key, row, now)


@inlined
def _count_news(run: Run, receivers: int, now: int) -> None:
    count_messages(run, UPDATE, receivers, now)
    if run.rules.news_rides:
        run.state.counters[COUNT.noc_trips] += receivers


@noinline
def _tell_centre(run: Run, core: int, page: int, key: int, row: int, now: int) -> None:
    """Tell the central directory, which knows at once; the message takes its way all the same."""
    rules, centre = run.rules, run.rules.cores // 2
    if core == centre:
        return
    _count_news(run, ONE_RECEIVER, now)
    if rules.news_rides and rules.link_cycles:
        forward(run, KIND.ballast, NEWS, core, key, row, core, page, NO_NOTE, core, centre, now, now)


@noinline
def _load_links(run: Run, core: int, page: int, key: int, row: int, now: int) -> None:
    """Let messages whose news is known at once keep their links busy."""
    _name_receivers(run, core, page)
    for other in range(run.rules.cores):
        if has_core(run.state.others, FIRST_WORD, other):
            forward(run, KIND.ballast, NEWS, core, key, row, core, page, NO_NOTE, core, other, now, now)


@noinline
def _send_news(run: Run, core: int, page: int, key: int, row: int, now: int, came: int) -> None:
    """Send news that takes effect when it arrives, and not before its delay has passed (spec 4, T10).

    Who keeps no record of the page is sent none, and knows after the delay, as if the news rode free.
    """
    rules = run.rules
    effect, subject = now + run.policies.plan.delay_cycles, 2 * core + came
    # All directories learn at the end of the delay, so one event stands for all messages.
    if not rules.news_rides or (rules.link_cycles == 0 and effect - now >= rules.farthest):
        place = schedule(run, effect, now, KIND.news_to_all, NEWS, core, key, row, subject)
        run.state.event_queue.events[place * at.EVENT + at.PAGE] = page
        return
    _name_receivers(run, core, page)
    for other in range(rules.cores):
        if has_core(run.state.others, FIRST_WORD, other):
            forward(run, KIND.news, NEWS, core, key, row, subject, page, effect, core, other, now, now)
        elif other != core:
            forward(run, KIND.news, NEWS, core, key, row, subject, page, effect, other, other, effect, now)


@noinline
def _name_receivers(run: Run, core: int, page: int) -> None:
    """Lay out the directories that are sent news: those that the scope says."""
    rules, state, scope = run.rules, run.state, run.policies.plan.scope
    if scope == OWN_PLUS_AFFINE:
        _holders_and_followers(run, core, page)
        return
    for word in range(rules.words):
        state.others[word] = state.held[page * rules.words + word]
    if scope == ORACLE:
        for other in range(rules.cores):
            add_core(state.others, FIRST_WORD, other)
    drop_core(state.others, FIRST_WORD, core)


@noinline
def hear_news(run: Run, core: int, page: int, subject: int) -> None:
    """Let news take effect in a core's directory."""
    if subject & 1:
        learn(run, core, page, subject >> 1)
    else:
        unlearn(run, core, page, subject >> 1)


@noinline
def hear_everywhere(run: Run, page: int, subject: int) -> None:
    """Let news take effect in every other directory."""
    for core in range(run.rules.cores):
        if core != subject >> 1:
            hear_news(run, core, page, subject)


@inlined
def _receivers(run: Run, core: int, page: int) -> int:
    """Return the number of other directories that keep a record of the page, or would: those that the scope says."""
    rules, state, plan = run.rules, run.state, run.policies.plan
    if plan.scope == ORACLE:
        return rules.cores - 1
    if plan.scope == OWN_ONLY:
        return count_cores(state.held, page * rules.words, rules.words)
    return _holders_and_followers(run, core, page)


@noinline
def _holders_and_followers(run: Run, core: int, page: int) -> int:
    rules, state, row = run.rules, run.state, page * run.rules.words
    for word in range(rules.words):
        state.others[word] = state.held[row + word] | state.followers[core * rules.words + word]
    drop_core(state.others, FIRST_WORD, core)
    return count_cores(state.others, FIRST_WORD, rules.words)


@noinline
def learn(run: Run, core: int, page: int, peer: int) -> None:
    """Let a core's directory learn that a peer holds a page."""
    rules, state = run.rules, run.state
    row = known_row(run, core, page)
    if not has_core(state.belief, row, peer):
        if rules.counts and find(run, core, page) != NOWHERE:
            # Before the bit is set: with its first other holder, the own entry becomes shared.
            state.shared[core] += others_known(run, core, page) == 0
            state.pairs[core * rules.cores + peer] += 1
        add_core(state.belief, row, peer)
    _hear(run, core, page, peer)


@noinline
def unlearn(run: Run, core: int, page: int, peer: int) -> None:
    """Let a core's directory unlearn that a peer holds a page."""
    rules, state = run.rules, run.state
    row = known_row(run, core, page)
    if has_core(state.belief, row, peer):
        drop_core(state.belief, row, peer)
        if rules.counts and find(run, core, page) != NOWHERE:
            state.shared[core] -= others_known(run, core, page) == 0
            state.pairs[core * rules.cores + peer] -= 1


@noinline
def _hear(run: Run, core: int, page: int, peer: int) -> None:
    """Let a directory of limited capacity hear that a peer holds a page: it makes a record, or makes the one it has
    newest."""
    if not run.rules.finite or find(run, core, page) != NOWHERE:
        return
    plan = run.policies.plan
    close = plan.scope == OWN_PLUS_AFFINE and has_core(run.state.affine, core * run.rules.words, peer)
    if plan.scope == ORACLE or close:
        note_record(run, core, page)


@noinline
def note_record(run: Run, core: int, page: int) -> None:
    """Make a record of a peer's entry the newest, in place of the oldest where there is no space."""
    state, at = run.state, page * run.rules.cores + core
    place = to_int64(state.record[at])
    if place != NONE:
        touch(state.records, core, place)
        return
    # A directory as large as its TLB has no space for records of peers' entries.
    if run.policies.plan.quota == 0:
        return
    place = take_free(state.records, core)
    if place == NONE:
        place = state.records.sets[core * ROW + OLDEST]
        state.record[state.records.entries[place * ROW + PAGE] * run.rules.cores + core] = NONE
        remove(state.records, core, place)
        place = take_free(state.records, core)
    insert(state.records, core, place, page, LEFT, NONE)
    state.record[at] = place


@kernel
def _forget_record(run: Run, core: int, page: int) -> None:
    """Forget the record of a peer's entry that becomes that of an own entry, which needs no space."""
    if run.rules.finite:
        at = page * run.rules.cores + core
        if run.state.record[at] != NONE:
            remove(run.state.records, core, to_int64(run.state.record[at]))
            run.state.record[at] = NONE


@kernel
def _in_scope(run: Run, core: int, page: int) -> bool:
    """Return whether the directory covers a page that its core does not hold: some peer that holds it is covered."""
    plan = run.policies.plan
    return _is_close(run, core, page) if plan.scope == OWN_PLUS_AFFINE else bool(plan.scope == ORACLE)


@noinline
def _is_close(run: Run, core: int, page: int) -> bool:
    rules, state = run.rules, run.state
    words, row = (state.belief if rules.beliefs else state.held), known_row(run, core, page)
    common = NO_BITS
    for word in range(rules.words):
        common |= words[row + word] & state.affine[core * rules.words + word]
    return bool(common != NO_BITS)


@kernel
def forget_beliefs(run: Run, core: int, page: int) -> None:
    """Let a directory that may be wrong forget who holds a page that its core does not hold."""
    if run.rules.beliefs:
        row = known_row(run, core, page)
        for word in range(row, row + run.rules.words):
            run.state.belief[word] = NO_BITS


@inlined
def has_record(run: Run, core: int, page: int) -> bool:
    """Return whether a core that misses a page finds a record of it."""
    if not _in_scope(run, core, page):
        return False
    return not run.rules.finite or run.state.record[page * run.rules.cores + core] != NONE


@noinline
def _look_who_is_close(run: Run, core: int) -> None:
    """Look after so many fills who is close: closely related is who shares so many entries, or more (spec 4, E7)."""
    rules, state, plan = run.rules, run.state, run.policies.plan
    state.since[core] += 1
    if state.since[core] < plan.affine_fills:
        return
    state.since[core] = 0
    for peer in range(rules.cores):
        close = peer != core and state.pairs[core * rules.cores + peer] >= plan.affine_threshold
        if close:
            add_core(state.affine, core * rules.words, peer)
            add_core(state.followers, peer * rules.words, core)
        else:
            drop_core(state.affine, core * rules.words, peer)
            drop_core(state.followers, peer * rules.words, core)
