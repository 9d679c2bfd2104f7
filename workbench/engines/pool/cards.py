"""The card that lends: chosen by summed scores and the history of lendings (spec 5, R15-R22, E10-E14)."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from workbench.compiled import NO_ANSWER, RAISED, kernel, noinline, routine
from workbench.engines.kit.faults import FINE, STOP
from workbench.engines.pool.blocks import card_of
from workbench.engines.pool.grants import has_room
from workbench.engines.pool.state import (
    AWAY,
    COUNT,
    FAULT,
    HERE,
    Columns,
    Policies,
    Rules,
    State,
    Tables,
    enter_chain,
    leave_chain,
    stopped,
)
from workbench.policies.pool.target.question import CHOSEN, SCORE
from workbench.policies.pool.target.view import TargetNotice, TargetView
from workbench.structures.size_index import NONE

ask_score = SCORE.ask
tell_chosen = CHOSEN.ask
MOST_FREE = 1
NOWHERE: Any = np.int64(NONE)
"""The card that a new region leaves; a number of this kind, because a plain one would be compiled once more."""


@routine
def choose_card(
    columns: Columns, tables: Tables, rules: Rules, policies: Policies, state: State, row: int, of: int, leaving: int
) -> int:
    """Choose the card whose memory is asked for, by a request, for the region `of` an allocation; -1 = there is none.

    What is `leaving` a card does not stay there, nor go where no path leads from it; `NOWHERE` = it is new.
    """
    count = _candidates(columns, tables, rules, policies, state, of, leaving)
    if count == 0 or state.counters[STOP.fault] != FINE:
        return NONE
    _forget_old(rules, state, row)
    terms, sums, scores = policies.terms, state.scores[1], state.scores[0]
    several = terms.weights.size > 1
    sums[:count] = 0.0
    for term in range(terms.weights.size):
        _score(columns, tables, policies, state, of, term, count)
        largest = -math.inf
        for k in range(count):
            largest = max(largest, scores[k])
        for k in range(count):
            scaled = scores[k] / largest if several and rules.normalises and largest > 0.0 else scores[k]
            sums[k] = sums[k] + terms.weights[term] * scaled if several else scores[k]
    return _best(rules, state, count)


@kernel
def _candidates(
    columns: Columns, tables: Tables, rules: Rules, policies: Policies, state: State, row: int, leaving: int
) -> int:
    """Write down who may be chosen, and how much is free on every card; how many may."""
    count, own = 0, columns.borrower[row]
    for card in range(tables.capacity.size):
        state.free[card] = state.cached[card] + state.physical[card]
        reached = tables.lends[card] and tables.hops[own * tables.capacity.size + card] >= 0
        may = reached if card != own else rules.own_first == 0 and tables.capacity[card] > 0
        if leaving != NOWHERE:
            may = may and card != leaving and tables.hops[leaving * tables.capacity.size + card] >= 0
        if may and (rules.filters == 0 or has_room(columns, rules, policies, state, row, card)):
            state.candidates[count] = card
            count += 1
    return count


@kernel
def _forget_old(rules: Rules, state: State, row: int) -> None:
    """Take lendings out of the history that are older than the window."""
    counters = state.counters
    while rules.window and counters[COUNT.forgotten] < counters[COUNT.lendings]:
        entry = state.lendings[counters[COUNT.forgotten]]
        if entry[0] >= row - rules.window:
            break
        state.lent[entry[1]] -= entry[2]
        counters[COUNT.forgotten] += 1


@kernel
def _score(columns: Columns, tables: Tables, policies: Policies, state: State, row: int, term: int, count: int) -> None:
    terms, scores, cards = policies.terms, state.scores[0], tables.capacity.size
    own = columns.borrower[row]
    status = ask_score(
        terms.answers[term],
        TargetView(
            own,
            count,
            state.candidates,
            columns.need[row],
            state.free,
            tables.gbps[own * cards : (own + 1) * cards],
            tables.hops[own * cards : (own + 1) * cards],
            state.lent[own * cards : (own + 1) * cards],
            state.held,
            tables.capacity,
            tables.hosts,
            scores,
            terms.params[term][: terms.sizes[term, 0]],
            state.target_memory[term][: terms.sizes[term, 1]],
        ),
    )
    if status == RAISED:
        stopped(state, FAULT.target_raised, row, NONE)
    for k in range(count):
        # With one term, -inf rules a card out. In a weighted sum it could become NaN.
        if math.isnan(scores[k]) or scores[k] == math.inf or (math.isinf(scores[k]) and terms.weights.size > 1):
            stopped(state, FAULT.target_wrong, row, state.candidates[k])


@kernel
def _best(rules: Rules, state: State, count: int) -> int:
    """Choose the candidate with the highest sum; of equal ones the first, or the one with most free memory."""
    sums, best = state.scores[1], NONE
    for k in range(count):
        if sums[k] > -math.inf and (best == NONE or _before(rules, state, k, best)):
            best = k
    return NONE if best == NONE else int(state.candidates[best])


@kernel
def _before(rules: Rules, state: State, one: int, other: int) -> bool:
    """Return whether a candidate is better than another that stands before it."""
    sums, freer = state.scores[1], state.free[state.candidates[one]] > state.free[state.candidates[other]]
    return bool(sums[one] > sums[other] or (rules.tie == MOST_FREE and sums[one] == sums[other] and freer))


@kernel
def note_lending(
    columns: Columns, tables: Tables, rules: Rules, policies: Policies, state: State, row: int, of: int, card: int
) -> None:
    """Write into the history that a request put a region on another card, and tell the policy (spec 5, R22)."""
    counters, own, terms = state.counters, columns.borrower[of], policies.terms
    if card != own:
        place, amount = own * tables.capacity.size + card, columns.size[of] if rules.by_bytes else 1
        entry = state.lendings[counters[COUNT.lendings]]
        entry[0], entry[1], entry[2] = row, place, amount
        counters[COUNT.lendings] += 1
        state.lent[place] += amount
    for term in range(terms.weights.size):
        if terms.chosen[term] != NO_ANSWER:
            params = terms.params[term][: terms.sizes[term, 0]]
            answer = tell_chosen(
                terms.chosen[term],
                TargetNotice(card, tables.capacity.size, params, state.target_memory[term][: terms.sizes[term, 1]]),
            )
            if answer == RAISED:
                stopped(state, FAULT.target_raised, row, card)


@noinline
def settle(columns: Columns, rules: Rules, state: State, of: int) -> None:
    """Settle a region where it lies now, by its grant or by a move."""
    if rules.returns or rules.evicts:
        card, own = card_of(state, int(state.block[of])), columns.borrower[of]
        state.places.card[of] = card
        enter_chain(state.places, HERE, card, of)
        if card != own:
            enter_chain(state.places, AWAY, own, of)


@noinline
def unsettle(columns: Columns, rules: Rules, state: State, of: int) -> None:
    """Take a region from the place where it lies, by its release or by a move."""
    if rules.returns or rules.evicts:
        card, own = state.places.card[of], columns.borrower[of]
        leave_chain(state.places, HERE, card, of)
        if card != own:
            leave_chain(state.places, AWAY, own, of)
