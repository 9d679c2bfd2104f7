"""A round: the groups that wait are judged, and as many dispatched as a round may, one by one (spec 3, section 8).

A round in which nothing was dispatched is a failed one. After it nothing changes until something is given back,
arrives, is renewed, changes its priority or is split: failed rounds in between are counted, not played. A round that
failed because a placement refused what was promised is followed by the next one: a placement that draws or remembers
is asked again in every round.
"""

from __future__ import annotations

from workbench.compiled import inlined, noinline
from workbench.engines.dispatch.channels import put_forward
from workbench.engines.dispatch.choosing import choose
from workbench.engines.dispatch.entries import group_of
from workbench.engines.dispatch.fitting import settle
from workbench.engines.dispatch.granting import take_slot
from workbench.engines.dispatch.retrying import open_again
from workbench.engines.dispatch.selecting import NOTHING_FITS, REFUSED, select
from workbench.engines.dispatch.shape import Columns, Policies, Rules
from workbench.engines.dispatch.state import COUNT, Play, State
from workbench.engines.dispatch.stepping import exchange, split_stuck
from workbench.engines.dispatch.told import tell_failure
from workbench.engines.kit.faults import FINE, STOP

DISPATCHED, FITS_NOWHERE, NOT_SELECTED, OVER_PROMISE = range(4)
"""What a round came to: a group was dispatched; none fits; the selection policy let none go; a report promised too
much."""


@inlined
def play_round(play: Play, now: int) -> None:
    """Play the round of a cycle, and note what it came to."""
    counters = play.state.counters
    _judge_again(play, now)
    if counters[STOP.fault] != FINE:
        return
    count_rounds(play.columns, play.rules, play.state, 1)
    sent = _dispatch_groups(play, now)
    if counters[STOP.fault] != FINE:
        return
    counters[COUNT.stale] = int(
        _end_round(play, sent, now) or counters[COUNT.came_to] == DISPATCHED or counters[COUNT.came_to] == OVER_PROMISE
    )
    if put_forward(play.columns, play.rules, play.state, now):
        counters[COUNT.stale] = 1


@inlined
def _judge_again(play: Play, now: int) -> None:
    """Renew the verdicts, and once more where a placement that refused may have changed its mind."""
    while True:
        settle(play.shape, play.columns, play.rules, play.policies, play.state, now)
        if play.state.counters[STOP.fault] != FINE or not open_again(play.rules, play.state):
            return


@inlined
def _dispatch_groups(play: Play, now: int) -> int:
    """Let one group after another go, as long as the round allows; return how many."""
    columns, rules, state = play.columns, play.rules, play.state
    counters, sent = state.counters, 0
    while counters[STOP.fault] == FINE:
        offer = NOTHING_FITS
        if counters[COUNT.waiting] > 0 and sent < rules.dispatches_a_round:
            offer = select(columns, rules, play.policies, state, now)
        if offer < 0:
            counters[COUNT.came_to] = NOT_SELECTED if offer == REFUSED else FITS_NOWHERE
            break
        if not _dispatch(play, offer, now):
            counters[COUNT.came_to] = OVER_PROMISE
            break
        sent += 1
        put_forward(columns, rules, state, now)
        settle(play.shape, columns, rules, play.policies, state, now)
    if sent > 0:
        counters[COUNT.came_to] = DISPATCHED
    return sent


@inlined
def _dispatch(play: Play, offer: int, now: int) -> bool:
    """Let an offer take its resources of the module that is chosen; False if a placement refused."""
    shape, columns, rules, policies, state = play.shape, play.columns, play.rules, play.policies, play.state
    module = choose(shape, columns, rules, policies, state, offer, now)
    return exchange(shape, columns, rules, policies, state, offer, module, take_slot(state), now)


@noinline
def count_rounds(columns: Columns, rules: Rules, state: State, rounds: int) -> None:
    """Count rounds with the heads as they are: those that wait, that fit nowhere, that fit nowhere for fragmentation.

    The last are heads for which in some module enough blocks are free in total.
    """
    counters = state.counters
    counters[COUNT.rounds] += rounds
    counters[COUNT.head_rounds] += rounds * counters[COUNT.waiting]
    for channel in range(rules.channels):
        head = channel * rules.offers
        if state.offered[channel] > 0 and state.fitting[head] == 0:
            if not rules.forgets:
                state.refused[group_of(columns, state, state.offer[head])] += rounds
            if state.enoughs[head] > 0:
                counters[COUNT.fragmented] += rounds


@inlined
def _end_round(play: Play, sent: int, now: int) -> bool:
    """Count a round in which nothing was dispatched, and split what has been stuck too long; True if anything was."""
    state, policies = play.state, play.policies
    counters, patience = state.counters, policies.stuck.patience
    if sent > 0:
        counters[COUNT.fails] = counters[COUNT.failing] = 0
        return False
    counters[COUNT.failed] += 1
    counters[COUNT.failing] += 1
    counters[COUNT.fails] += int(counters[COUNT.fails] <= patience)
    _log_failure(state, now)
    answers = counters[COUNT.answered]
    if play.rules.tells_all:
        tell_failure(state, now)
    if counters[COUNT.fails] <= patience or not split_stuck(play.columns, play.rules, policies, state, now):
        if not counters[COUNT.stale]:  # a round that was played for the count alone is not told
            counters[COUNT.answered] = answers
        return False
    counters[COUNT.fails] = counters[COUNT.failing] = 0
    return True


@noinline
def count_failures(columns: Columns, rules: Rules, policies: Policies, state: State, rounds: int) -> None:
    """Count rounds that all fail as the last one did."""
    counters = state.counters
    count_rounds(columns, rules, state, rounds)
    counters[COUNT.failed] += rounds
    counters[COUNT.failing] += rounds
    counters[COUNT.fails] = min(counters[COUNT.fails] + rounds, max(policies.stuck.patience + 1, counters[COUNT.fails]))
    at = counters[COUNT.failures] - 1
    if 0 <= at < state.failures.shape[0]:
        state.failures[at, 1] += rounds


@inlined
def _log_failure(state: State, now: int) -> None:
    at = state.counters[COUNT.failures]
    if at < state.failures.shape[0]:
        state.failures[at, 0], state.failures[at, 1] = now, 1
    state.counters[COUNT.failures] += 1
