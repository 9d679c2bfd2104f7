"""Reports of modules on their longest free runs, renewed only where something changed (spec 3, R3, R4, R51-R54, E18).

A report of a probe that serves several resources in turn is renewed in the cycles of its period; until then it says
what was true before.
"""

from __future__ import annotations

from workbench.compiled import RAISED, inlined, kernel, noinline
from workbench.engines.dispatch.channels import module_changed
from workbench.engines.dispatch.setting import OWN, Columns, Policies, Shape, Turns
from workbench.engines.dispatch.state import COUNT, FAULT, NONE, State
from workbench.engines.dispatch.subgroups import group_of
from workbench.engines.kit.faults import fail
from workbench.policies.probes.question import PROBE, ProbeView
from workbench.structures.bitmaps import count_free
from workbench.structures.timetable import NEVER


@inlined
def renew_reports(
    shape: Shape, columns: Columns, policies: Policies, state: State, entry: int, module: int, taken: bool, now: int
) -> None:
    """Renew the reports of the maps that an entry took from or gave back to."""
    group = group_of(columns, state, entry)
    for position in range(shape.ranges.shape[0]):
        unit, h = shape.ranges[position, 0], shape.ranges[position, 1]
        if columns.demand[group, h] == 0 or (unit != OWN and state.counts[unit] == 0):
            continue
        row = shape.first_map[h] + (module if unit == OWN else module * shape.units + unit)
        renew(shape, policies, state, h, row, taken, now)


ask_probe = PROBE.ask


@inlined
def probed(shape: Shape, policies: Policies, state: State, resource: int, row: int, now: int) -> int:
    """Return the report of the probe on a free map as it is; of a scattered resource, the number of free blocks."""
    words = state.free[row][: shape.words[resource]]
    if shape.scattered[resource]:
        return count_free(words)
    blocks = shape.blocks[resource]
    probes = policies.probes
    report = ask_probe(
        probes.answers[resource], ProbeView(words, blocks, probes.params[resource][: probes.sizes[resource]])
    )
    if report == RAISED:
        fail(state.counters, FAULT.probe_raised, now, NONE, row)
        return 0
    if report < 0 or report > blocks:
        fail(state.counters, FAULT.probe_wrong, now, NONE, report)
        return 0
    return report


@inlined
def first_reports(shape: Shape, policies: Policies, state: State) -> None:
    """Make the reports of empty maps; every module is one to be looked at."""
    for h in range(shape.blocks.size):
        first = shape.first_map[h]
        if first < 0:
            continue
        # Once for all maps of a resource: they are empty and equal.
        report = probed(shape, policies, state, h, first, 0)
        for row in range(first, first + shape.modules * (shape.units if h < shape.of_unit else 1)):
            state.fresh[row] = state.report[row] = report
    for m in range(shape.modules):
        module_changed(state, m)


@inlined
def renew(shape: Shape, policies: Policies, state: State, resource: int, row: int, taken: bool, now: int) -> None:
    """Renew the report of a free map that has changed; where the probe takes turns the report waits for its period."""
    state.fresh[row] = probed(shape, policies, state, resource, row, now)
    turns = policies.turns
    if turns.periods == 0 or turns.period[resource] < 0:
        state.report[row] = state.fresh[row]
        return
    # The old report may promise more than is left; 0 promises nothing (E18).
    if taken and turns.forget:
        state.report[row] = 0
    state.counters[COUNT.unrenewed] = 1


@kernel
def next_turn(turns: Turns, period: int, since: int) -> int:
    """Return the first cycle not before `since` that lies in a period."""
    ahead = (period - since // turns.cycles_a_period) % turns.periods
    return since if ahead == 0 else (since // turns.cycles_a_period + ahead) * turns.cycles_a_period


@inlined
def next_renewal(shape: Shape, policies: Policies, state: State, now: int) -> int:
    """Return the first cycle after `now` at which a late report may be renewed."""
    if policies.turns.periods == 0 or state.counters[COUNT.unrenewed] == 0:
        return NEVER
    soonest = NEVER
    for h in range(shape.of_unit):
        if shape.first_map[h] >= 0 and _is_late(shape, state, h):
            soonest = min(soonest, next_turn(policies.turns, policies.turns.period[h], now + 1))
    return soonest


@inlined
def _is_late(shape: Shape, state: State, resource: int) -> bool:
    first, late = shape.first_map[resource], False
    for row in range(first, first + shape.modules * shape.units):
        late |= state.report[row] != state.fresh[row]
    return late


@kernel
def renew_in_turn(shape: Shape, policies: Policies, state: State, until: int) -> bool:
    """Renew the late reports whose period came in the cycles up to `until`; True where a report changed."""
    if policies.turns.periods == 0 or until < state.counters[COUNT.renewed_until]:
        return False
    return _renew_late(shape, policies, state, until)


@noinline
def _renew_late(shape: Shape, policies: Policies, state: State, until: int) -> bool:
    turns, since = policies.turns, state.counters[COUNT.renewed_until]
    state.counters[COUNT.renewed_until] = until + 1
    if state.counters[COUNT.unrenewed] == 0:
        return False
    changed = late = False
    for h in range(shape.of_unit):
        if shape.first_map[h] < 0:
            continue
        if next_turn(turns, turns.period[h], since) > until:
            late = late or _is_late(shape, state, h)
            continue
        for m in range(shape.modules):
            if _renew_module(shape, state, h, m):
                module_changed(state, m)
                changed = True
    state.counters[COUNT.unrenewed] = int(late)
    return changed


@inlined
def _renew_module(shape: Shape, state: State, resource: int, module: int) -> bool:
    changed = False
    first = shape.first_map[resource] + module * shape.units
    for row in range(first, first + shape.units):
        if state.report[row] != state.fresh[row]:
            state.report[row] = state.fresh[row]
            changed = True
    return changed
