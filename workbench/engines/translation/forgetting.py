"""Pages that nothing knows any more lose their short numbers, so that a part's memory does not grow with time.

Whoever is asked for ever meets ever new pages. Known is a page that a TLB holds, that somebody waits for, or that a
message or a directory names; the known ones are numbered anew, in their order.
"""

from __future__ import annotations

import numpy as np

from workbench.compiled import NO_ANSWER
from workbench.engines.translation.counters import COUNT
from workbench.engines.translation.growing import hashed
from workbench.engines.translation.parking import NONE
from workbench.engines.translation.scheduling import KIND
from workbench.engines.translation.shape import Policies, Rules
from workbench.engines.translation.state import MISS, PARKED, State
from workbench.engines.translation.under_way import OF, WAITING
from workbench.policies.translation.locate import Plan
from workbench.structures import event_queue as at
from workbench.structures.key_index import PageNumbers, renumbered
from workbench.structures.set_assoc import PAGE, ROW, EntrySets

NAMES_PAGE = (KIND.copy, KIND.news, KIND.news_to_all, KIND.shoot_down, KIND.acknowledgement, KIND.ballast)


def may_forget(rules: Rules, policies: Policies) -> bool:
    """Return whether nobody else knows pages by their numbers: no log, no eviction policy that hears of them."""
    evictions = (policies.eviction, policies.shared_eviction)
    return not rules.keeps_log and all(policy.incoming == NO_ANSWER for policy in evictions)


def without_unknown_pages(rules: Rules, state: State, plan: Plan, numbers: PageNumbers) -> tuple[PageNumbers, State]:
    """Number the known pages anew."""
    places = [*_of_entries(state.tlbs), *_of_entries(state.records), *_of_those_who_wait(rules, state)]
    known = _named_by_directories(rules, state, int(numbers.given[0]))
    for table, rows, column in places:
        known[table[rows, column]] = True
    new = np.cumsum(known) - 1
    for table, rows, column in places:
        table[rows, column] = new[table[rows, column]]
    numbers = renumbered(numbers, known)
    return numbers, _moved(rules, state, plan, known)._replace(numbers=numbers, key_of=numbers.pages)


_Places = tuple[np.ndarray, np.ndarray, int]
"""A table, and which of its rows name a page in a column."""


def _of_entries(sets: EntrySets) -> list[_Places]:
    entries = sets.entries.reshape(-1, ROW)
    return [(entries, np.flatnonzero(entries[:, PAGE] >= 0), PAGE)]


def _of_those_who_wait(rules: Rules, state: State) -> list[_Places]:
    """Return the misses, the accesses that wait, and the messages that name a page."""
    misses, parking = state.misses.reshape(-1, MISS), state.parking.reshape(-1, PARKED)
    events = state.agenda.events.reshape(-1, at.EVENT)
    in_use = np.arange(rules.mshrs) < state.in_use[:, None]
    waiting = np.setdiff1d(np.arange(len(parking)), _free_places(state))
    return [
        (misses, state.active.reshape(rules.cores, rules.mshrs)[in_use], OF.page),
        (parking, waiting, WAITING.page),
        (events, np.flatnonzero(np.isin(events[:, at.WHAT], NAMES_PAGE)), at.PAGE),
    ]


def _free_places(state: State) -> list[int]:
    """Return the places of waiting accesses that are free."""
    places, place = list[int](), int(state.counters[COUNT.parked_free])
    while place != NONE:
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
        known |= (state.record.reshape(_room(rules, state), -1)[:given] != NONE).any(axis=1)
    return known


def _room(rules: Rules, state: State) -> int:
    return state.held.size // rules.words


def _moved(rules: Rules, state: State, plan: Plan, known: np.ndarray) -> State:
    """Return the state with its tables by page, and hash tables, for the new numbers."""
    room, old = _room(rules, state), np.flatnonzero(known)
    for table, empty in (
        (state.where, NONE), (state.walking, NONE), (state.record, NONE), (state.held, 0), (state.belief, 0),
        (state.given, 0),
    ):  # fmt: skip
        if table.size:
            rows = table.reshape(room, -1)
            rows[: old.size] = rows[old]
            rows[old.size :] = empty
    return state if rules.dense else state._replace(places=hashed(rules, state, plan))
