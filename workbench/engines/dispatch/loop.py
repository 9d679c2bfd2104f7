"""The compiled loop of the engine `dispatch`: its events in their order, its rounds, the cycles that are skipped.

Two things happen: a group gives back what it held, and the channels are looked at. A look renews late reports and puts
arrived groups forward. If it is its turn and a group waits, it plays the round of its cycle. The groups that wait are
judged, and as many dispatched as a round may, one by one (spec 3, section 8). At a cycle all that is due is given back
first. Where a run stands lies in its counters, so it may be left before any event and gone on with later; meanwhile
groups and ends may be asked (`part`).

A round in which nothing was dispatched is a failed one. After it nothing changes until something is given back,
arrives, is renewed, changes its priority or is split: failed rounds in between are counted, not played. A round that
failed because a placement refused what was promised is followed by the next one: a placement that draws or remembers
is asked again in every round.
"""

from __future__ import annotations

from workbench.compiled import NO_ANSWER, RAISED, by_reference, inlined, kernel, noinline
from workbench.compiled.memory_access import call
from workbench.engines.dispatch.channels import put_forward, settle, tell_failure
from workbench.engines.dispatch.choice import NOTHING_FITS, REFUSED, choose, select
from workbench.engines.dispatch.grants import take_slot
from workbench.engines.dispatch.reports import first_reports, next_renewal, renew_in_turn
from workbench.engines.dispatch.setting import HOOK, Columns, Policies, Rules, to_int64
from workbench.engines.dispatch.state import COUNT, FAULT, NO_OFFER, NO_ROW, NONE, Play, State
from workbench.engines.dispatch.steps import exchange, open_again, split_stuck, stop_issuing
from workbench.engines.dispatch.subgroups import group_of
from workbench.engines.kit.faults import FINE, STOP, fail
from workbench.engines.kit.order import RANK
from workbench.policies.dispatch.priority import HOLDS, OrderView
from workbench.structures.timetable import NEVER, next_due, take

ask_holds = HOLDS.ask
MOST_ORDERS = 1 << 16
"""Orders in which a selection policy may dispatch nothing, one after another, while all modules are empty."""


@kernel
def play_all(play: Play) -> None:
    """Take every event, unless a policy breaks its contract."""
    run = by_reference(play)
    begin(run)
    while run.state.counters[STOP.fault] == FINE and next_cycle(run.state) < NEVER:
        take_event(run)


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
    return min(_next_release(state), state.counters[COUNT.look])


@kernel
def _next_release(state: State) -> int:
    """Return the cycle at which something is given back next, or `NEVER`."""
    return min(next_due(state.due), state.counters[COUNT.next_end])


@kernel
def releases_next(state: State) -> bool:
    """Return whether the next event gives something back."""
    # At one cycle the releases come first: the round sees what they free (spec 7, E7).
    return _next_release(state) <= state.counters[COUNT.look]


@kernel
def next_rank(state: State) -> int:
    """Return the rank of the next event at its cycle."""
    return RANK.releases if releases_next(state) else RANK.rounds


@inlined
def _release(play: Play) -> None:
    """Let a group give back what it holds; where that is asked for, let it first have issued all it will."""
    state, now = play.state, _next_release(play.state)
    slots = state.slot_dispatch.shape[0]
    # With shared rates `due` holds the ends of endless groups alone, which come last (spec 7, E7).
    if state.counters[COUNT.next_end] == now:
        hooks = play.policies.hooks
        slot = call(hooks[HOOK.take_paced], hooks[HOOK.lent], (now,))
    else:
        slot = take(state.due, now)
    # A load above the slots marks the end of compute of a group that stays (`_stay`). It frees nothing:
    # no look at the channels is needed.
    if slot >= slots:
        stop_issuing(play.columns, play.rules, play.policies, state, slot - slots, now)
        return
    # Before the release: the rounds before this cycle failed while its resources were still held.
    make_present(play, now)
    state.counters[COUNT.stale], state.counters[COUNT.look] = 1, now
    module = to_int64(state.module[state.slot_dispatch[slot, 0]])
    exchange(play.shape, play.columns, play.rules, play.policies, state, NO_OFFER, NO_ROW, module, slot, now)
    # At once: the end that was taken stays in the tournament until the ends are renewed (endless groups have none).
    if play.rules.paced:
        _renew_pace(play)


@inlined
def _renew_pace(play: Play) -> None:
    """Give the modules whose residents changed their new rate."""
    hooks = play.policies.hooks
    call(hooks[HOOK.renew_pace], hooks[HOOK.lent], (play.state.counters[COUNT.now],))


@inlined
def _look(play: Play) -> None:
    """Look at the channels, play the round if it is its turn, and plan the next look."""
    state, now = play.state, play.state.counters[COUNT.look]
    counters = state.counters
    make_present(play, now)
    # All groups have ended but endless ones that have not started: these never start (spec 7, R16).
    if counters[COUNT.over]:
        counters[COUNT.look] = NEVER
        return
    # Before the round, which may use only what the module queues leave (spec 7, E7).
    postponed = False
    if play.rules.pending_depth:
        hooks = play.policies.hooks
        postponed = call(hooks[HOOK.start_queued], hooks[HOOK.lent], (now,)) != 0
    renewed = renew_in_turn(play.shape, play.policies, state, now)
    if put_forward(play.columns, play.rules, state, now) or renewed:
        counters[COUNT.stale] = 1
    # One round a cycle, even if a later event of the cycle asks for another look.
    if not counters[COUNT.looked]:
        counters[COUNT.looked] = 1
        if counters[COUNT.waiting] > 0 and now % play.rules.round_cycles == 0:
            play_round(play, now)
    # After the round: all takes of a cycle are one change of rate (spec 7, R25).
    if play.rules.paced:
        _renew_pace(play)
    if counters[STOP.fault] == FINE:
        _plan(play, postponed, now)


@inlined
def make_present(play: Play, now: int) -> None:
    """Make a cycle the present one: rounds since the last one are counted, late reports in between renewed."""
    counters = play.state.counters
    before = counters[COUNT.now]
    if now == before:
        return
    counters[COUNT.now], counters[COUNT.looked] = now, 0
    if counters[COUNT.waiting] > 0:
        # The rounds after `before` and before `now`: that of `before` is over, that of `now` is still to be played.
        rounds = (now - 1) // play.rules.round_cycles - before // play.rules.round_cycles
        if rounds > 0:
            count_failures(play.columns, play.rules, play.policies, play.state, rounds)
    # Not up to `now`: a report of this cycle must include its releases, which come first.
    renew_in_turn(play.shape, play.policies, play.state, now - 1)


DISPATCHED, FITS_NOWHERE, NOT_SELECTED, OVER_PROMISE = range(4)
"""What a round came to: a group was dispatched; none fits; the selection policy let none go; a report promised too
much."""


@inlined
def _plan(play: Play, postponed: bool, now: int) -> None:
    """Plan the next look; a group that waits although nothing can help it any more ends the run.

    A placement may have postponed the first one of a module's queue to the next round.
    """
    state = play.state
    counters, idle = state.counters, _is_idle(play.rules, state)
    counters[COUNT.look] = _next_look(play, now)
    counters[COUNT.orders] = counters[COUNT.orders] + 1 if idle and not counters[COUNT.stale] and not postponed else 0
    refused = int(postponed or counters[COUNT.came_to] == OVER_PROMISE)
    counters[COUNT.tries] = counters[COUNT.tries] + refused if idle else 0
    # Without skipping, each cycle is a look, also between two orders: the bound must be larger.
    most_orders = MOST_ORDERS if play.rules.skips else play.rules.most_tries
    in_vain = counters[COUNT.orders] > most_orders or counters[COUNT.tries] > play.rules.most_tries
    waits = counters[COUNT.waiting] > 0 or counters[COUNT.retry] < NEVER
    if not waits or not idle or not (in_vain or counters[COUNT.look] == NEVER):
        return
    if play.rules.hangs:
        counters[COUNT.look] = NEVER
    else:
        fail(counters, FAULT.starved, now, NONE, counters[COUNT.tries])


@inlined
def _is_idle(rules: Rules, state: State) -> bool:
    """Return whether nothing will be given back and no group will come that a channel could put forward."""
    # Groups at a barrier and endless groups run, but may never end: only a planned release counts (spec 7, R17).
    running = _next_release(state) < NEVER if rules.hangs else state.counters[COUNT.running] > 0
    if running or state.counters[COUNT.next_arrival] != NEVER:
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
    following = min(counters[COUNT.next_arrival], counters[COUNT.retry])
    if not rules.skips and (counters[COUNT.waiting] > 0 or min(following, _next_release(state)) < NEVER):
        return now + 1
    if counters[COUNT.waiting] == 0:
        return following
    following = min(following, next_renewal(play.shape, policies, state, now))
    next_round = (now // rules.round_cycles + 1) * rules.round_cycles
    if counters[COUNT.stale]:
        return min(following, next_round)
    # Another order helps only where something fits and was not selected.
    if counters[COUNT.came_to] == NOT_SELECTED:
        following = min(following, _reordered_round(rules, policies, state, now))
    patience = policies.stuck.patience
    # The round in which the count passes the threshold is played: it may split (R22, R25). At `FOR_EVER` the product
    # may overflow.
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
    # The first round at `until` or later, and never the round of `last` again.
    return max((until - 1) // round_cycles + 1, last // round_cycles + 1) * round_cycles


@inlined
def play_round(play: Play, now: int) -> None:
    """Play the round of a cycle, and note what it came to."""
    counters = play.state.counters
    _judge_again(play, now)
    if counters[STOP.fault] != FINE:
        return
    # Before the dispatches: the heads that wait at the start of the round are counted.
    count_rounds(play.columns, play.rules, play.state, 1)
    sent = _dispatch_groups(play, now)
    if counters[STOP.fault] != FINE:
        return
    counters[COUNT.stale] = int(
        _end_round(play, sent, now) or counters[COUNT.came_to] == DISPATCHED or counters[COUNT.came_to] == OVER_PROMISE
    )
    # A split empties the offers of its channel: its sub-groups come forward now.
    if put_forward(play.columns, play.rules, play.state, now):
        counters[COUNT.stale] = 1


@inlined
def _judge_again(play: Play, now: int) -> None:
    """Renew the verdicts, and once more where a placement that refused may have changed its mind."""
    while True:
        _settle(play, now)
        if play.state.counters[STOP.fault] != FINE or not open_again(play.rules, play.state):
            return


@inlined
def _settle(play: Play, now: int) -> None:
    """Renew the verdicts, and which modules are open to each head."""
    settle(play.shape, play.columns, play.rules, play.policies, play.state, now)
    if play.rules.between:
        hooks = play.policies.hooks
        call(hooks[HOOK.open_modules], hooks[HOOK.lent], (now,))


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
        _settle(play, now)
    # A round that dispatched a group has not failed, whatever ended its loop.
    if sent > 0:
        counters[COUNT.came_to] = DISPATCHED
    return sent


@inlined
def _dispatch(play: Play, offer: int, now: int) -> bool:
    """Let an offer take its resources of the module that is chosen; False if a placement refused."""
    shape, columns, rules, policies, state = play.shape, play.columns, play.rules, play.policies, play.state
    if rules.between:
        hooks = policies.hooks
        return call(hooks[HOOK.dispatch], hooks[HOOK.lent], (offer, now)) != 0
    module = choose(shape, columns, rules, policies, state, offer, now)
    return exchange(shape, columns, rules, policies, state, offer, NO_ROW, module, take_slot(state), now)


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
        if state.offered[channel] > 0 and state.opens[head] == 0:
            if not rules.forgets:
                state.refused[group_of(columns, state, state.offer[head])] += rounds
            if state.short_of_runs[head] > 0:
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
    # It grows no further than threshold + 1, so that a flagged head that comes later is split at once (E11).
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
    # `max`: the first count (`fail_init`) may lie above the threshold already.
    counters[COUNT.fails] = min(counters[COUNT.fails] + rounds, max(policies.stuck.patience + 1, counters[COUNT.fails]))
    # Skipped rounds repeat the round that was logged last, so they lengthen its row.
    at = counters[COUNT.failures] - 1
    if 0 <= at < state.failures.shape[0]:
        state.failures[at, 1] += rounds


@inlined
def _log_failure(state: State, now: int) -> None:
    at = state.counters[COUNT.failures]
    if at < state.failures.shape[0]:
        state.failures[at, 0], state.failures[at, 1] = now, 1
    state.counters[COUNT.failures] += 1
