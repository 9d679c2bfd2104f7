"""The groups of each module from their start to their end: start barriers, endless groups, kernels in order (spec 7).

A group that names a barrier holds its resources from its start, and its duration begins when the last group that names
it has started (R15). An endless group ends when every other one has ended, in the same cycle (R16). Groups are counted
by waves, so that a split group has started, or ended, with its last sub-group.
"""

from __future__ import annotations

from workbench.compiled import inlined, noinline
from workbench.engines.dispatch.admission import note_resident
from workbench.engines.dispatch.history import change_rate, warm_up
from workbench.engines.dispatch.pace import settle_pace
from workbench.engines.dispatch.setting import LEFTOVER, SERIALISE, Columns, Policies, Rules, to_int64
from workbench.engines.dispatch.state import COUNT, NONE, State
from workbench.engines.dispatch.subgroups import group_of, waves_of
from workbench.structures.execution_rates import RATE_BITS
from workbench.structures.timetable import put

BEGINS, ENDS = to_int64(0), to_int64(1)


@noinline
def enter_module(
    columns: Columns, rules: Rules, policies: Policies, state: State, row: int, slot: int, now: int
) -> None:
    """Let a dispatch that has just taken its resources start; let it run, and those that waited for it."""
    entry = state.between.entry_of[row]
    group, waves, module = group_of(columns, state, entry), waves_of(columns, state, entry), int(state.module[row])
    if rules.paced:
        settle_pace(rules, state, module, now)
    state.between.start[row] = now
    state.between.slot_before[slot], state.between.slot_behind[slot] = NONE, state.between.module_first[module]
    if state.between.module_first[module] != NONE:
        state.between.slot_before[state.between.module_first[module]] = slot
    state.between.module_first[module] = slot
    if rules.in_order == LEFTOVER:
        _pass_kernel(columns, state, group, waves)
    barrier = columns.lot.barrier[group]
    if barrier == NONE:
        _run(columns, rules, policies, state, slot, now)
        return
    state.between.slot_barrier[slot] = NONE
    if state.between.barrier_first[barrier] == NONE:
        state.between.barrier_first[barrier] = slot
    else:
        state.between.slot_barrier[state.between.barrier_last[barrier]] = slot
    state.between.barrier_last[barrier] = slot
    state.between.barrier_left[barrier] -= waves
    if state.between.barrier_left[barrier] == 0:
        waiting = state.between.barrier_first[barrier]
        while waiting != NONE:
            _run(columns, rules, policies, state, waiting, now)
            waiting = state.between.slot_barrier[waiting]


@inlined
def _run(columns: Columns, rules: Rules, policies: Policies, state: State, slot: int, now: int) -> None:
    """Let the duration of a group begin."""
    row = state.slot_dispatch[slot, 0]
    group = group_of(columns, state, state.between.entry_of[row])
    if rules.paced:
        # The group may stand in another module than the one whose start let the barrier pass.
        settle_pace(rules, state, int(state.module[row]), now)
        state.between.work_left[slot] = columns.duration[group] << RATE_BITS
        state.between.begin[row] = now
        return
    state.between.begin[row] = now
    if not (columns.lot.endless[group] or rules.ends_on_request):
        put(state.due, now + columns.duration[group], slot)
    if rules.history:
        if rules.heat_cycles:
            warm_up(rules, policies, state, now)
        change_rate(columns, policies, state, row, BEGINS, now)


@inlined
def _pass_kernel(columns: Columns, state: State, group: int, waves: int) -> None:
    """Count waves of a kernel as started, or ended; open the kernels behind those that are through."""
    counters = state.counters
    state.between.kernel_left[columns.lot.rank[group]] -= waves
    while (
        counters[COUNT.open_rank] < state.between.kernel_left.size
        and state.between.kernel_left[counters[COUNT.open_rank]] == 0
    ):
        counters[COUNT.open_rank] += 1


@noinline
def leave_module(
    columns: Columns, rules: Rules, policies: Policies, state: State, row: int, slot: int, now: int
) -> None:
    """Let a dispatch that gives its resources back end; where it was the last one, let the endless end too."""
    entry = state.between.entry_of[row]
    group, waves, module = group_of(columns, state, entry), waves_of(columns, state, entry), int(state.module[row])
    if rules.paced:
        settle_pace(rules, state, module, now)
    state.between.end[row] = now
    note_resident(columns, state, entry, module, -1)
    before, behind = state.between.slot_before[slot], state.between.slot_behind[slot]
    if before == NONE:
        state.between.module_first[module] = behind
    else:
        state.between.slot_behind[before] = behind
    if behind != NONE:
        state.between.slot_before[behind] = before
    # A group that ends at its barrier has executed nothing. Shared rates change in `renew_pace`.
    if rules.history and state.between.begin[row] != NONE and not (rules.ends_on_request or rules.paced):
        if rules.heat_cycles:
            warm_up(rules, policies, state, now)
        change_rate(columns, policies, state, row, ENDS, now)
    if rules.in_order == SERIALISE:
        _pass_kernel(columns, state, group, waves)
    if columns.lot.endless[group]:
        return
    state.counters[COUNT.unended] -= waves
    if state.counters[COUNT.unended] == 0:
        state.counters[COUNT.over] = 1
        _end_endless(state, now)


@inlined
def _end_endless(state: State, now: int) -> None:
    """Let every group that still runs, all of them endless, end in this cycle, module by module."""
    for module in range(state.between.module_first.size):
        slot = state.between.module_first[module]
        while slot != NONE:
            put(state.due, now, slot)
            slot = state.between.slot_behind[slot]
