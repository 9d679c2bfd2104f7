"""A group's resources, taken and given back: all or nothing (spec 3, R12, R13, E5, E18)."""

from __future__ import annotations

import numpy as np

from workbench.compiled import NO_ANSWER, RAISED, Answer, inlined, kernel, noinline
from workbench.engines.dispatch.setting import OWN, Columns, Policies, Rules, Shape
from workbench.engines.dispatch.state import COUNT, FAULT, NONE, State
from workbench.engines.dispatch.subgroups import group_of, of_module
from workbench.engines.kit.faults import fail
from workbench.policies.placement.question import PLACE, TOLD, ReadyPlacement
from workbench.policies.placement.view import REFUSED, PlacementNotice, PlacementView
from workbench.structures.bitmaps import count_free, is_free, mark_free, mark_taken, next_free

ask_placement = PLACE.ask
tell_placement = TOLD.ask
MOST = 1 << 40


@inlined
def _raised(shape: Shape, resource: int) -> int:
    """Return the fault of the policy that places a resource."""
    return FAULT.shared_placement_raised if shape.own_placement[resource] else FAULT.placement_raised


@inlined
def _ask(
    shape: Shape, policy: ReadyPlacement, state: State, resource: int, row: int, amount: int, now: int, group: int
) -> int:
    """Ask for the first block of a range, checked against the one authoritative map; REFUSED."""
    words, blocks = state.free[row][: shape.words[resource]], shape.blocks[resource]
    state.counters[COUNT.searches] += 1
    answer = ask_placement(
        policy.answer,
        PlacementView(words, blocks, amount, policy.params, state.memory[row][: shape.remembers[resource]]),
    )
    if answer == REFUSED:
        return REFUSED
    if answer == RAISED:
        fail(state.counters, _raised(shape, resource), now, group, row)
        return REFUSED
    if shape.scattered[resource]:
        granted = 0 <= answer < blocks and count_free(words) >= amount
    else:
        granted = 0 <= answer <= blocks - amount and is_free(words, answer, amount)
    if not granted:
        wrong = FAULT.shared_placement_wrong if shape.own_placement[resource] else FAULT.placement_wrong
        fail(state.counters, wrong, now, group, answer)
        return REFUSED
    return answer


@inlined
def _tell(
    shape: Shape,
    policy: ReadyPlacement,
    notices: Answer,
    state: State,
    resource: int,
    row: int,
    start: int,
    amount: int,
    now: int,
) -> None:
    words, blocks = state.free[row][: shape.words[resource]], shape.blocks[resource]
    status = tell_placement(
        notices,
        PlacementNotice(words, blocks, start, amount, policy.params, state.memory[row][: shape.remembers[resource]]),
    )
    if status == RAISED:
        fail(state.counters, _raised(shape, resource), now, NONE, NONE)


@inlined
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
    policy = policies.shared_placement if shape.own_placement[resource] else policies.placement
    start = _ask(shape, policy, state, resource, row, amount, now, group)
    if start == REFUSED:
        return REFUSED
    words = state.free[row][: shape.words[resource]]
    if shape.scattered[resource]:
        _take_scattered(words, state.owner[row], amount, slot, state.counters)
    else:
        mark_taken(words, start, amount)
        state.counters[COUNT.pieces] += 1
    if policy.granted != NO_ANSWER:
        _tell(shape, policy, policy.granted, state, resource, row, start, amount, now)
    return start


@inlined
def _take_scattered(words: np.ndarray, owner: np.ndarray, amount: int, slot: int, counters: np.ndarray) -> None:
    # Not -1: block 0 would then continue a piece and not be counted.
    before = -2
    for _ in range(amount):
        block = next_free(words, 0)
        mark_taken(words, block, 1)
        owner[block] = slot
        counters[COUNT.pieces] += block != before + 1
        before = block


@inlined
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
    policy = policies.shared_placement if shape.own_placement[resource] else policies.placement
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
def _log(state: State, dispatch: int, unit: int, resource: int, start: int, amount: int) -> None:
    at = state.counters[COUNT.takes]
    if at < state.takes.shape[0]:
        row = state.takes[at]
        row[0], row[1], row[2], row[3], row[4] = dispatch, unit, resource, start, amount
    state.counters[COUNT.takes] += 1


@noinline
def move_ranges(
    shape: Shape,
    columns: Columns,
    rules: Rules,
    policies: Policies,
    state: State,
    entry: int,
    module: int,
    slot: int,
    takes: bool,
    now: int,
) -> bool:
    """Take every range of an entry, whose waves are in `counts`, or give them back; False if not all could be taken.

    Units in increasing order, in each its contiguous resources in order, then those of the module. At the first refusal
    what has been taken is given back in the same order.
    """
    group = group_of(columns, state, entry)
    place_at, most, done, position, wave = 0, MOST, True, 0, 0
    while position < shape.ranges.shape[0] and place_at < most:
        unit, resource = shape.ranges[position, 0], shape.ranges[position, 1]
        if takes:
            state.length[slot, position] = _amount(shape, columns, rules, state, entry, group, resource, unit)
        amount = state.length[slot, position]
        ranges = state.counts[unit] if unit != OWN and rules.a_block_a_wave else 1
        # At each position one range is taken, or one a wave; `wave` counts them.
        if amount == 0 or wave == ranges:
            position, wave = position + 1, 0
            continue
        row = shape.first_map[resource] + (module if unit == OWN else module * shape.units + unit)
        if takes:
            start = _take(shape, policies, state, resource, row, amount, slot, now, group)
            if start == REFUSED:
                # From the first range on, now giving back: `most` ends the loop behind the last range that was taken.
                takes, done, most, place_at, position, wave = False, False, place_at, 0, 0, 0
                continue
            state.held[slot, place_at] = start
        else:
            _give(shape, policies, state, resource, row, state.held[slot, place_at], amount, slot, now)
        place_at, wave = place_at + 1, wave + 1
    return done


@inlined
def _amount(
    shape: Shape, columns: Columns, rules: Rules, state: State, entry: int, group: int, resource: int, unit: int
) -> int:
    """Return the blocks of one range of a contiguous resource; 0 = none is needed."""
    if unit == OWN:
        return shape.footprint[resource, of_module(shape, columns, state, entry, resource)]
    waves = state.counts[unit]
    if rules.a_block_a_wave:
        return shape.footprint[resource, columns.demand[group, resource]] if waves else 0
    return shape.footprint[resource, columns.demand[group, resource] * waves]


@noinline
def log_takes(
    shape: Shape, columns: Columns, rules: Rules, state: State, entry: int, module: int, slot: int, number: int
) -> None:
    """Keep what a dispatch has taken, for the event log: ranges first, in the order in which they were taken."""
    group, place_at = group_of(columns, state, entry), 0
    for t in range(shape.units):
        waves = state.counts[t]
        for h in range(shape.of_unit):
            requested = columns.demand[group, h]
            if requested * waves == 0:
                continue
            if shape.first_map[h] < 0:
                _log(state, number, t, h, NONE, requested * waves)
                continue
            if shape.scattered[h]:
                _log_scattered(state, shape.first_map[h] + module * shape.units + t, slot, number, t, h)
                place_at += waves if rules.a_block_a_wave else 1
                continue
            for _ in range(waves if rules.a_block_a_wave else 1):
                amount = shape.footprint[h, requested if rules.a_block_a_wave else requested * waves]
                _log(state, number, t, h, state.held[slot, place_at], amount)
                place_at += 1
    for h in range(shape.of_unit, shape.blocks.size):
        requested = of_module(shape, columns, state, entry, h)
        if requested == 0:
            continue
        if shape.first_map[h] < 0:
            _log(state, number, OWN, h, NONE, requested)
            continue
        if shape.scattered[h]:
            _log_scattered(state, shape.first_map[h] + module, slot, number, OWN, h)
        else:
            _log(state, number, OWN, h, state.held[slot, place_at], shape.footprint[h, requested])
        place_at += 1


@inlined
def _log_scattered(state: State, row: int, slot: int, number: int, unit: int, resource: int) -> None:
    """Log a row for every run of blocks that a dispatch holds."""
    start, blocks = NONE, state.owner.shape[1]
    for block in range(blocks + 1):
        held = block < blocks and state.owner[row, block] == slot
        if held and start == NONE:
            start = block
        elif not held and start != NONE:
            _log(state, number, unit, resource, start, block - start)
            start = NONE


@inlined
def count_resources(
    shape: Shape, columns: Columns, rules: Rules, state: State, entry: int, module: int, sign: int
) -> None:
    """Book the free amounts of a module: `sign` is -1 when an entry takes them, +1 when it gives them back."""
    group, resources = group_of(columns, state, entry), shape.blocks.size
    for h in range(resources):
        taken = 0
        if h < shape.of_unit:
            requested = columns.demand[group, h]
            for t in range(shape.units):
                amount = _booked(shape, rules, h, requested, state.counts[t])
                state.free_count[h, module * shape.units + t] += sign * amount
                taken += amount
        else:
            requested = of_module(shape, columns, state, entry, h)
            taken = requested if shape.first_map[h] < 0 else shape.footprint[h, requested]
            state.free_count[h, module] += sign * taken
        state.total[module * resources + h] += sign * taken


@inlined
def _booked(shape: Shape, rules: Rules, resource: int, requested: int, waves: int) -> int:
    if shape.first_map[resource] < 0:
        return requested * waves
    if rules.a_block_a_wave:
        return waves * shape.footprint[resource, requested]
    return shape.footprint[resource, requested * waves]


@inlined
def number_of(rules: Rules, state: State, slot: int) -> int:
    """Return the number of the next dispatch, which takes a slot: of all, or of those that run."""
    return slot if rules.forgets else state.counters[COUNT.dispatches]


@inlined
def take_slot(state: State) -> int:
    """Take a free slot for a dispatch."""
    head = state.slot_link.size - 1
    slot = state.slot_link[head]
    state.slot_link[head] = state.slot_link[slot]
    state.counters[COUNT.running] += 1
    return slot


@kernel
def free_slot(state: State, slot: int) -> None:
    """Free the slot of a dispatch that has ended, or never began."""
    head = state.slot_link.size - 1
    state.slot_link[slot] = state.slot_link[head]
    state.slot_link[head] = slot
    state.counters[COUNT.running] -= 1
