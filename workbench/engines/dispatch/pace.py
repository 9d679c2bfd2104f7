"""Shared rates: how fast the groups of a module get on, and when they end (spec 7, R24 and R25).

A group's duration is work, kept in 2^-20 cycles. At each change of a module's residents the work left of those that run
is lessened by what they did at the old rate. Several changes in one cycle are one: whatever the order, nothing is done
between them. The earliest end of each module stands in a tournament.
"""

from __future__ import annotations

from workbench.compiled import inlined, noinline
from workbench.engines.dispatch.history import change_pace, warm_up
from workbench.engines.dispatch.setting import Columns, Rules
from workbench.engines.dispatch.state import COUNT, NONE, Play, State
from workbench.engines.dispatch.subgroups import group_of
from workbench.structures.execution_rates import CLASSES, RATE_BITS, RATE_UNIT, part_rate
from workbench.structures.timetable import NEVER, first_place, set_time


@noinline
def settle_pace(rules: Rules, state: State, module: int, now: int) -> None:
    """Lessen the work left in a module by what was done until now; its rate is to be renewed."""
    passed = now - state.between.paced_at[module]
    slot = state.between.module_first[module]
    while slot != NONE and passed > 0:
        row = state.slot_dispatch[slot, 0]
        if state.between.begin[row] != NONE:
            # The end is rounded up, so the last cycle may do more than was left (R25).
            state.between.work_left[slot] = max(state.between.work_left[slot] - passed * state.between.pace[module], 0)
        slot = state.between.slot_behind[slot]
    state.between.paced_at[module] = now
    if not state.between.is_unpaced[module]:
        state.between.is_unpaced[module] = True
        state.between.unpaced[state.counters[COUNT.unpaced]] = module
        state.counters[COUNT.unpaced] += 1


@noinline
def renew_pace(play: Play, now: int) -> None:
    """Give the modules whose residents changed their new rate, and their groups new ends."""
    state = play.state
    for k in range(state.counters[COUNT.unpaced]):
        module = state.between.unpaced[k]
        state.between.is_unpaced[module] = False
        _renew_module(play, module, now)
    state.counters[COUNT.unpaced] = 0
    state.counters[COUNT.next_end] = state.between.module_end[1]


@inlined
def _renew_module(play: Play, module: int, now: int) -> None:
    rules, state = play.rules, play.state
    residents, soonest = _residents(rules, state, module), NEVER
    rate = state.between.pace[module] = play.policies.rates[residents]
    slot = state.between.module_first[module]
    while slot != NONE:
        row = state.slot_dispatch[slot, 0]
        endless = play.columns.lot.endless[group_of(play.columns, state, state.between.entry_of[row])]
        if state.between.begin[row] != NONE and not endless:
            # Rounded up (R25). A rate of 0 was refused before the run.
            state.between.slot_end[slot] = now + (state.between.work_left[slot] + rate - 1) // rate
            soonest = min(soonest, state.between.slot_end[slot])
        slot = state.between.slot_behind[slot]
    set_time(state.between.module_end, module, soonest)
    if rules.history:
        if rules.heat_cycles:
            warm_up(rules, play.policies, state, now)
        _renew_instructions(play.columns, state, module)
        change_pace(play.policies, state, module, now)


@inlined
def _residents(rules: Rules, state: State, module: int) -> int:
    """Return the groups, or the waves, that hold resources of a module."""
    residents = 0
    if rules.paced_by_waves:
        for t in range(state.resident.shape[1]):
            residents += state.resident[module, t]
        return residents
    slot = state.between.module_first[module]
    while slot != NONE:
        residents += 1
        slot = state.between.slot_behind[slot]
    return residents


@inlined
def _renew_instructions(columns: Columns, state: State, module: int) -> None:
    """Write down what a module executes a cycle from now on: each group's rate times the pace, rounded down."""
    for s in range(CLASSES):
        state.between.new_rate[s] = 0
    slot = state.between.module_first[module]
    while slot != NONE:
        row = state.slot_dispatch[slot, 0]
        if state.between.begin[row] != NONE:
            group, sent = state.group[row], 0
            for t in range(state.sent.shape[1]):
                sent += state.sent[row, t]
            for s in range(CLASSES):
                whole, waves = columns.instructions[group, s], columns.waves[group]
                own = part_rate(whole, sent, waves, max(columns.duration[group], 1))
                # Whole part and fraction apart: the product of both rates may exceed 64 bits.
                state.between.new_rate[s] += (own >> RATE_BITS) * state.between.pace[module]
                state.between.new_rate[s] += (own & (RATE_UNIT - 1)) * state.between.pace[module] >> RATE_BITS
        slot = state.between.slot_behind[slot]


@noinline
def take_paced(state: State, now: int) -> int:
    """Return the slot of a group that ends now, of the lowest module and there the one that was dispatched first."""
    module = first_place(state.between.module_end)
    chosen, slot = NONE, state.between.module_first[module]
    while slot != NONE:
        row = state.slot_dispatch[slot, 0]
        if state.between.slot_end[slot] == now and (chosen == NONE or row < state.slot_dispatch[chosen, 0]):
            chosen = slot
        slot = state.between.slot_behind[slot]
    return chosen
