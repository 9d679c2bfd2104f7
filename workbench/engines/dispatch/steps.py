"""The steps of a cycle: a group takes or gives back its resources, a stuck group is split.

After a refusal at allocation an offer waits until the module changes, unless a placement remembers something else than
before (E18): one that drew, or was told of grants that were taken back, may grant what it refused. The offer tries
other modules first; where nothing fits in any at the beginning of a round, all such modules are open to it again.
"""

from __future__ import annotations

from workbench.compiled import NO_ANSWER, RAISED, inlined, kernel, noinline
from workbench.compiled.memory_access import call
from workbench.engines.dispatch.channels import (
    ENDED,
    GRANTED,
    SPLIT,
    call_back,
    module_changed,
    shared_out,
    take_off,
    tell,
    tell_of,
)
from workbench.engines.dispatch.choice import anything_fits, memory_row
from workbench.engines.dispatch.grants import count_resources, free_slot, log_takes, move_ranges, number_of
from workbench.engines.dispatch.history import change_rate, warm_up
from workbench.engines.dispatch.reports import renew_reports
from workbench.engines.dispatch.setting import HOOK, OWN, Columns, Policies, Rules, Shape, to_int64
from workbench.engines.dispatch.state import COUNT, FAULT, NONE, State
from workbench.engines.dispatch.subgroups import (
    PART_BEHIND,
    PART_DIVIDED,
    PART_FIRST,
    PART_GROUP,
    PART_LEVEL,
    PART_WAVES,
    divided,
    first_wave_of,
    group_of,
    is_cluster,
    level_of,
    set_member,
    waves_of,
)
from workbench.engines.kit.faults import FINE, STOP, fail
from workbench.policies.dispatch.choice.question import CHOSEN
from workbench.policies.dispatch.choice.view import ChoiceNotice
from workbench.policies.dispatch.stuck import PARTS as PARTS_QUESTION
from workbench.policies.dispatch.stuck import StuckView
from workbench.structures.timetable import put

ask_parts = PARTS_QUESTION.ask
tell_chosen = CHOSEN.ask
ISSUES_NO_MORE = to_int64(1)
INHERIT, LOWEST_LEVEL = 0, 1
"""Codes of a sub-group's priority."""


@noinline
def exchange(
    shape: Shape,
    columns: Columns,
    rules: Rules,
    policies: Policies,
    state: State,
    offer: int,
    row: int,
    module: int,
    slot: int,
    now: int,
) -> bool:
    """Let an offer take its resources of a module, or the first dispatch in its queue, whose row is given.

    With neither, let the group in a slot give its resources back.

    False if not all could be taken; then nothing is.
    """
    takes, pointer, entry = offer != NONE or row != NONE, 0, NONE
    if takes:
        entry = state.offer[offer] if offer != NONE else state.between.entry_of[row]
        pointer = shared_out(shape, columns, policies, state, entry, module, now)
        if state.counters[STOP.fault] != FINE:
            return False
        if rules.may_refuse:
            keep_memories(shape, state, module)
    else:
        row, entry = int(state.slot_dispatch[slot, 0]), int(state.slot_dispatch[slot, 1])
        for t in range(shape.units):
            state.counts[t] = state.sent[row, t]
    if not move_ranges(shape, columns, rules, policies, state, entry, module, slot, takes, now):
        # Every caller took the slot before this call.
        free_slot(state, slot)
        if offer != NONE:
            _refuse(state, offer, module)
        if rules.may_refuse and offer != NONE:
            note_refusal(shape, state, module)
        return False
    count_resources(shape, columns, rules, state, entry, module, -1 if takes else 1)
    renew_reports(shape, columns, policies, state, entry, module, takes, now)
    if takes:
        if offer != NONE:
            row = book(shape, columns, rules, policies, state, entry, module, slot, now)
            take_off(columns, rules, state, offer)
        if rules.events:
            log_takes(shape, columns, rules, state, entry, module, slot, row)
        # Only once it was chosen and has granted all: a module that merely matched keeps its pointer (R67).
        state.pointer[module] = pointer
        start(columns, rules, policies, state, entry, row, slot, now)
    else:
        if rules.between:
            call(policies.hooks[HOOK.leave], policies.hooks[HOOK.lent], (row, slot, now))
        free_slot(state, slot)
    for t in range(shape.units):
        state.resident[module, t] += state.counts[t] if takes else -state.counts[t]
    # With `between` the rate changes with the duration, which a barrier may delay (`residents`). Where ends are
    # requested, it fell at the end of compute (`stop_issuing`).
    if rules.history and not rules.between and (takes or not rules.ends_on_request):
        _change_rate(columns, rules, policies, state, row, int(not takes), now)
    module_changed(state, module)
    if rules.pending_depth:
        state.between.try_at[module] = 0
    if rules.keeps_answers:
        tell_of(columns, state, GRANTED if takes else ENDED, entry, now, module, row)
    return True


@inlined
def stop_issuing(columns: Columns, rules: Rules, policies: Policies, state: State, slot: int, now: int) -> None:
    """Let the group in a slot, which stays until its end is asked, execute nothing more: its duration is over."""
    _change_rate(columns, rules, policies, state, state.slot_dispatch[slot, 0], ISSUES_NO_MORE, now)


@noinline
def _change_rate(
    columns: Columns, rules: Rules, policies: Policies, state: State, dispatch: int, ends: int, now: int
) -> None:
    if rules.heat_cycles:
        warm_up(rules, policies, state, now)
    change_rate(columns, policies, state, dispatch, ends, now)


@inlined
def _refuse(state: State, offer: int, module: int) -> None:
    """Refuse an offer that a report promised too much: it may not try the module again before it changes (E18)."""
    state.counters[COUNT.over_promised] += 1
    set_member(state.banned[offer], module, True)
    state.fitting[offer] += set_member(state.fits[offer], module, False)


@kernel
def _map_of(shape: Shape, module: int, position: int) -> int:
    """Return the row of the free map at a position of the module's ranges."""
    unit, resource = shape.ranges[position, 0], shape.ranges[position, 1]
    return int(shape.first_map[resource] + (module if unit == OWN else module * shape.units + unit))


@noinline
def keep_memories(shape: Shape, state: State, module: int) -> None:
    """Write down what the placements remember of a module's maps before it is asked for ranges."""
    for position in range(shape.ranges.shape[0]):
        row = _map_of(shape, module, position)
        for slot in range(shape.remembers[shape.ranges[position, 1]]):
            state.before[position, slot] = state.memory[row, slot]


@noinline
def note_refusal(shape: Shape, state: State, module: int) -> None:
    """Note the module after a refusal if a placement remembers something else of it than before."""
    if not state.moved[module] and remembers_else(shape, state, module):
        state.moved[module] = True
        state.counters[COUNT.moved] += 1


@noinline
def remembers_else(shape: Shape, state: State, module: int) -> bool:
    """Return whether a placement remembers something else of a module than `keep_memories` wrote down."""
    moved = False
    for position in range(shape.ranges.shape[0]):
        row = _map_of(shape, module, position)
        for slot in range(shape.remembers[shape.ranges[position, 1]]):
            moved |= state.before[position, slot] != state.memory[row, slot]
    return moved


@kernel
def open_again(rules: Rules, state: State) -> bool:
    """Lift the bans of the modules whose placements have moved on, where nothing fits; False if there are none."""
    return state.counters[COUNT.moved] > 0 and _open_moved(rules, state)


@noinline
def _open_moved(rules: Rules, state: State) -> bool:
    if anything_fits(rules, state):
        return False
    for module in range(state.moved.size):
        if state.moved[module]:
            module_changed(state, module)
    return True


@inlined
def book(
    shape: Shape,
    columns: Columns,
    rules: Rules,
    policies: Policies,
    state: State,
    entry: int,
    module: int,
    slot: int,
    now: int,
) -> int:
    """Write down that an entry is dispatched to a module; return the number of the dispatch."""
    row = enter_row(columns, rules, policies, state, entry, module, slot, now)
    state.last_module[state.counters[COUNT.memory]] = module
    tell_terms(shape, policies, state, module, now)
    return row


@inlined
def enter_row(
    columns: Columns, rules: Rules, policies: Policies, state: State, entry: int, module: int, slot: int, now: int
) -> int:
    """Write down the row of a dispatch, and return its number."""
    group, row = group_of(columns, state, entry), number_of(rules, state, slot)
    state.group[row], state.cycle[row], state.module[row] = group, now, module
    state.level[row] = level_of(columns, state, entry)
    state.shared_out[row] = divided(columns, state, entry)
    state.counters[COUNT.dispatches] += 1
    if rules.between:
        call(policies.hooks[HOOK.note], policies.hooks[HOOK.lent], (row, entry))
    return row


@inlined
def start(
    columns: Columns, rules: Rules, policies: Policies, state: State, entry: int, row: int, slot: int, now: int
) -> None:
    """Let a dispatch whose waves are in `counts` start."""
    for t in range(state.sent.shape[1]):
        state.sent[row, t] = state.counts[t]
    state.slot_dispatch[slot, 0], state.slot_dispatch[slot, 1] = row, entry
    if rules.ends_on_request:
        _stay(rules, state, row, slot, now + columns.duration[state.group[row]])
    # With `between`, `residents` sees to the end: a barrier may delay it, and an endless group has none of its own.
    elif not rules.between:
        put(state.due, now + columns.duration[state.group[row]], slot)
    if rules.between:
        call(policies.hooks[HOOK.enter], policies.hooks[HOOK.lent], (row, slot, now))


@noinline
def _stay(rules: Rules, state: State, dispatch: int, slot: int, until: int) -> None:
    """Let a group stay until its end is asked; where the past is counted it executes something until a cycle."""
    state.slot_of[dispatch] = slot
    if rules.history:
        put(state.due, until, slot + state.slot_dispatch.shape[0])


@inlined
def tell_terms(shape: Shape, policies: Policies, state: State, module: int, now: int) -> None:
    terms = policies.terms
    for term in range(terms.weights.size):
        if terms.chosen[term] == NO_ANSWER:
            continue
        params = terms.params[term][: terms.sizes[term, 0]]
        memory = state.term_memory[memory_row(terms, state, term)][: terms.sizes[term, 1]]
        if tell_chosen(terms.chosen[term], ChoiceNotice(module, shape.modules, params, memory)) == RAISED:
            fail(state.counters, FAULT.choice_raised, now, NONE, NONE)


@noinline
def split_stuck(columns: Columns, rules: Rules, policies: Policies, state: State, now: int) -> bool:
    """Ask about every waiting head, in the order of the channels; True if any was split (spec 3, R25-R28, E12)."""
    anything = False
    for channel in range(rules.channels):
        if state.offered[channel] == 0 or state.counters[STOP.fault] != FINE:
            continue
        entry = state.offer[channel * rules.offers]
        # Clusters are never split (spec 7, R14).
        if is_cluster(columns, rules, entry):
            continue
        group, waves = group_of(columns, state, entry), waves_of(columns, state, entry)
        parts = ask_parts(
            policies.stuck.answer,
            StuckView(
                waves,
                int(columns.independent[group]),
                level_of(columns, state, entry),
                rules.levels,
                policies.stuck.params,
            ),
        )
        if parts == RAISED:
            fail(state.counters, FAULT.stuck_raised, now, group, NONE)
        elif parts < 0 or parts > max(waves, 1) or (parts >= 2 and not columns.independent[group]):
            fail(state.counters, FAULT.stuck_wrong, now, group, parts)
        elif parts >= 2:
            _split(columns, rules, policies, state, channel, entry, parts, now)
            anything = True
    return anything


@inlined
def _split(
    columns: Columns, rules: Rules, policies: Policies, state: State, channel: int, entry: int, parts: int, now: int
) -> None:
    groups, first = columns.arrival.size, state.counters[COUNT.parts]
    group, waves = group_of(columns, state, entry), waves_of(columns, state, entry)
    # A whole group has no first wave (-1) and begins at 0; a part that is split again goes on from its own.
    level, wave = level_of(columns, state, entry), max(first_wave_of(columns, state, entry), 0)
    if rules.tells_all:
        tell(state, SPLIT, group, now, NONE, NONE, first_wave_of(columns, state, entry), parts)
    if policies.stuck.sub_priority != INHERIT:
        level = rules.levels if policies.stuck.sub_priority == LOWEST_LEVEL else rules.levels + 1
    for k in range(parts):
        row = state.part[first + k]
        row[PART_GROUP], row[PART_WAVES], row[PART_LEVEL] = group, waves // parts + (k < waves % parts), level
        # The link of the last part is wrong until `call_back` sets it.
        row[PART_DIVIDED], row[PART_BEHIND] = policies.stuck.divides_shared, groups + first + k + 1
        row[PART_FIRST] = wave
        wave += row[PART_WAVES]
    state.counters[COUNT.parts] += parts
    call_back(columns, rules, state, channel, groups + first, groups + first + parts - 1)
    at = state.counters[COUNT.splits]
    if at < state.splits.shape[0]:
        state.splits[at, 0], state.splits[at, 1], state.splits[at, 2] = now, group, parts
    state.counters[COUNT.splits] += 1
