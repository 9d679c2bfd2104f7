"""The compiled loop of the engine `dispatch`: its events in their order, and the cycles that can be skipped.

Two things happen: a group gives back what it held, and the channels are looked at. A look renews late reports, puts
arrived groups forward and, if it is its turn and a group waits, plays the round of its cycle. At a cycle all that is
due is given back first. Where a run stands lies in its counters, so it may be left before any event and gone on with
later; meanwhile groups and ends may be asked (`asking`).
"""

from __future__ import annotations

from workbench.compiled import NO_ANSWER, RAISED, by_reference, inlined, kernel
from workbench.engines.dispatch.channels import put_forward
from workbench.engines.dispatch.reports import first_reports, next_renewal, renew_in_turn
from workbench.engines.dispatch.rounds import NOT_SELECTED, OVER_PROMISE, count_failures, play_round
from workbench.engines.dispatch.shape import Policies, Rules, to_int64
from workbench.engines.dispatch.state import COUNT, FAULT, NEVER, NONE, Play, State
from workbench.engines.dispatch.stepping import exchange, stop_issuing
from workbench.engines.kit.faults import FINE, STOP, fail
from workbench.engines.kit.order import RANK
from workbench.policies.dispatch.priority import HOLDS, OrderView
from workbench.structures.timetable import next_due, take

ask_holds = HOLDS.ask
NO_OFFER = to_int64(NONE)
MOST_ORDERS = 1 << 16
"""Orders in which a selection policy may dispatch nothing, one after another, while all modules are empty."""


@kernel
def play_until(play: Play, cycle: int, rank: int) -> None:
    """Take every event that precedes a cycle and a rank, unless a policy breaks its contract; with `NEVER` all."""
    take_events(by_reference(play), cycle, rank)


@inlined
def take_events(play: Play, cycle: int, rank: int) -> None:
    """Take every event that precedes a cycle and a rank."""
    state = play.state
    begin(play)
    while state.counters[STOP.fault] == FINE and precedes(state, cycle, rank):
        take_event(play)


@inlined
def begin(play: Play) -> None:
    """Make the reports of empty modules, unless that was done."""
    if not play.state.counters[COUNT.begun]:
        play.state.counters[COUNT.begun] = 1
        first_reports(play.shape, play.policies, play.state)


@inlined
def take_event(play: Play) -> None:
    """Take the next event, of which there must be one."""
    if releases_next(play.state):
        _release(play)
    else:
        _look(play)


@kernel
def next_cycle(state: State) -> int:
    """Return the cycle of the next event, or `NEVER`."""
    return min(next_due(state.due), state.counters[COUNT.look])


@kernel
def releases_next(state: State) -> bool:
    """Return whether the next event gives something back."""
    return next_due(state.due) <= state.counters[COUNT.look]


@kernel
def next_rank(state: State) -> int:
    """Return the rank of the next event at its cycle."""
    return RANK.releases if releases_next(state) else RANK.rounds


@inlined
def precedes(state: State, cycle: int, rank: int) -> bool:
    """Return whether there is a next event before a cycle and a rank."""
    comes = next_cycle(state)
    return comes < cycle or (comes == cycle and comes < NEVER and next_rank(state) < rank)


@inlined
def _release(play: Play) -> None:
    """Let a group give back what it holds; where that is asked for, let it first have issued all it will."""
    state, now = play.state, next_due(play.state.due)
    slots = state.slot_dispatch.shape[0]
    slot = take(state.due, now)
    if slot >= slots:
        stop_issuing(play.columns, play.rules, play.policies, state, slot - slots, now)
        return
    make_present(play, now)
    state.counters[COUNT.stale], state.counters[COUNT.look] = 1, now
    module = to_int64(state.module[state.slot_dispatch[slot, 0]])
    exchange(play.shape, play.columns, play.rules, play.policies, state, NO_OFFER, module, slot, now)


@inlined
def _look(play: Play) -> None:
    """Look at the channels, play the round if it is its turn, and plan the next look."""
    state, now = play.state, play.state.counters[COUNT.look]
    counters = state.counters
    make_present(play, now)
    renewed = renew_in_turn(play.shape, play.policies, state, now)
    if put_forward(play.columns, play.rules, state, now) or renewed:
        counters[COUNT.stale] = 1
    if not counters[COUNT.looked]:
        counters[COUNT.looked] = 1
        if counters[COUNT.waiting] > 0 and now % play.rules.round_cycles == 0:
            play_round(play, now)
    if counters[STOP.fault] == FINE:
        _plan(play, now)


@inlined
def make_present(play: Play, now: int) -> None:
    """Make a cycle the present one: rounds since the last one are counted, late reports in between renewed."""
    counters = play.state.counters
    before = counters[COUNT.now]
    if now == before:
        return
    counters[COUNT.now], counters[COUNT.looked] = now, 0
    if counters[COUNT.waiting] > 0:
        rounds = (now - 1) // play.rules.round_cycles - before // play.rules.round_cycles
        if rounds > 0:
            count_failures(play.columns, play.rules, play.policies, play.state, rounds)
    renew_in_turn(play.shape, play.policies, play.state, now - 1)


@inlined
def _plan(play: Play, now: int) -> None:
    """Plan the next look; a group that waits although nothing can help it any more ends the run."""
    state = play.state
    counters, idle = state.counters, _is_idle(play.rules, state)
    counters[COUNT.look] = _next_look(play, now)
    counters[COUNT.orders] = counters[COUNT.orders] + 1 if idle and not counters[COUNT.stale] else 0
    refused = int(counters[COUNT.came_to] == OVER_PROMISE)
    counters[COUNT.tries] = counters[COUNT.tries] + refused if idle else 0
    most_orders = MOST_ORDERS if play.rules.skips else play.rules.most_tries
    in_vain = counters[COUNT.orders] > most_orders or counters[COUNT.tries] > play.rules.most_tries
    if counters[COUNT.waiting] > 0 and idle and (in_vain or counters[COUNT.look] == NEVER):
        fail(counters, FAULT.starved, now, NONE, counters[COUNT.tries])


@inlined
def _is_idle(rules: Rules, state: State) -> bool:
    """Return whether all modules are empty and no group will come that a channel could put forward."""
    if state.counters[COUNT.running] > 0 or state.counters[COUNT.next_arrival] != NEVER:
        return False
    for channel in range(rules.channels):
        if state.unasked[channel] > 0 and state.offered[channel] < rules.offers:
            return False
    return True


@inlined
def _next_look(play: Play, now: int) -> int:
    """Return the next cycle in which anything can change, but for what is given back; or the next one of all."""
    rules, policies, state = play.rules, play.policies, play.state
    counters = state.counters
    following = counters[COUNT.next_arrival]
    if not rules.skips and (counters[COUNT.waiting] > 0 or min(following, next_due(state.due)) < NEVER):
        return now + 1
    if counters[COUNT.waiting] == 0:
        return following
    following = min(following, next_renewal(play.shape, policies, state, now))
    next_round = (now // rules.round_cycles + 1) * rules.round_cycles
    if counters[COUNT.stale]:
        return min(following, next_round)
    if counters[COUNT.came_to] == NOT_SELECTED:
        following = min(following, _reordered_round(rules, policies, state, now))
    patience = policies.stuck.patience
    if counters[COUNT.fails] <= patience and patience < NEVER:
        following = min(following, next_round + (patience - counters[COUNT.fails]) * rules.round_cycles)
    return following


@inlined
def _reordered_round(rules: Rules, policies: Policies, state: State, now: int) -> int:
    """Return the first round to come at which the order may differ from that of the round before (spec 3, R18, R19).

    The order is followed from that round on, not from `now`: what changes between two rounds is seen by the later one.
    """
    round_cycles = rules.round_cycles
    last = now // round_cycles * round_cycles
    if policies.priority.holds_until == NO_ANSWER:
        return last + round_cycles
    until = ask_holds(policies.priority.holds_until, OrderView(last, rules.levels, policies.priority.params))
    if until == RAISED:
        fail(state.counters, FAULT.priority_raised, now, NONE, until)
    if until >= NEVER:
        return NEVER
    return max((until - 1) // round_cycles + 1, last // round_cycles + 1) * round_cycles
