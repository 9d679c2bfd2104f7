"""Taking a group's resources and giving them back: all or nothing (spec 3, R12, R13, E5, E18)."""

from __future__ import annotations

import numpy as np

from workbench.compiled import NO_ANSWER, RAISED, kernel
from workbench.engines.dispatch.entries import fail, group_of, of_module
from workbench.engines.dispatch.shape import Columns, Policies, Rules, Shape
from workbench.engines.dispatch.state import (
    DISPATCHES,
    NONE,
    PIECES,
    RAISED_IN,
    RUNNING,
    SEARCHES,
    TAKES,
    WRONG_ANSWER,
    State,
)
from workbench.policies.placement.question import PLACE, REFUSED, TOLD, ReadyPlacement
from workbench.structures.free_map import count_free, is_free, mark_free, mark_taken, next_free

place = PLACE.ask
tell = TOLD.ask
ABOUT_PLACEMENT, ABOUT_SHARED_PLACEMENT = 6, 7
OWN = -1
"""The unit of a module's own resource in the log."""


@kernel
def _ask(
    shape: Shape, policy: ReadyPlacement, state: State, resource: int, row: int, amount: int, now: int, group: int
) -> int:
    """The first block of a range, checked against the one authoritative map; REFUSED."""
    words, blocks = state.free[row][: shape.words[resource]], shape.blocks[resource]
    state.counters[SEARCHES] += 1
    about = ABOUT_SHARED_PLACEMENT if shape.own_placement[resource] else ABOUT_PLACEMENT
    if shape.scattered[resource]:
        return next_free(words, 0) if count_free(words) >= amount else REFUSED
    answer = place(policy.answer, words, blocks, amount, policy.params, state.memory[row][: policy.memory.size])
    if answer == REFUSED:
        return REFUSED
    if answer == RAISED:
        fail(state, RAISED_IN, now, group, answer, about)
        return REFUSED
    if answer < 0 or answer > blocks - amount or not is_free(words, answer, amount):
        fail(state, WRONG_ANSWER, now, group, answer, about)
        return REFUSED
    return answer


@kernel
def _tell(
    shape: Shape,
    policy: ReadyPlacement,
    told: int,
    state: State,
    resource: int,
    row: int,
    start: int,
    amount: int,
    now: int,
) -> None:
    words, blocks = state.free[row][: shape.words[resource]], shape.blocks[resource]
    status = tell(told, words, blocks, start, amount, policy.params, state.memory[row][: policy.memory.size])
    if status == RAISED:
        about = ABOUT_SHARED_PLACEMENT if shape.own_placement[resource] else ABOUT_PLACEMENT
        fail(state, RAISED_IN, now, NONE, status, about)


@kernel
def _take_with(
    shape: Shape,
    policy: ReadyPlacement,
    state: State,
    resource: int,
    row: int,
    amount: int,
    slot: int,
    now: int,
    group: int,
) -> int:
    start = _ask(shape, policy, state, resource, row, amount, now, group)
    if start == REFUSED:
        return REFUSED
    words = state.free[row][: shape.words[resource]]
    if shape.scattered[resource]:
        _take_scattered(words, state.owner[row], amount, slot, state.counters)
    else:
        mark_taken(words, start, amount)
        state.counters[PIECES] += 1
    if policy.granted != NO_ANSWER:
        _tell(shape, policy, policy.granted, state, resource, row, start, amount, now)
    return start


@kernel
def _take_scattered(words: np.ndarray, owner: np.ndarray, amount: int, slot: int, counters: np.ndarray) -> None:
    before = -2
    for _ in range(amount):
        block = next_free(words, 0)
        mark_taken(words, block, 1)
        owner[block] = slot
        counters[PIECES] += block != before + 1
        before = block


@kernel
def _give_with(
    shape: Shape,
    policy: ReadyPlacement,
    state: State,
    resource: int,
    row: int,
    start: int,
    amount: int,
    slot: int,
    now: int,
) -> None:
    words = state.free[row][: shape.words[resource]]
    if shape.scattered[resource]:
        for block in range(shape.blocks[resource]):
            if state.owner[row, block] == slot:
                state.owner[row, block] = NONE
                mark_free(words, block, 1)
    else:
        mark_free(words, start, amount)
    if policy.released != NO_ANSWER:
        _tell(shape, policy, policy.released, state, resource, row, start, amount, now)


@kernel
def _take(
    shape: Shape,
    policies: Policies,
    state: State,
    resource: int,
    row: int,
    amount: int,
    slot: int,
    now: int,
    group: int,
) -> int:
    if shape.own_placement[resource]:
        return _take_with(shape, policies.shared_placement, state, resource, row, amount, slot, now, group)
    return _take_with(shape, policies.placement, state, resource, row, amount, slot, now, group)


@kernel
def _give(
    shape: Shape,
    policies: Policies,
    state: State,
    resource: int,
    row: int,
    start: int,
    amount: int,
    slot: int,
    now: int,
) -> None:
    if shape.own_placement[resource]:
        _give_with(shape, policies.shared_placement, state, resource, row, start, amount, slot, now)
    else:
        _give_with(shape, policies.placement, state, resource, row, start, amount, slot, now)


@kernel
def _log(state: State, unit: int, resource: int, start: int, amount: int) -> None:
    at = state.counters[TAKES]
    if at < state.takes.shape[0]:
        row = state.takes[at]
        row[0], row[1], row[2], row[3], row[4] = state.counters[DISPATCHES], unit, resource, start, amount
    state.counters[TAKES] += 1


@kernel
def ranges(shape: Shape, columns: Columns, rules: Rules, group: int, resource: int, unit_waves: int) -> int:
    """How many ranges the waves of a unit hold of a contiguous resource: one, or one a wave."""
    return unit_waves if rules.a_block_a_wave else min(unit_waves, 1)


@kernel
def walk(
    shape: Shape,
    columns: Columns,
    rules: Rules,
    policies: Policies,
    state: State,
    entry: int,
    module: int,
    slot: int,
    takes: bool,
    most: int,
    now: int,
) -> int:
    """Take (or give back) the first `most` ranges of an entry, whose waves are in `counts`; return how many it was.

    Units in increasing order, in each its contiguous resources in order, then those of the module.
    """
    group, place_at = group_of(columns, state, entry), 0
    for position in range(shape.units * shape.of_unit + shape.blocks.size - shape.of_unit):
        of_unit = position < shape.units * shape.of_unit
        unit = position // shape.of_unit if of_unit else OWN
        resource = position % shape.of_unit if of_unit else position - (shape.units - 1) * shape.of_unit
        if shape.first_map[resource] < 0:
            continue
        row = shape.first_map[resource] + (module * shape.units + unit if of_unit else module)
        amount = columns.demand[group, resource] if of_unit else of_module(columns, state, entry, resource)
        times = 1
        if of_unit:
            times = ranges(shape, columns, rules, group, resource, state.counts[unit])
            amount *= 1 if rules.a_block_a_wave else state.counts[unit]
        if amount == 0:
            continue
        amount = shape.footprint[resource, amount]
        for _ in range(times):
            if place_at == most:
                return place_at
            if takes:
                start = _take(shape, policies, state, resource, row, amount, slot, now, group)
                if start == REFUSED:
                    return place_at
                state.held[slot, place_at] = start
            else:
                _give(shape, policies, state, resource, row, state.held[slot, place_at], amount, slot, now)
            place_at += 1
    return place_at


@kernel
def wanted_ranges(
    shape: Shape, columns: Columns, rules: Rules, state: State, entry: int
) -> int:
    """How many ranges an entry holds, its waves being in `counts`."""
    group, total = group_of(columns, state, entry), 0
    for h in range(shape.blocks.size):
        if shape.first_map[h] < 0:
            continue
        if h >= shape.of_unit:
            total += of_module(columns, state, entry, h) > 0
        elif columns.demand[group, h] > 0:
            for t in range(shape.units):
                total += ranges(shape, columns, rules, group, h, state.counts[t])
    return total


@kernel
def log_takes(shape: Shape, columns: Columns, rules: Rules, state: State, entry: int, slot: int) -> None:
    """Keep what a dispatch has taken, for the event log: ranges first, in the order in which they were taken."""
    group, place_at = group_of(columns, state, entry), 0
    for t in range(shape.units):
        waves = state.counts[t]
        for h in range(shape.of_unit):
            asked = columns.demand[group, h]
            if asked * waves == 0:
                continue
            if shape.first_map[h] < 0:
                _log(state, t, h, NONE, asked * waves)
                continue
            times = ranges(shape, columns, rules, group, h, waves)
            for _ in range(times):
                amount = shape.footprint[h, asked if rules.a_block_a_wave else asked * waves]
                _log(state, t, h, state.held[slot, place_at], amount)
                place_at += 1
    for h in range(shape.of_unit, shape.blocks.size):
        asked = of_module(columns, state, entry, h)
        if asked == 0:
            continue
        if shape.first_map[h] < 0:
            _log(state, OWN, h, NONE, asked)
            continue
        _log(state, OWN, h, state.held[slot, place_at], shape.footprint[h, asked])
        place_at += 1


@kernel
def count_resources(
    shape: Shape, columns: Columns, rules: Rules, state: State, entry: int, module: int, sign: int
) -> None:
    """Book the free amounts of a module: `sign` is -1 when an entry takes them, +1 when it gives them back."""
    group, resources = group_of(columns, state, entry), shape.blocks.size
    for h in range(resources):
        taken = 0
        if h < shape.of_unit:
            asked = columns.demand[group, h]
            for t in range(shape.units):
                amount = _booked(shape, rules, h, asked, state.counts[t])
                state.count[h, module * shape.units + t] += sign * amount
                taken += amount
        else:
            asked = of_module(columns, state, entry, h)
            taken = asked if shape.first_map[h] < 0 else shape.footprint[h, asked]
            state.count[h, module] += sign * taken
        state.total[module * resources + h] += sign * taken
        state.total_by[h, module] += sign * taken


@kernel
def _booked(shape: Shape, rules: Rules, resource: int, asked: int, waves: int) -> int:
    if shape.first_map[resource] < 0:
        return asked * waves
    if rules.a_block_a_wave:
        return waves * shape.footprint[resource, asked]
    return shape.footprint[resource, asked * waves]


@kernel
def take_slot(state: State) -> int:
    """A free slot for a dispatch."""
    head = state.slot_link.size - 1
    slot = state.slot_link[head]
    state.slot_link[head] = state.slot_link[slot]
    state.counters[RUNNING] += 1
    return slot


@kernel
def free_slot(state: State, slot: int) -> None:
    """The dispatch of a slot has ended, or never began."""
    head = state.slot_link.size - 1
    state.slot_link[slot] = state.slot_link[head]
    state.slot_link[head] = slot
    state.counters[RUNNING] -= 1
