"""Which modules are open to each head now: those that kernels, admission and dies leave (spec 7, R4, R19, R21).

Renewed for every head before each choice of a round, for what is resident counts as it is. A head that no module is
open to fits nowhere in this round: it is no candidate, and sets no mark (R9).
"""

from __future__ import annotations

from workbench.compiled import RAISED, inlined, kernel, noinline
from workbench.engines.dispatch.admission import admits, in_turn
from workbench.engines.dispatch.clusters import die_takes_cluster
from workbench.engines.dispatch.state import ANY, COUNT, FAULT, NO_DIE, NONE, Play, State
from workbench.engines.dispatch.subgroups import group_of, is_cluster, is_member, set_member
from workbench.engines.kit.faults import FINE, STOP, fail
from workbench.policies.dispatch.die import ALL, DIE, WAIT, DieView

ask_die = DIE.ask


@noinline
def open_modules(play: Play, now: int) -> None:
    """Write down which modules each head may take."""
    state = play.state
    for offer in range(state.offer.size):
        for word in range(state.open.shape[1]):
            state.open[offer, word] = 0
        state.opens[offer] = state.short_of_runs[offer] = 0
        state.between.waits_for[offer] = ANY
        if state.offer[offer] != NONE and state.counters[STOP.fault] == FINE:
            _open_to(play, offer, now)
    state.counters[COUNT.memory] = 0


@inlined
def _open_to(play: Play, offer: int, now: int) -> None:
    shape, rules, state = play.shape, play.rules, play.state
    entry = state.offer[offer]
    if not in_turn(play, entry):
        return
    for die in range(shape.dies):
        state.between.die_fits[die] = 0
    if is_cluster(play.columns, play.rules, entry):
        _open_cluster(play, offer, now)
        return
    admitted = enough = 0
    for module in range(shape.modules):
        takes_it = (
            state.between.queued[module] < rules.pending_depth
            if rules.pending_depth
            else is_member(state.fits[offer], module)
        )
        # A module that has enough blocks, but does not fit, is asked too: it counts for `short_of_runs`.
        if not takes_it and not is_member(state.enough[offer], module):
            continue
        if not admits(play, entry, module, now):
            continue
        enough += 1
        if takes_it:
            admitted += set_member(state.open[offer], module, True)
            state.between.die_fits[shape.die_of[module]] += 1
    state.short_of_runs[offer] = enough if admitted == 0 and not rules.pending_depth else 0
    state.opens[offer] = admitted
    if admitted == 0 or not rules.asks_die:
        return
    die = chosen_die(play, offer, now)
    state.between.waits_for[offer] = die
    if die == ANY:
        return
    for module in range(shape.modules):
        # No module is of `NO_DIE`: a head that was told to wait loses them all (R9).
        if shape.die_of[module] != die:
            state.opens[offer] += set_member(state.open[offer], module, False)


@inlined
def _open_cluster(play: Play, offer: int, now: int) -> None:
    """Write down the die that takes all of a cluster, if one may and does."""
    shape, rules, state = play.shape, play.rules, play.state
    entry, fits = state.offer[offer], 0
    for die in range(shape.dies):
        state.between.die_fits[die] = int(die_takes_cluster(play, entry, die, die + 1 if rules.asks_die else 0, now))
        fits += state.between.die_fits[die]
    if fits == 0:
        return
    if not rules.asks_die:
        state.opens[offer] = 1
        return
    chosen = chosen_die(play, offer, now)
    state.between.waits_for[offer] = chosen
    if chosen >= 0:
        state.opens[offer] = state.between.die_fits[chosen]
    elif chosen == ANY:
        for die in range(shape.dies):
            # Once more, with the memory of all dies: the module choice may place the groups otherwise (E8).
            state.opens[offer] |= int(die_takes_cluster(play, entry, die, 0, now))


@noinline
def chosen_die(play: Play, offer: int, now: int) -> int:
    """Ask on which die an offer starts: a die, ANY, or NO_DIE (R4)."""
    shape, columns, state, policy = play.shape, play.columns, play.state, play.policies.die
    entry = state.offer[offer]
    group = group_of(columns, state, entry)
    channel, resources = columns.channel[group], shape.blocks.size
    for k in range(state.between.die_free.size):
        state.between.die_free[k] = 0
    for module in range(shape.modules):
        if admits(play, entry, module, now):
            for h in range(resources):
                state.between.die_free[shape.die_of[module] * resources + h] += state.total[module * resources + h]
    given, total = state.between.given_number[group], state.between.sent_of.size - 1
    answer = ask_die(
        policy.answer,
        DieView(
            columns.lot.kernel[group],
            channel,
            columns.lot.number[group],
            columns.lot.of[group],
            given[0] if given[0] != NONE else state.between.sent_of[channel],
            given[1] if given[1] != NONE else state.between.sent_of[total],
            shape.dies,
            resources,
            state.between.die_fits,
            state.between.die_free,
            policy.params,
        ),
    )
    if answer == RAISED:
        fail(state.counters, FAULT.die_raised, now, group, NONE)
    elif answer != ALL and answer != WAIT and not 0 <= answer < shape.dies:
        fail(state.counters, FAULT.die_wrong, now, group, answer)
    return ANY if answer == ALL else NO_DIE if answer == WAIT else answer


@noinline
def number_dispatch(play: Play, entry: int) -> None:
    """Number the group of an entry among those that were dispatched; a later sub-group of it keeps that number (E6)."""
    columns, state = play.columns, play.state
    group = group_of(columns, state, entry)
    channel, total = columns.channel[group], state.between.sent_of.size - 1
    if state.between.given_number[group, 0] == NONE:
        state.between.given_number[group, 0], state.between.given_number[group, 1] = (
            state.between.sent_of[channel],
            state.between.sent_of[total],
        )
        state.between.sent_of[channel] += 1
        state.between.sent_of[total] += 1


@kernel
def memory_of(state: State, offer: int) -> int:
    """Return the memory of the module choice for an offer: 0 = that of all dies, d + 1 = that of die d (E8)."""
    return state.between.waits_for[offer] + 1
