"""Whether an entry may go to a module now: the order of kernels, and the policy for admission (spec 7, R19 to R21).

Resident are the groups that a module holds, those in its queue among them, and those of a cluster that is being tried.
"""

from __future__ import annotations

from workbench.compiled import RAISED, inlined, kernel, noinline
from workbench.engines.dispatch.setting import Columns
from workbench.engines.dispatch.state import COUNT, FAULT, NONE, Play, State
from workbench.engines.dispatch.subgroups import group_of, level_of, write_needs
from workbench.engines.kit.faults import fail
from workbench.policies.dispatch.admission import ADMISSION, AdmissionView

ask_admission = ADMISSION.ask


@kernel
def in_turn(play: Play, entry: int) -> bool:
    """Return whether the kernels before that of an entry let it go (R21)."""
    rank = play.columns.lot.rank[group_of(play.columns, play.state, entry)]
    return play.rules.in_order == 0 or rank <= play.state.counters[COUNT.open_rank]


@kernel
def note_resident(columns: Columns, state: State, entry: int, module: int, sign: int) -> None:
    """Count an entry among the groups of a module, with `sign` -1 no longer."""
    channel = columns.channel[group_of(columns, state, entry)]
    had = state.between.holds[channel, module] > 0
    state.between.held_by[module, channel] += sign
    state.between.holds[channel, module] += sign
    state.between.groups_in[module] += sign
    state.between.modules_held[channel] += int(state.between.holds[channel, module] > 0) - int(had)


@inlined
def _of_kernel(play: Play, module: int, kernel: int) -> int:
    """Return the number of groups of a kernel that are resident in a module, those in its queue among them."""
    columns, state = play.columns, play.state
    count, slot = 0, state.between.module_first[module]
    while slot != NONE:
        entry = state.between.entry_of[state.slot_dispatch[slot, 0]]
        count += int(columns.lot.kernel[group_of(columns, state, entry)] == kernel)
        slot = state.between.slot_behind[slot]
    if state.between.queued.size:
        for k in range(state.between.queued[module]):
            entry = state.between.entry_of[state.between.queue[module, k]]
            count += int(columns.lot.kernel[group_of(columns, state, entry)] == kernel)
    for k in range(state.counters[COUNT.placed]):
        same = columns.lot.kernel[state.between.member_entry[k]] == kernel
        count += int(state.between.member_module[k] == module and same)
    return count


@noinline
def admits(play: Play, entry: int, module: int, now: int) -> bool:
    """Return whether an entry may go to a module, as things are now (R19)."""
    shape, columns, state, policy = play.shape, play.columns, play.state, play.policies.admission
    if not play.rules.asks_admission:
        return True
    group = group_of(columns, state, entry)
    channel = columns.channel[group]
    write_needs(shape, columns, state, entry, state.need)
    answer = ask_admission(
        policy.answer,
        AdmissionView(
            channel,
            columns.lot.kernel[group],
            level_of(columns, state, entry),
            module,
            shape.die_of[module],
            shape.modules,
            state.between.groups_in[module],
            _of_kernel(play, module, columns.lot.kernel[group]),
            state.between.modules_held[channel],
            state.need,
            state.between.held_by[module],
            state.between.holds[channel],
            policy.params,
        ),
    )
    if answer == RAISED:
        fail(state.counters, FAULT.admission_raised, now, group, module)
    elif answer != 0 and answer != 1:
        fail(state.counters, FAULT.admission_wrong, now, group, answer)
    return answer == 1
