"""Arrays that grow between stretches of the loop: those by page, the agenda, the waiting accesses."""

from __future__ import annotations

from typing import Any

import numpy as np

from workbench.engines.translation.counters import COUNT
from workbench.engines.translation.parking import with_places
from workbench.engines.translation.prepare import keeps_given
from workbench.engines.translation.room import most_answers, most_events
from workbench.engines.translation.shape import Rules
from workbench.engines.translation.state import PARKED, TOLD_SIZE, State
from workbench.errors import InputError
from workbench.policies.translation.locate import Plan
from workbench.structures import event_queue
from workbench.structures.key_index import PageNumbers, new_key_index, put_key
from workbench.structures.set_assoc import NONE, OWNER, PAGE, ROW

DENSE_CELLS = 1 << 21
"""Above so many cells (8 MiB) the table by page and TLB gives way to a hash table a TLB, which stays in the cache."""
MOST_BYTES = 1 << 33
"""Of the bitmaps of directories that may be wrong: one a page and core."""


def with_pages(rules: Rules, state: State, plan: Plan, numbers: PageNumbers, more: int = 0) -> tuple[Rules, State]:
    """Make room for every page that has a number, and so many more; the table by page gives way where it would be too
    large."""
    pages = int(numbers.given[0]) + more
    state = state._replace(numbers=numbers, key_of=numbers.pages)
    if rules.dense and pages * rules.tlbs > DENSE_CELLS:
        rules = rules._replace(dense=0)
        state = state._replace(where=np.zeros(0, np.int32), places=hashed(rules, state, plan))
    room = state.held.size // rules.words
    if room >= pages:
        return rules, state
    return rules, _longer(rules, state, plan, max(pages, 2 * room, 1024))


def hashed(rules: Rules, state: State, plan: Plan) -> Any:
    """Return the hash table of every TLB, with what it holds now."""
    sizes = [rules.private_entries] * rules.cores + [plan.cluster_entries] * rules.clusters + [rules.shared_entries]
    index = new_key_index(np.array(sizes))
    table = state.tlbs.entries.reshape(-1, ROW)
    for entry in np.flatnonzero(table[:, PAGE] != NONE).tolist():
        put_key(index, int(table[entry, OWNER]), int(table[entry, PAGE]), entry)
    return index


def _longer(rules: Rules, state: State, plan: Plan, room: int) -> State:
    words, cores = rules.words, rules.cores
    beliefs = cores * words if rules.beliefs else 0
    if beliefs * room * 8 > MOST_BYTES:
        most = MOST_BYTES // (8 * beliefs)
        raise InputError(
            f"a directory whose news takes time keeps a bitmap a page and core; there is room for {most} pages of "
            f"{cores} cores, and the trace has more. Take update: instant, or fewer pages."
        )
    return state._replace(
        where=_padded(state.where, room * rules.tlbs if rules.dense else 0, NONE),
        walking=_padded(state.walking, room, NONE),
        held=_padded(state.held, room * words, 0),
        belief=_padded(state.belief, room * beliefs, 0),
        given=_padded(state.given, room * words if keeps_given(plan) else 0, 0),
        record=_padded(state.record, room * cores if rules.finite else 0, NONE),
    )


def _padded(given: np.ndarray, size: int, fill: int) -> np.ndarray:
    longer = np.full(size, fill, given.dtype)
    longer[: given.size] = given
    return longer


def with_room(rules: Rules, state: State) -> State:
    """Make room for what many events bring about."""
    most, counters = int(most_events(rules.cores)), state.counters
    parked, used = int(counters[COUNT.parked]), int(state.agenda.counters[event_queue.USED])
    needed = used + int(counters[COUNT.under_way]) + parked * rules.keeps_answers + most
    if needed > state.agenda.link.size:
        state = state._replace(agenda=event_queue.with_places(state.agenda, 2 * needed))
    if (parked + 2) * PARKED > state.parking.size:
        state = state._replace(parking=with_places(state.parking, counters, 2 * parked + 64))
    if rules.keeps_answers:
        answers = (int(counters[COUNT.answered]) + 2 * int(most_answers(rules.cores, counters))) * TOLD_SIZE
        state = state._replace(answers=_padded(state.answers, max(answers, state.answers.size), 0))
    return state
