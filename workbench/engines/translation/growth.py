"""Growth of arrays between two stretches: by page and by event; known pages are numbered again.

Arrays by page, the event queue and the waiting accesses grow. A page loses its short number when no TLB holds it, no
request waits for it, and no message or directory names it. So a part's memory does not grow with time. The known pages
keep their order.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from workbench.compiled import NO_ANSWER, kernel
from workbench.engines.translation.answers import most_answers
from workbench.engines.translation.events import KIND, most_events
from workbench.engines.translation.lookup import UNSET, with_places
from workbench.engines.translation.state import COUNT, MISS, OF, PARKED, REPLY_SIZE, WAITING, Policies, Rules, State
from workbench.errors import InputError
from workbench.policies.translation.locate import DIRECTORY, ON_RESPONSE, Plan
from workbench.structures import event_queue
from workbench.structures.key_index import KeyIndex, PageNumbers, new_key_index, put_key, renumbered
from workbench.structures.set_assoc import NONE, OWNER, PAGE, ROW, EntrySets

DENSE_CELLS = 1 << 21
"""Above so many cells (8 MiB) the table by page and TLB gives way to a hash table a TLB, which stays in the cache."""
MOST_BYTES = 1 << 33
"""Of the bitmaps of directories that may be wrong: one a page and core."""


def with_pages(rules: Rules, state: State, plan: Plan, numbers: PageNumbers, more: int = 0) -> tuple[Rules, State]:
    """Make space for every page that has a number, and so many more; the table by page gives way where it would be too
    large."""
    pages = int(numbers.given[0]) + more
    state = state._replace(numbers=numbers, key_of=numbers.pages)
    if rules.dense and pages * rules.tlbs > DENSE_CELLS:
        rules = rules._replace(dense=0)
        state = state._replace(where=np.zeros(0, np.int32), places=hashed(rules, state))
    room = state.held.size // rules.words
    if room >= pages:
        return rules, state
    return rules, _longer(rules, state, plan, max(pages, 2 * room, 1024))


def hashed(rules: Rules, state: State) -> Any:
    """Return the hash table of every TLB, with what it holds now."""
    sizes = np.bincount(state.tlbs.entries.reshape(-1, ROW)[:, OWNER], minlength=rules.tlbs)
    index = new_key_index(sizes)
    _enter_all(index, state.tlbs.entries)
    return index


@kernel
def _enter_all(index: KeyIndex, entries: np.ndarray) -> None:
    """Enter the page of every entry into the hash table of its TLB."""
    for entry in range(entries.size // ROW):
        if entries[entry * ROW + PAGE] != NONE:
            put_key(index, entries[entry * ROW + OWNER], entries[entry * ROW + PAGE], entry)


def _longer(rules: Rules, state: State, plan: Plan, room: int) -> State:
    words, cores = rules.words, rules.cores
    beliefs = cores * words if rules.beliefs else 0
    if beliefs * room * 8 > MOST_BYTES:
        most = MOST_BYTES // (8 * beliefs)
        raise InputError(
            f"a directory whose news takes time keeps a bitmap a page and core; there is space for {most} pages of "
            f"{cores} cores, and the trace has more. Take update: instant, or fewer pages."
        )
    return state._replace(
        where=_padded(state.where, room * rules.tlbs if rules.dense else 0, NONE),
        walking=_padded(state.walking, room, NONE),
        held=_padded(state.held, room * words, 0),
        belief=_padded(state.belief, room * beliefs, 0),
        given=_padded(state.given, room * words if keeps_given(plan) else 0, 0),
        record=_padded(state.record, room * cores if rules.finite else 0, NONE),
        scored=_padded(state.scored, room * rules.keeps_answers, 0),
    )


def keeps_given(plan: Plan) -> bool:
    """Return whether the shared TLB remembers whom it has given an entry to."""
    return plan.kind == DIRECTORY and plan.update == ON_RESPONSE


def _padded(given: np.ndarray, size: int, fill: int) -> np.ndarray:
    longer = np.full(size, fill, given.dtype)
    longer[: given.size] = given
    return longer


def with_room(rules: Rules, state: State) -> State:
    """Make space for what many events bring about."""
    most, counters = int(most_events(rules.cores)), state.counters
    parked, used = int(counters[COUNT.parked]), int(state.event_queue.counters[event_queue.USED])
    # With `keeps_answers`, an access that joined a miss may be answered later, by an event of its own.
    needed = used + int(counters[COUNT.under_way]) + parked * rules.keeps_answers + most
    if needed > state.event_queue.link.size:
        state = state._replace(event_queue=event_queue.with_places(state.event_queue, 2 * needed))
    if (parked + 2) * PARKED > state.parking.size:
        state = state._replace(parking=with_places(state.parking, counters, 2 * parked + 64))
    if rules.keeps_answers:
        answers = (int(counters[COUNT.answered]) + 2 * int(most_answers(rules.cores, counters))) * REPLY_SIZE
        state = state._replace(answers=_padded(state.answers, max(answers, state.answers.size), 0))
    return state


NAMES_PAGE = (KIND.copy, KIND.news, KIND.news_to_all, KIND.shoot_down, KIND.acknowledgement, KIND.ballast)


def may_forget(rules: Rules, policies: Policies) -> bool:
    """Return whether no other part knows pages by their numbers: no log, no eviction policy that hears of them."""
    evictions = (policies.eviction, policies.shared_eviction)
    return not rules.keeps_log and all(policy.incoming == NO_ANSWER for policy in evictions)


def without_unknown_pages(rules: Rules, state: State, numbers: PageNumbers) -> tuple[PageNumbers, State]:
    """Return the numbers and the state without the pages that nothing knows any more."""
    places = [*_of_entries(state.tlbs), *_of_entries(state.records), *_of_those_who_wait(rules, state)]
    known = _named_by_directories(rules, state, int(numbers.given[0]))
    for table, rows, column in places:
        known[table[rows, column]] = True
    new = np.cumsum(known) - 1
    for table, rows, column in places:
        table[rows, column] = new[table[rows, column]]
    numbers = renumbered(numbers, known)
    # Entries have their new numbers by now: where TLBs have hash tables, `_moved` builds those from them.
    return numbers, _moved(rules, state, known)._replace(numbers=numbers, key_of=numbers.pages)


_Places = tuple[np.ndarray, np.ndarray, int]
"""A table, and which of its rows name a page in a column."""


def _of_entries(sets: EntrySets) -> list[_Places]:
    entries = sets.entries.reshape(-1, ROW)
    return [(entries, np.flatnonzero(entries[:, PAGE] >= 0), PAGE)]


def _of_those_who_wait(rules: Rules, state: State) -> list[_Places]:
    """Return the misses, the accesses that wait, and the messages that name a page."""
    misses, parking = state.misses.reshape(-1, MISS), state.parking.reshape(-1, PARKED)
    events = state.event_queue.events.reshape(-1, event_queue.EVENT)
    in_use = np.arange(rules.mshrs) < state.in_use[:, None]
    waiting = np.setdiff1d(np.arange(len(parking)), _free_places(state))
    # Events in hand refer to misses, whose pages are listed here.
    return [
        (misses, state.active.reshape(rules.cores, rules.mshrs)[in_use], OF.page),
        (parking, waiting, WAITING.page),
        (events, np.flatnonzero(np.isin(events[:, event_queue.WHAT], NAMES_PAGE)), event_queue.PAGE),
    ]


def _free_places(state: State) -> list[int]:
    """Return the places of waiting accesses that are free."""
    places, place = list[int](), int(state.counters[COUNT.parked_free])
    while place != UNSET:
        places.append(place)
        place = int(state.parking[place * PARKED + WAITING.next])
    return places


def _named_by_directories(rules: Rules, state: State, given: int) -> np.ndarray:
    """Return of every number whether a directory, right or wrong, or the shared TLB says something of its page."""
    known = np.zeros(given, bool)
    for words in (state.held, state.belief, state.given):
        if words.size:
            known |= words.reshape(_room(rules, state), -1)[:given].any(axis=1)
    if state.record.size:
        known |= (state.record.reshape(_room(rules, state), -1)[:given] != UNSET).any(axis=1)
    return known


def _room(rules: Rules, state: State) -> int:
    return state.held.size // rules.words


def _moved(rules: Rules, state: State, known: np.ndarray) -> State:
    """Return the state with its tables by page, and hash tables, for the new numbers."""
    room, old = _room(rules, state), np.flatnonzero(known)
    for table, empty in (
        (state.where, UNSET), (state.walking, UNSET), (state.record, UNSET), (state.held, 0), (state.belief, 0),
        (state.given, 0),
    ):  # fmt: skip
        if table.size:
            rows = table.reshape(room, -1)
            rows[: old.size] = rows[old]
            rows[old.size :] = empty
    return state if rules.dense else state._replace(places=hashed(rules, state))
