"""Clusters: groups that take their resources in one cycle within one die, or none of them does (spec 7, R10 to R13).

A cluster is placed group by group, each by the module choice among the admitted modules that it still fits. What fits
is judged by what is free, not by reports (R12). Where one group finds none, all that was taken is given back, and so is
what placements, units and the choice remembered or drew. Whether a die takes a cluster is found by trying it.
"""

from __future__ import annotations

import numpy as np

from workbench.compiled import inlined, kernel, noinline
from workbench.engines.dispatch.admission import admits, note_resident
from workbench.engines.dispatch.channels import GRANTED, look_at, module_changed, shared_out, take_off, tell_of
from workbench.engines.dispatch.choice import best_of
from workbench.engines.dispatch.fit import fits_now
from workbench.engines.dispatch.grants import count_resources, free_slot, log_takes, move_ranges, take_slot
from workbench.engines.dispatch.reports import renew_reports
from workbench.engines.dispatch.state import ANY, COUNT, NONE, Play, State
from workbench.engines.dispatch.steps import enter_row, start, tell_terms
from workbench.engines.kit.faults import FINE, STOP


@noinline
def die_takes_cluster(play: Play, entry: int, die: int, memory: int, now: int) -> bool:
    """Return whether a die takes a cluster; everything is as before.

    Parameters
    ----------
    memory : int
        Whose memory the module choice has: 0 = that of all dies, d + 1 = that of die d.
    """
    taken = _try(play, entry, die, memory, now)
    if taken:
        _give_back(play, now)
    return taken


@noinline
def dispatch_cluster(play: Play, offer: int, now: int) -> bool:
    """Let a cluster start on the die that was chosen for it, or on the first that takes it."""
    state, die = play.state, play.state.between.waits_for[offer]
    entry, taken = state.offer[offer], False
    if die != ANY:
        taken = _try(play, entry, die, die + 1, now)
    else:
        for lowest in range(play.shape.dies):
            taken = taken or _try(play, entry, lowest, 0, now)
    if taken:
        _book_members(play, now)
        take_off(play.columns, play.rules, state, offer)
    return taken


@noinline
def _try(play: Play, entry: int, die: int, memory: int, now: int) -> bool:
    """Let a cluster take its resources on a die; where a group finds none, give all back."""
    state, counters, member = play.state, play.state.counters, entry
    _keep(state)
    counters[COUNT.memory], counters[COUNT.placed] = memory, 0
    while member != NONE:
        if not _place(play, member, die, now):
            _give_back(play, now)
            return False
        member = play.columns.lot.beside[member]
    return True


@inlined
def _place(play: Play, member: int, die: int, now: int) -> bool:
    shape, columns, rules, policies, state = play.shape, play.columns, play.rules, play.policies, play.state
    count, placed = 0, state.counters[COUNT.placed]
    for module in range(shape.modules):
        if shape.die_of[module] != die or (rules.spread and _has_member(state, module)):
            continue
        if admits(play, member, module, now) and fits_now(play, member, module, now):
            state.candidates[count] = module
            count += 1
    if count == 0 or state.counters[STOP.fault] != FINE:
        return False
    module = best_of(shape, columns, rules, policies, state, member, count, now)
    slot = take_slot(state)
    # Once more: `fits_now` has left the counts of the module that was tried last.
    pointer = shared_out(shape, columns, policies, state, member, module, now)
    if state.counters[STOP.fault] != FINE or not move_ranges(
        shape, columns, rules, policies, state, member, module, slot, True, now
    ):
        free_slot(state, slot)
        return False
    count_resources(shape, columns, rules, state, member, module, -1)
    renew_reports(shape, columns, policies, state, member, module, True, now)
    state.pointer[module] = pointer
    state.between.member_entry[placed], state.between.member_module[placed], state.between.member_slot[placed] = (
        member,
        module,
        slot,
    )
    for t in range(shape.units):
        state.between.member_counts[placed, t] = state.counts[t]
        state.resident[module, t] += state.counts[t]
    note_resident(columns, state, member, module, 1)
    # The module choice of the next member reads what is written here.
    look_at(shape, state, module)
    state.last_module[state.counters[COUNT.memory]] = module
    tell_terms(shape, policies, state, module, now)
    state.counters[COUNT.placed] = placed + 1
    return True


@inlined
def _has_member(state: State, module: int) -> bool:
    has = False
    for k in range(state.counters[COUNT.placed]):
        has |= state.between.member_module[k] == module
    return has


@noinline
def _give_back(play: Play, now: int) -> None:
    """Give back what the groups of a cluster took, the last one first, and everything that was remembered."""
    shape, columns, rules, policies, state = play.shape, play.columns, play.rules, play.policies, play.state
    for k in range(state.counters[COUNT.placed] - 1, -1, -1):
        member, module, slot = (
            state.between.member_entry[k],
            state.between.member_module[k],
            state.between.member_slot[k],
        )
        for t in range(shape.units):
            state.counts[t] = state.between.member_counts[k, t]
            state.resident[module, t] -= state.counts[t]
        move_ranges(shape, columns, rules, policies, state, member, module, slot, False, now)
        count_resources(shape, columns, rules, state, member, module, 1)
        note_resident(columns, state, member, module, -1)
        free_slot(state, slot)
    placed = state.counters[COUNT.placed]
    # After a fault nothing is restored: the counters may have been kept before it, and it would be lost.
    if state.counters[STOP.fault] == FINE:
        _restore(state)
    for k in range(placed):
        # After the restore, because it reads the reports.
        look_at(shape, state, state.between.member_module[k])


@inlined
def _book_members(play: Play, now: int) -> None:
    """Let the groups of a cluster, which have their resources, start."""
    shape, columns, rules, policies, state = play.shape, play.columns, play.rules, play.policies, play.state
    placed = state.counters[COUNT.placed]
    for k in range(placed):
        # `enter_row` counts them again, as dispatches.
        note_resident(columns, state, state.between.member_entry[k], state.between.member_module[k], -1)
    state.counters[COUNT.placed] = 0
    for k in range(placed):
        member, module, slot = (
            state.between.member_entry[k],
            state.between.member_module[k],
            state.between.member_slot[k],
        )
        for t in range(shape.units):
            state.counts[t] = state.between.member_counts[k, t]
        row = enter_row(columns, rules, policies, state, member, module, slot, now)
        if rules.events:
            log_takes(shape, columns, rules, state, member, module, slot, row)
        start(columns, rules, policies, state, member, row, slot, now)
        module_changed(state, module)
        if rules.keeps_answers:
            tell_of(columns, state, GRANTED, member, now, module, row)


@inlined
def _keep(state: State) -> None:
    """Write down what is remembered before a cluster is tried."""
    _copy_rows(state.memory, state.between.kept_memory)
    _copy_rows(state.term_memory, state.between.kept_terms)
    _copy(state.report, state.between.kept_reports[0])
    _copy(state.fresh, state.between.kept_reports[1])
    _copy(state.pointer, state.between.kept_pointers)
    _copy(state.last_module, state.between.kept_last)
    # They hold the random state of ties and the counts of searches: a try that is given back leaves no trace (R12).
    _copy(state.counters, state.between.kept_counters)


@inlined
def _restore(state: State) -> None:
    """Remember what was written down."""
    _copy_rows(state.between.kept_memory, state.memory)
    _copy_rows(state.between.kept_terms, state.term_memory)
    _copy(state.between.kept_reports[0], state.report)
    _copy(state.between.kept_reports[1], state.fresh)
    _copy(state.between.kept_pointers, state.pointer)
    _copy(state.between.kept_last, state.last_module)
    _copy(state.between.kept_counters, state.counters)


@kernel
def _copy(of: np.ndarray, to: np.ndarray) -> None:
    for k in range(of.size):
        to[k] = of[k]


@kernel
def _copy_rows(of: np.ndarray, to: np.ndarray) -> None:
    for k in range(of.shape[0]):
        _copy(of[k], to[k])
