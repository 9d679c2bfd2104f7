"""The steps of a cycle: give back what is due, dispatch one group, split what has been stuck."""

from __future__ import annotations

from workbench.compiled import NO_ANSWER, RAISED, kernel
from workbench.engines.dispatch.bits import change
from workbench.engines.dispatch.channels import call_back, take_off
from workbench.engines.dispatch.choosing import choose
from workbench.engines.dispatch.entries import (
    BEHIND,
    DIVIDED,
    GROUP,
    LEVEL,
    WAVES,
    divided,
    fail,
    group_of,
    level_of,
    waves_of,
)
from workbench.engines.dispatch.fitting import judge_all, lift_bans, shared_out
from workbench.engines.dispatch.granting import (
    count_resources,
    free_slot,
    log_takes,
    take_slot,
    walk,
    wanted_ranges,
)
from workbench.engines.dispatch.past import change_rate, warm_up
from workbench.engines.dispatch.reports import renew
from workbench.engines.dispatch.shape import Columns, Policies, Rules, Shape
from workbench.engines.dispatch.state import (
    DISPATCHES,
    FINE,
    LAST_MODULE,
    NONE,
    OVER_PROMISED,
    PARTS,
    RAISED_IN,
    SPLITS,
    STATUS,
    WRONG_ANSWER,
    State,
)
from workbench.policies.dispatch.choice.question import CHOSEN
from workbench.policies.dispatch.stuck.question import PARTS as PARTS_QUESTION
from workbench.structures.timetable import next_due, put, take

ask_parts = PARTS_QUESTION.ask
tell_chosen = CHOSEN.ask
ABOUT_STUCK, ABOUT_CHOICE = 3, 5
INHERIT, LOWEST_LEVEL = 0, 1
"""Codes of a sub-group's priority."""


@kernel
def release_due(
    shape: Shape, columns: Columns, rules: Rules, policies: Policies, state: State, now: int
) -> bool:
    """Give back everything that is due; True if anything was."""
    if next_due(state.due) != now:
        return False
    while next_due(state.due) == now:
        slot = take(state.due, now)
        _release(shape, columns, rules, policies, state, slot, now)
    return True


@kernel
def _release(
    shape: Shape, columns: Columns, rules: Rules, policies: Policies, state: State, slot: int, now: int
) -> None:
    dispatch, entry = state.slot_dispatch[slot, 0], state.slot_dispatch[slot, 1]
    module = int(state.module[dispatch])
    for t in range(shape.units):
        state.counts[t] = state.sent[dispatch, t]
        state.resident[module, t] -= state.counts[t]
    walk(shape, columns, rules, policies, state, entry, module, slot, False, 1 << 40, now)
    count_resources(shape, columns, rules, state, entry, module, 1)
    free_slot(state, slot)
    if rules.history:
        if rules.heat_cycles:
            warm_up(rules, policies, state, now)
        change_rate(columns, rules, policies, state, dispatch, 1, now)
    _module_changed(shape, columns, rules, policies, state, entry, module, False, now)


@kernel
def _module_changed(
    shape: Shape,
    columns: Columns,
    rules: Rules,
    policies: Policies,
    state: State,
    entry: int,
    module: int,
    taken: bool,
    now: int,
) -> None:
    """Renew the reports of the maps that an entry took from or gave back to, and the verdicts on the module."""
    group = group_of(columns, state, entry)
    for h in range(shape.blocks.size):
        if shape.first_map[h] < 0 or columns.demand[group, h] == 0:
            continue
        if h >= shape.of_unit:
            renew(shape, policies, state, h, shape.first_map[h] + module, taken, now)
            continue
        for t in range(shape.units):
            if state.counts[t] > 0:
                renew(shape, policies, state, h, shape.first_map[h] + module * shape.units + t, taken, now)
    lift_bans(state, module)
    judge_all(shape, columns, rules, policies, state, 0, state.offer.size, module, now)


@kernel
def dispatch(
    shape: Shape, columns: Columns, rules: Rules, policies: Policies, state: State, offer: int, now: int
) -> bool:
    """Send an offer to the module that is chosen for it; False if its resources could not all be taken."""
    module = choose(shape, columns, rules, policies, state, offer, now)
    entry, slot = state.offer[offer], take_slot(state)
    pointer = shared_out(shape, columns, policies, state, entry, module, now)
    wanted = wanted_ranges(shape, columns, rules, state, entry)
    taken = walk(shape, columns, rules, policies, state, entry, module, slot, True, 1 << 40, now)
    if taken < wanted:
        walk(shape, columns, rules, policies, state, entry, module, slot, False, taken, now)
        free_slot(state, slot)
        _refuse(state, offer, module)
        return False
    _book(shape, columns, rules, policies, state, entry, module, slot, pointer, now)
    take_off(columns, rules, state, offer)
    _module_changed(shape, columns, rules, policies, state, entry, module, True, now)
    return True


@kernel
def _refuse(state: State, offer: int, module: int) -> None:
    """A report promised too much: the offer may not try the module again before it changes (E18)."""
    state.counters[OVER_PROMISED] += 1
    change(state.banned[offer], module, True)
    state.fitting[offer] += change(state.fits[offer], module, False)


@kernel
def _book(
    shape: Shape,
    columns: Columns,
    rules: Rules,
    policies: Policies,
    state: State,
    entry: int,
    module: int,
    slot: int,
    pointer: int,
    now: int,
) -> None:
    group, row = group_of(columns, state, entry), state.counters[DISPATCHES]
    log_takes(shape, columns, rules, state, entry, slot)
    count_resources(shape, columns, rules, state, entry, module, -1)
    state.pointer[module] = pointer
    state.group[row], state.cycle[row], state.module[row] = group, now, module
    state.level[row] = level_of(columns, state, entry)
    state.shared_out[row] = divided(columns, state, entry)
    for t in range(shape.units):
        state.sent[row, t] = state.counts[t]
        state.resident[module, t] += state.counts[t]
    state.slot_dispatch[slot, 0], state.slot_dispatch[slot, 1] = row, entry
    put(state.due, now + columns.duration[group], slot)
    if rules.history:
        change_rate(columns, rules, policies, state, row, 0, now)
    state.counters[LAST_MODULE] = module
    state.counters[DISPATCHES] += 1
    _tell_terms(shape, policies, state, module, now)


@kernel
def _tell_terms(shape: Shape, policies: Policies, state: State, module: int, now: int) -> None:
    terms = policies.terms
    for term in range(terms.weights.size):
        if terms.chosen[term] == NO_ANSWER:
            continue
        params = terms.params[term][: terms.sizes[term, 0]]
        memory = state.term_memory[term][: terms.sizes[term, 1]]
        if tell_chosen(terms.chosen[term], module, shape.modules, params, memory) == RAISED:
            fail(state, RAISED_IN, now, NONE, RAISED, ABOUT_CHOICE)


@kernel
def split_stuck(columns: Columns, rules: Rules, policies: Policies, state: State, now: int) -> bool:
    """Ask about every waiting head, in the order of the channels; True if any was split (spec 3, R25-R28, E12)."""
    anything = False
    for channel in range(rules.channels):
        if state.offered[channel] == 0 or state.counters[STATUS] != FINE:
            continue
        entry = state.offer[channel * rules.offers]
        group, waves = group_of(columns, state, entry), waves_of(columns, state, entry)
        parts = ask_parts(
            policies.stuck.answer,
            waves,
            int(columns.independent[group]),
            level_of(columns, state, entry),
            rules.levels,
            policies.stuck.params,
        )
        if parts == RAISED:
            fail(state, RAISED_IN, now, group, parts, ABOUT_STUCK)
        elif parts < 0 or parts > max(waves, 1) or (parts >= 2 and not columns.independent[group]):
            fail(state, WRONG_ANSWER, now, group, parts, ABOUT_STUCK)
        elif parts >= 2:
            _split(columns, rules, policies, state, channel, entry, parts, now)
            anything = True
    return anything


@kernel
def _split(
    columns: Columns, rules: Rules, policies: Policies, state: State, channel: int, entry: int, parts: int, now: int
) -> None:
    groups, first = columns.arrival.size, state.counters[PARTS]
    group, waves = group_of(columns, state, entry), waves_of(columns, state, entry)
    level = level_of(columns, state, entry)
    if policies.stuck.sub_priority != INHERIT:
        level = rules.levels if policies.stuck.sub_priority == LOWEST_LEVEL else rules.levels + 1
    for k in range(parts):
        row = state.part[first + k]
        row[GROUP], row[WAVES], row[LEVEL] = group, waves // parts + (k < waves % parts), level
        row[DIVIDED], row[BEHIND] = policies.stuck.divides_shared, groups + first + k + 1
    state.counters[PARTS] += parts
    call_back(columns, rules, state, channel, groups + first, groups + first + parts - 1)
    at = state.counters[SPLITS]
    if at < state.splits.shape[0]:
        state.splits[at, 0], state.splits[at, 1], state.splits[at, 2] = now, group, parts
    state.counters[SPLITS] += 1

