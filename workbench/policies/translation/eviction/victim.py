"""The victim of a full set: the base policy's candidates, one by one, past those that their sharing protects.

`PlainSet` is one set of entries under an eviction policy, in plain Python: to follow a decision, and for the contract.
"""

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
    Eviction,
    EvictionView,
    IncomingView,
    ReadyEviction,
    TouchView,
    degree,
)
from workbench.structures.set_assoc import (
    EARLIEST,
    NEWEST,
    NONE,
    OLDEST,
    PAGE,
    ROW,
    insert,
    new_entry_sets,
    remove,
    take_free,
    touch,
)

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
            before = chosen if nth > 0 else NONE_YET
            chosen = _ask(
                policy, nth, before, at, first, ways, newest, oldest, earliest, entries, holders, spread, base, words
            )
            if chosen < 0:
                return chosen
        shared = degree(entries, holders, spread, base, words, chosen)
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


NO_HOLDERS = np.zeros(1, np.uint64)


class PlainSet:
    """A set whose policy is asked and told as plain functions."""

    def __init__(self, policy: Eviction, ways: int, seed: int = 0) -> None:
        self.policy, self.ways = policy, ways
        self.table = new_entry_sets(np.array([ways]), np.array([0]))
        self.params, self.memory = policy.parameters(), policy.start_memory(1, ways, seed)
        self.where: dict[int, int] = {}

    def use(self, page: int) -> None:
        """Access a page: touch it, or insert it into a free entry."""
        fresh = page not in self.where
        if fresh:
            arrival = IncomingView(page, 0, 0, self.ways, self.params, self.memory)
            self.policy.tell("incoming", arrival)
            self.where[page] = take_free(self.table, 0)
            insert(self.table, 0, self.where[page], page, 0, NONE)
        else:
            touch(self.table, 0, self.where[page])
        notice = TouchView(self.where[page], 0, 0, self.ways, int(fresh), self.params, self.memory)
        self.policy.tell("touched", notice)

    def drop(self, page: int) -> None:
        """Take a page out."""
        remove(self.table, 0, self.where.pop(page))

    def shown(self) -> tuple[Any, ...]:
        """Return what the question shows of the full set, from `at` to `words`."""
        ends = (int(self.table.sets[end]) for end in (NEWEST, OLDEST, EARLIEST))
        return (0, 0, self.ways, *ends, self.table.entries, NO_HOLDERS, 0, 0, 0)

    def proposed(self) -> list[int]:
        """Return every page in the order of the candidates."""
        answer = self.policy.plain_answer()
        order: list[int] = []
        entry = NONE
        for nth in range(self.ways):
            entry = int(answer(EvictionView._make((nth, entry, *self.shown(), self.params, self.memory))))
            order.append(int(self.table.entries[entry * ROW + PAGE]))
        return order
