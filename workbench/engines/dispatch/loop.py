"""The compiled loop of the engine `dispatch`: time, rounds, and the cycles that can be skipped (spec 3, section 8).

At a cycle, in this order: what is due is given back; late reports are renewed; groups that have arrived are put
forward; a round, if it is its turn and a group waits. What is large (taking and giving back, verdicts, choice) is
called in one place alone, for kernels are inlined. After a round in which nothing was dispatched nothing changes
until something is given back, arrives, is renewed, changes its priority or is split: the failed rounds in between are
counted, not played. A round that failed because a placement refused what was promised is followed by the next one: a
placement that draws or remembers is asked again in every round.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from workbench.compiled import NO_ANSWER, RAISED, by_reference, kernel, routine
from workbench.engines.dispatch.channels import put_forward
from workbench.engines.dispatch.choosing import choose
from workbench.engines.dispatch.entries import group_of
from workbench.engines.dispatch.fitting import settle
from workbench.engines.dispatch.granting import take_slot
from workbench.engines.dispatch.reports import first_reports, next_renewal, renew_in_turn
from workbench.engines.dispatch.retrying import open_again
from workbench.engines.dispatch.selecting import NOTHING_FITS, REFUSED, select
from workbench.engines.dispatch.shape import Columns, Policies, Rules, Shape
from workbench.engines.dispatch.state import COUNT, FAULT, NEVER, NONE, State
from workbench.engines.dispatch.stepping import exchange, split_stuck
from workbench.engines.kit.faults import FINE, STOP, fail
from workbench.policies.dispatch.priority.question import HOLDS
from workbench.policies.dispatch.priority.view import OrderView
from workbench.structures.timetable import next_due, take

ask_holds = HOLDS.ask
MOST_ORDERS = 1 << 16
"""Orders in which a selection policy may dispatch nothing, one after another, while all modules are empty."""
DISPATCHED, FITS_NOWHERE, NOT_SELECTED, OVER_PROMISE = range(4)
"""What a round came to: a group was dispatched; none fits; the selection policy let none go; a report promised too
much."""
BEFORE, DURING, ENDED, AFTER = range(4)
"""Where a cycle stands: before its round, in it, at its end, past it."""


@kernel
def simulate(shape: Shape, columns: Columns, rules: Rules, policies: Policies, state: State) -> None:
    """Run until every channel is empty and everything is given back, or until a policy breaks its contract."""
    _run(by_reference(shape), by_reference(columns), by_reference(rules), by_reference(policies), by_reference(state))


@routine
def _run(shape: Shape, columns: Columns, rules: Rules, policies: Policies, state: State) -> None:
    counters, stale, came_to, orders, tries = state.counters, True, FITS_NOWHERE, 0, 0
    now: Any = np.int64(0)  # of a plain 0 Numba would compile everything once more
    first_reports(shape, policies, state)
    while now != NEVER and counters[STOP.fault] == FINE:
        renew_in_turn(shape, policies, state, now - 1)
        phase, sent = BEFORE, 0
        while counters[STOP.fault] == FINE:
            offer = NONE
            if next_due(state.due) == now:
                stale, slot = True, take(state.due, now)
                module = int(state.module[state.slot_dispatch[slot, 0]])
            else:
                if phase == ENDED:
                    split = _end_round(columns, rules, policies, state, sent, now)
                    stale, phase = split or came_to in (DISPATCHED, OVER_PROMISE), AFTER
                stale = renew_in_turn(shape, policies, state, now) or stale
                stale = put_forward(columns, rules, state, now) or stale
                if phase == AFTER or (phase == BEFORE and not _is_turn(rules, state, now)):
                    break
                settle(shape, columns, rules, policies, state, now)
                if counters[STOP.fault] != FINE or (phase == BEFORE and open_again(rules, state)):
                    continue
                if phase == BEFORE:
                    phase = DURING
                    _count_rounds(columns, rules, state, 1)
                offer = NOTHING_FITS
                if counters[COUNT.waiting] > 0 and sent < rules.dispatches_a_round:
                    offer = select(columns, rules, policies, state, now)
                if offer < 0:
                    phase = ENDED
                    came_to = DISPATCHED if sent > 0 else NOT_SELECTED if offer == REFUSED else FITS_NOWHERE
                    continue
                module, slot = choose(shape, columns, rules, policies, state, offer, now), take_slot(state)
            done = exchange(shape, columns, rules, policies, state, offer, module, slot, now)
            if offer != NONE:
                sent += int(done)
                phase = DURING if done else ENDED
                came_to = DISPATCHED if sent > 0 else OVER_PROMISE
        following = _next_cycle(shape, rules, policies, state, came_to, stale, now)
        _skip(columns, rules, policies, state, now, following)
        idle = min(next_due(state.due), counters[COUNT.next_arrival]) == NEVER
        orders = orders + 1 if idle and not stale else 0
        tries = tries + int(came_to == OVER_PROMISE) if idle else 0
        if counters[COUNT.waiting] > 0 and (following == NEVER or orders > MOST_ORDERS or tries > rules.most_tries):
            fail(counters, FAULT.starved, now, NONE, tries)
        now = following


@kernel
def _is_turn(rules: Rules, state: State, now: int) -> bool:
    """Return whether there is a round in this cycle."""
    return state.counters[COUNT.waiting] > 0 and now % rules.round_cycles == 0


@kernel
def _count_rounds(columns: Columns, rules: Rules, state: State, rounds: int) -> None:
    """Count rounds with the heads as they are: those that wait, that fit nowhere, that fit nowhere for fragmentation.

    The last are heads for which in some module enough blocks are free in total.
    """
    counters = state.counters
    counters[COUNT.rounds] += rounds
    counters[COUNT.head_rounds] += rounds * counters[COUNT.waiting]
    for channel in range(rules.channels):
        head = channel * rules.offers
        if state.offered[channel] > 0 and state.fitting[head] == 0:
            state.refused[group_of(columns, state, state.offer[head])] += rounds
            if state.enoughs[head] > 0:
                counters[COUNT.fragmented] += rounds


@kernel
def _end_round(columns: Columns, rules: Rules, policies: Policies, state: State, sent: int, now: int) -> bool:
    """Count a round in which nothing was dispatched, and split what has been stuck too long; True if anything was."""
    counters, patience = state.counters, policies.stuck.patience
    if sent > 0:
        counters[COUNT.fails] = 0
        return False
    counters[COUNT.failed] += 1
    counters[COUNT.fails] += int(counters[COUNT.fails] <= patience)
    _log_failure(state, now)
    if counters[COUNT.fails] <= patience or not split_stuck(columns, rules, policies, state, now):
        return False
    counters[COUNT.fails] = 0
    return True


@kernel
def _next_round(rules: Rules, now: int) -> int:
    return (now // rules.round_cycles + 1) * rules.round_cycles


@kernel
def _next_cycle(
    shape: Shape, rules: Rules, policies: Policies, state: State, came_to: int, stale: bool, now: int
) -> int:
    """Return the next cycle in which anything can change."""
    counters = state.counters
    following = min(next_due(state.due), counters[COUNT.next_arrival])
    if counters[COUNT.waiting] == 0:
        return following
    following = min(following, next_renewal(shape, policies, state, now))
    if stale:
        return min(following, _next_round(rules, now))
    if came_to == NOT_SELECTED:
        following = min(following, _order_changes(rules, policies, state, now))
    patience = policies.stuck.patience
    if counters[COUNT.fails] <= patience and patience < NEVER:
        rounds = patience - counters[COUNT.fails]
        following = min(following, _next_round(rules, now) + rounds * rules.round_cycles)
    return following


@kernel
def _order_changes(rules: Rules, policies: Policies, state: State, now: int) -> int:
    if policies.priority.holds_until == NO_ANSWER:
        return now + 1
    until = ask_holds(policies.priority.holds_until, OrderView(now, rules.levels, policies.priority.params))
    if until == RAISED:
        fail(state.counters, FAULT.priority_raised, now, NONE, until)
    return max(until, now + 1)


@kernel
def _skip(columns: Columns, rules: Rules, policies: Policies, state: State, now: int, following: int) -> None:
    """Count the rounds between two cycles, all of which fail as the last one did."""
    counters = state.counters
    if following == NEVER or counters[COUNT.waiting] == 0:
        return
    rounds = (following - 1) // rules.round_cycles - now // rules.round_cycles
    if rounds <= 0:
        return
    _count_rounds(columns, rules, state, rounds)
    counters[COUNT.failed] += rounds
    counters[COUNT.fails] = min(counters[COUNT.fails] + rounds, max(policies.stuck.patience + 1, counters[COUNT.fails]))
    at = counters[COUNT.failures] - 1
    if 0 <= at < state.failures.shape[0]:
        state.failures[at, 1] += rounds


@kernel
def _log_failure(state: State, now: int) -> None:
    at = state.counters[COUNT.failures]
    if at < state.failures.shape[0]:
        state.failures[at, 0], state.failures[at, 1] = now, 1
    state.counters[COUNT.failures] += 1
