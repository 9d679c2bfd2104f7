"""Evictions that look at who holds a page, and the victim of a full set past what its sharing protects (spec 4).

They pass over what many cores hold, or over what few hold. The base policy's candidates are taken one by one.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal

import numpy as np

from workbench.compiled import RAISED, inlined, noinline
from workbench.errors import PolicyError, wrong_value
from workbench.levers import lever
from workbench.policies.arguments import whole, wholes
from workbench.policies.translation.eviction.question import (
    EVICT,
    HIGH,
    LOOP,
    LOW,
    LOWEST_DEGREE,
    NEXT_BATCH,
    PLAIN_BASE,
    UNPROTECTED,
    Eviction,
    EvictionView,
    IncomingView,
    ReadyEviction,
    TouchView,
    degree,
)
from workbench.policies.translation.eviction.recency import MRU
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

_FALLBACKS = {"plain_base": PLAIN_BASE, "next_batch": NEXT_BATCH, "lowest_degree": LOWEST_DEGREE, "loop": LOOP}


class SharingAwareEviction(Eviction):
    """Evict the base policy's first candidate that fewer cores hold than the threshold; ties as the base breaks them.

    The degree counts the local core too (spec 4, E4). If every candidate is protected, the fallback decides:
    `plain_base` evicts the base's first choice; `next_batch` examines the next candidates until the set is exhausted,
    then the same; `lowest_degree` evicts the candidate that the fewest cores hold, the first of equals. `loop` is the
    literal text, which begins again with the same candidates: it never ends, and is stopped with an error.

    References
    ----------
    spec 4, R22-R27, E3; source document paragraphs 85-89.

    Examples
    --------
    >>> SharingAwareEviction(base="mru", candidates=4, share_threshold=3).victim(degrees=(3, 2, 1, 1))
    1
    """

    base: Eviction = lever(MRU(), description="what proposes the candidates")
    candidates: int = lever(4, least=1, most=1 << 16, unit="entries", description="candidates that are examined")
    share_threshold: int = lever(
        2, least=2, most=1024, unit="cores", description="protect what so many cores hold, or more"
    )
    fallback: Literal["plain_base", "next_batch", "lowest_degree", "loop"] = lever(
        "plain_base", description="what is evicted when every candidate is protected"
    )

    def check(self) -> None:
        if isinstance(self.base, SharingAwareEviction):
            raise wrong_value("", f"{self.name}.base", "must be a policy that protects nothing", self.base.name, "mru")

    @property
    def draws(self) -> bool:  # type: ignore[override]
        """Return whether the base draws random numbers."""
        return self.base.draws

    def base_policy(self) -> Eviction:
        return self.base

    def protection(self) -> tuple[int, int, int, int]:
        return HIGH, self.candidates, self.share_threshold, _FALLBACKS[self.fallback]

    def most_threshold(self) -> int:
        return self.share_threshold

    def protected(self, degree: int) -> bool:
        """Return whether an entry that so many cores hold is passed over.

        >>> SharingAwareEviction(share_threshold=2).protected(1), SharingAwareEviction(share_threshold=2).protected(2)
        (False, True)
        """
        return whole("degree", degree) >= self.share_threshold

    def victim(self, degrees: Sequence[int]) -> int:
        """Choose which of a set's entries goes, in plain Python: its position among the entries in the base's order.

        Parameters
        ----------
        degrees : sequence of int
            How many cores hold each, the local one included; the base policy's first choice first.

        Raises
        ------
        InputError
            There is no entry.
        PolicyError
            The fallback is `loop` and every candidate is protected: the rule would never end.
        """
        degrees = wholes("degrees", degrees)
        if not degrees:
            raise wrong_value("", "degrees", "must name at least one entry", degrees)
        examined = degrees if self.fallback == "next_batch" else degrees[: self.candidates]
        open_ones = (k for k, shared in enumerate(examined) if not self.protected(shared))
        unprotected = next(open_ones, None)
        if unprotected is not None:
            return unprotected
        if self.fallback == "loop":
            raise PolicyError(f"{self.short()} never ends: every candidate stays protected, however often it is asked.")
        return list(examined).index(min(examined)) if self.fallback == "lowest_degree" else 0


class ProtectLowDegree(SharingAwareEviction):
    """Evict the base policy's first candidate that so many cores hold as the threshold, or more; ties as the base.

    The opposite of the document's rule: what many hold is fetched again from a peer, what one core alone holds is not.
    If every candidate is protected, `plain_base` or `next_batch` decides.

    References
    ----------
    spec 4, E17: a rival.

    Examples
    --------
    >>> ProtectLowDegree(share_threshold=2).victim(degrees=(1, 2, 1, 1))
    1
    """

    fallback: Literal["plain_base", "next_batch"] = lever(
        "plain_base", description="what is evicted when every candidate is protected"
    )

    def protection(self) -> tuple[int, int, int, int]:
        return (LOW, *super().protection()[1:])

    def protected(self, degree: int) -> bool:
        return whole("degree", degree) < self.share_threshold


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
