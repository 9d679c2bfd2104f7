"""The victim of a full set: the base policy's candidates, past what their sharing degree protects (spec 4, R22-R27)."""

from __future__ import annotations

from typing import Any

import numpy as np

from workbench.compiled import RAISED, inlined, noinline
from workbench.policies.translation.eviction.question import (
    EVICT,
    HIGH,
    LOOP,
    LOWEST_DEGREE,
    NEXT_BATCH,
    UNPROTECTED,
    ReadyEviction,
    degree,
)
from workbench.policies.translation.eviction.view import EvictionView

ENDLESS, NO_ENTRY = -2, -3
"""Instead of an entry: the loop of the literal reading did not end; the answer is no entry of the set."""
MOST_TURNS = 1 << 16
"""Candidates that one eviction may examine before it counts as endless."""

ZEROTH: Any = np.int64(0)
NONE_YET: Any = np.int64(-1)

_evict = EVICT.ask


@inlined
def choose_victim(  # type: ignore[no-untyped-def]
    policy: ReadyEviction, at, first, ways, newest, oldest, earliest, entries, holders, spread, base, words
) -> int:
    """Choose the entry to evict (spec 4, R22-R27), `RAISED`, `ENDLESS` or `NO_ENTRY`.

    A candidate whose degree protects it is passed over. If all are protected, the fallback decides.
    """
    chosen = _ask(
        policy,
        ZEROTH,
        NONE_YET,
        at,
        first,
        ways,
        newest,
        oldest,
        earliest,
        entries,
        holders,
        spread,
        base,
        words,
    )
    if policy.protects == UNPROTECTED or chosen < 0:
        return chosen
    return _past_protected(
        policy, chosen, at, first, ways, newest, oldest, earliest, entries, holders, spread, base, words
    )


@noinline
def _past_protected(  # type: ignore[no-untyped-def]
    policy, plain, at, first, ways, newest, oldest, earliest, entries, holders, spread, base, words
) -> int:
    """Return the first candidate that its degree does not protect, from the policy's own first choice on."""
    chosen = plain
    turns = min(policy.candidates, ways)
    batch = turns
    if policy.fallback == NEXT_BATCH:
        turns = ways
    if policy.fallback == LOOP:
        turns = MOST_TURNS
    least = 1 << 40
    for turn in range(turns):
        if turn > 0:
            nth = turn % batch if policy.fallback == LOOP else turn
            # The literal loop starts over at the first candidate (V12).
            before = chosen if nth > 0 else NONE_YET
            chosen = _ask(
                policy, nth, before, at, first, ways, newest, oldest, earliest, entries, holders, spread, base, words
            )
            if chosen < 0:
                return chosen
        shared = degree(entries, holders, spread, base, words, chosen)
        # A degree at the threshold or above protects, or, if low degrees are protected, a degree below it.
        if (shared >= policy.share_threshold) != (policy.protects == HIGH):
            return chosen
        if policy.fallback == LOWEST_DEGREE and shared < least:
            least, plain = shared, chosen
    return ENDLESS if policy.fallback == LOOP else plain


@inlined
def _ask(  # type: ignore[no-untyped-def]
    policy, nth, previous, at, first, ways, newest, oldest, earliest, entries, holders, spread, base, words
) -> int:
    entry = _evict(
        policy.answer,
        EvictionView(
            nth,
            previous,
            at,
            first,
            ways,
            newest,
            oldest,
            earliest,
            entries,
            holders,
            spread,
            base,
            words,
            policy.params,
            policy.memory,
        ),
    )
    if entry == RAISED:
        return RAISED
    return entry if first <= entry < first + ways else NO_ENTRY
