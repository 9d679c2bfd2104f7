"""The compiled loop of the engine `dispatch`: time, rounds, and the cycles that can be skipped (spec 3, section 8).

At a cycle, in this order: what is due is given back; late reports are renewed; groups that have arrived are put
forward; a round, if it is its turn and a group waits. After a round in which nothing was dispatched nothing changes
until something is given back, arrives, is renewed, changes its priority or is split: the failed rounds in between are
counted, not played.
"""

from __future__ import annotations

from workbench.compiled import NO_ANSWER, RAISED, kernel
from workbench.engines.dispatch.channels import put_forward
from workbench.engines.dispatch.entries import fail
from workbench.engines.dispatch.reports import first_reports, next_renewal, renew_in_turn
from workbench.engines.dispatch.selecting import NOTHING_FITS, select
from workbench.engines.dispatch.shape import Columns, Policies, Rules, Shape
from workbench.engines.dispatch.state import (
    FAILED,
    FAILS,
    FAILURES,
    FINE,
    FRAGMENTED,
    HEAD_ROUNDS,
    NEVER,
    NEXT_ARRIVAL,
    NONE,
    RAISED_IN,
    ROUNDS,
    STARVED,
    STATUS,
    STUCK_HEADS,
    WAITING,
    State,
)
from workbench.engines.dispatch.stepping import dispatch, release_due, split_stuck
from workbench.policies.dispatch.priority.question import HOLDS
from workbench.structures.timetable import next_due

ask_holds = HOLDS.ask
ABOUT_PRIORITY, ABOUT_ALL = 1, 8
DISPATCHED, FITS_NOWHERE, NOT_SELECTED, OVER = 1, 2, 3, 4
"""What a round came to: a group was dispatched; none fits; the selection policy let none go; a report promised too
much."""


@kernel
def simulate(shape: Shape, columns: Columns, rules: Rules, policies: Policies, state: State) -> None:
    """Run until every channel is empty and everything is given back, or until a policy breaks its contract."""
    counters, now, stale, came_to = state.counters, 0, True, FITS_NOWHERE
    first_reports(shape, policies, state)
    while now != NEVER and counters[STATUS] == FINE:
        renew_in_turn(shape, columns, rules, policies, state, now - 1, now)
        stale = release_due(shape, columns, rules, policies, state, now) or stale
        stale = renew_in_turn(shape, columns, rules, policies, state, now, now) or stale
        stale = put_forward(shape, columns, rules, policies, state, now) or stale
        if counters[WAITING] > 0 and now % rules.round_cycles == 0:
            came_to = _round(shape, columns, rules, policies, state, now)
            stale = came_to == DISPATCHED or came_to == OVER
            if came_to != DISPATCHED and _lose_patience(columns, rules, policies, state, now):
                put_forward(shape, columns, rules, policies, state, now)
                stale = True
        following = _next_cycle(shape, rules, policies, state, came_to, stale, now)
        _skip(rules, policies, state, now, following)
        if following == NEVER and counters[WAITING] > 0:
            fail(state, STARVED, now, NONE, NONE, ABOUT_ALL)
        now = following


@kernel
def _round(shape: Shape, columns: Columns, rules: Rules, policies: Policies, state: State, now: int) -> int:
    """One round: up to so many dispatches, until one does not come about."""
    counters, outcome = state.counters, FITS_NOWHERE
    counters[ROUNDS] += 1
    counters[HEAD_ROUNDS] += counters[WAITING]
    counters[STUCK_HEADS] = _fragmented(rules, state)
    counters[FRAGMENTED] += counters[STUCK_HEADS]
    for k in range(rules.dispatches_a_round):
        if counters[WAITING] == 0:
            break
        offer = select(columns, rules, policies, state, now)
        if offer < 0:
            if k == 0:
                outcome = FITS_NOWHERE if offer == NOTHING_FITS else NOT_SELECTED
            break
        if not dispatch(shape, columns, rules, policies, state, offer, now):
            if k == 0:
                outcome = OVER
            break
        outcome = DISPATCHED
        put_forward(shape, columns, rules, policies, state, now)
    if outcome == DISPATCHED:
        counters[FAILS] = 0
    else:
        counters[FAILED] += 1
        counters[FAILS] += counters[FAILS] <= policies.stuck.patience
        _log_failure(state, now)
    return outcome


@kernel
def _fragmented(rules: Rules, state: State) -> int:
    """How many heads fit no module, although in some module enough blocks are free in total."""
    heads = 0
    for channel in range(rules.channels):
        offer = channel * rules.offers
        heads += state.offered[channel] > 0 and state.fitting[offer] == 0 and state.enoughs[offer] > 0
    return heads


@kernel
def _lose_patience(columns: Columns, rules: Rules, policies: Policies, state: State, now: int) -> bool:
    if state.counters[FAILS] <= policies.stuck.patience:
        return False
    if not split_stuck(columns, rules, policies, state, now):
        return False
    state.counters[FAILS] = 0
    return True


@kernel
def _next_round(rules: Rules, now: int) -> int:
    return (now // rules.round_cycles + 1) * rules.round_cycles


@kernel
def _next_cycle(
    shape: Shape, rules: Rules, policies: Policies, state: State, came_to: int, stale: bool, now: int
) -> int:
    """The next cycle in which anything can change."""
    counters = state.counters
    following = min(next_due(state.due), counters[NEXT_ARRIVAL])
    if counters[WAITING] == 0:
        return following
    following = min(following, next_renewal(shape, policies, state, now))
    if stale:
        return min(following, _next_round(rules, now))
    if came_to == NOT_SELECTED:
        following = min(following, _order_changes(rules, policies, state, now))
    patience = policies.stuck.patience
    if counters[FAILS] <= patience and patience < NEVER:
        rounds = patience - counters[FAILS]
        following = min(following, _next_round(rules, now) + rounds * rules.round_cycles)
    return following


@kernel
def _order_changes(rules: Rules, policies: Policies, state: State, now: int) -> int:
    if policies.priority.holds_until == NO_ANSWER:
        return now + 1
    until = ask_holds(policies.priority.holds_until, now, rules.levels, policies.priority.params)
    if until == RAISED:
        fail(state, RAISED_IN, now, NONE, until, ABOUT_PRIORITY)
    return max(until, now + 1)


@kernel
def _skip(rules: Rules, policies: Policies, state: State, now: int, following: int) -> None:
    """Count the rounds between two cycles, all of which fail as the last one did."""
    counters = state.counters
    if following == NEVER or counters[WAITING] == 0:
        return
    rounds = (following - 1) // rules.round_cycles - now // rules.round_cycles
    if rounds <= 0:
        return
    counters[ROUNDS] += rounds
    counters[FAILED] += rounds
    counters[HEAD_ROUNDS] += rounds * counters[WAITING]
    counters[FRAGMENTED] += rounds * counters[STUCK_HEADS]
    counters[FAILS] = min(counters[FAILS] + rounds, max(policies.stuck.patience + 1, counters[FAILS]))
    at = counters[FAILURES] - 1
    if 0 <= at < state.failures.shape[0]:
        state.failures[at, 1] += rounds


@kernel
def _log_failure(state: State, now: int) -> None:
    at = state.counters[FAILURES]
    if at < state.failures.shape[0]:
        state.failures[at, 0], state.failures[at, 1] = now, 1
    state.counters[FAILURES] += 1


