"""The engine `dispatch`: workgroups of several channels over the modules of a GPU, under ten policies (spec 3, spec 7).

A setup is read and checked, the state of a run with empty modules and full queues is made, the loop plays it, and its
record is returned. Refused before anything runs: tables that are none, policies that do not go with the machine, groups
that never fit.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from workbench.compiled.memory_access import Referent
from workbench.engines.dispatch.between import hook
from workbench.engines.dispatch.checks import check_groups, check_levels, check_table, checked_case
from workbench.engines.dispatch.lacking import lacking
from workbench.engines.dispatch.loop import play_all
from workbench.engines.dispatch.lot import check_lot
from workbench.engines.dispatch.prepare import (
    Case,
    DispatchOptions,
    Slots,
    columns_of,
    is_between,
    needs_history,
    policies_of,
    rules_of,
    shape_of,
)
from workbench.engines.dispatch.run import Run, new_state
from workbench.engines.dispatch.setting import RANDOM, Columns, Rules
from workbench.engines.dispatch.state import COUNT, FAULT, NONE, Play, State
from workbench.engines.kit import Attempt, Simulator, Stop
from workbench.machine import Machine
from workbench.policies.policy import Policy
from workbench.records.dispatch import Between, DispatchRecord, Lacking
from workbench.structures.timetable import NEVER

_TOTALS = {
    "rounds": COUNT.rounds,
    "failed_rounds": COUNT.failed,
    "head_rounds": COUNT.head_rounds,
    "over_promised": COUNT.over_promised,
    "refused_by_fragmentation": COUNT.fragmented,
    "placement_searches": COUNT.searches,
    "pieces": COUNT.pieces,
}


class Dispatch(Simulator[DispatchRecord]):
    """A dispatcher: channels of workgroups, modules of units, one round a cycle."""

    name = "dispatch"
    revision = 6
    decides = Slots
    options = DispatchOptions
    machine = Machine
    workload_kind = "groups"
    state, counts, faults = State, COUNT, FAULT

    def check_levers(self, given: Case) -> None:
        checked_case(given)

    def read(self, given: Case) -> Run:
        return self.read_table(given, of_part=False)

    def read_table(self, given: Case, of_part: bool) -> Run:
        """Return all that the setup and the seed determine; of a part, whose groups are yet to be put forward, too."""
        resources, given = given.machine.resources(), checked_case(given)
        groups = given.setup.workload.groups(given.machine, given.streams)
        check_table(groups, resources, of_part)
        check_levels(given, groups)
        if is_between(given, groups):
            options = given.options
            check_lot(groups, options.pending_depth, options.concurrency != "full_overlap", options.progress.shared)
        shape, history = shape_of(given, resources), needs_history(given)
        columns = columns_of(given, groups, resources, history)
        check_groups(given, shape, columns, resources)
        return Run(given, groups, resources, shape, columns, history)

    def compiled_policies(self, run: Run) -> list[Policy]:
        """Return the policies that are asked something: of a choice, its terms."""
        *others, choice = run.given.slots
        return [*others, *(term for term, _ in choice.terms())]

    def begin(self, run: Run, attempt: Attempt) -> Play:
        """Return a run whose groups are all in their channels' queues."""
        columns = run.columns._replace(following=run.columns.following.copy())
        return self.begin_with(run, columns, rules_of(run.given, run.groups, run.history, attempt.events), attempt)

    def begin_with(self, run: Run, columns: Columns, rules: Rules, attempt: Attempt) -> Play:
        """Return a run with these queues and rules in which nothing has happened."""
        given, shape = run.given, run.shape
        policies, term_memory = policies_of(given, rules, attempt.checked)
        state = new_state(run, columns, rules, term_memory, attempt.room)
        seed = given.streams.integer("units")
        state.pointer[:] = [given.slots.units.first_pointer(m, seed) for m in range(shape.modules)]
        if rules.tie == RANDOM:
            # From 0 the generator would draw nothing but 0 (`structures.rng.next_word`).
            state.counters[COUNT.generator] = max(given.streams.integer("module_tie"), 1)
        return Play(shape, columns, rules, policies, state)

    def loop(self, play: Play) -> None:
        lent = Referent(play) if play.rules.between else None
        if lent:
            hook(play, lent)
        play_all(play)

    def words(self, run: Run, state: State, stop: Stop) -> Mapping[str, Any]:
        """Return the cycle and the group; how a group was shared out; how often was refused what would fit."""
        slots, counts, counters = run.given.slots, state.counts.tolist(), state.counters
        refusing = (slots.selection, slots.placement, slots.shared_placement)
        group = f", group {stop.row} ({run.columns.waves[stop.row]} waves)" if stop.row != NONE else ""
        return {
            "where": f"at cycle {stop.cycle}{group}",
            "given": sum(counts),
            "counts": counts,
            "waves": counters[COUNT.of_waves],
            "waiting": counters[COUNT.waiting],
            "chosen": ", ".join(policy.short() for policy in refusing),
            "often": f", {stop.answer} times in a row" if stop.answer > 1 else "",
        }

    def record(self, run: Run, play: Play) -> DispatchRecord:
        (shape, columns, rules, _, state), resources, options = play, run.resources, run.given.options
        counters = state.counters
        sent = int(counters[COUNT.dispatches])
        total = {name: int(counters[place]) for name, place in _TOTALS.items()}
        return DispatchRecord(
            modules=shape.modules,
            units=shape.units,
            levels=rules.levels,
            channels=rules.channels,
            resources=tuple(r.label for r in resources),
            of_unit=np.array([r.level == "unit" for r in resources]),
            contiguous=np.array([r.contiguous for r in resources]),
            blocks=shape.blocks,
            arrival=run.groups.arrival,
            channel=columns.channel,
            priority=columns.priority,
            waves=columns.waves,
            duration=columns.duration,
            demand=columns.demand,
            instructions=run.groups.instructions,
            group=state.group[:sent],
            cycle=state.cycle[:sent],
            module=state.module[:sent],
            sent=state.sent[:sent],
            level=state.level[:sent],
            shared_out=state.shared_out[:sent],
            refused=state.refused,
            round_cycles=rules.round_cycles,
            history_cycles=max(term.history_cycles() for term, _ in run.given.slots.choice.terms()),
            **total,
            splits=state.splits[: counters[COUNT.splits]],
            takes=state.takes,
            failures=state.failures,
            clock_mhz=run.given.machine.clock_mhz,
            power=options.power if options.power.simulated else None,
            heat=options.heat if options.heat.simulated else None,
            between=_between(run, play, sent) if rules.between else None,
        )


def _pace(play: Play, sent: int) -> np.ndarray:
    """Return the rate of each module from change to change, where rates are shared: int64[changes, 4]."""
    state = play.state
    if not play.rules.paced or not sent:
        return np.zeros((0, 4), np.int64)
    start, end, module = state.between.start[:sent], state.between.end[:sent], state.module[:sent]
    counts = state.sent[:sent].sum(axis=1) if play.rules.paced_by_waves else np.ones(sent, np.int64)
    took, gave = start >= 0, end >= 0
    changes = np.concatenate([np.stack([module[took], start[took], counts[took]]),
                              np.stack([module[gave], end[gave], -counts[gave]])], axis=1)  # fmt: skip
    order = np.lexsort((changes[1], changes[0]))
    module, cycle, change = changes[:, order]
    last = np.append((np.diff(module) != 0) | (np.diff(cycle) != 0), True)
    residents = np.cumsum(change)[last]  # a module is empty after its last change, unless the run hangs
    module, cycle = module[last], cycle[last]
    first = np.flatnonzero(np.append(True, np.diff(module) != 0))
    residents -= np.repeat(np.append(0, residents)[first], np.diff(np.append(first, len(module))))
    until = np.append(cycle[1:], 0)
    until[np.append(first[1:] - 1, len(module) - 1)] = NEVER
    rows = np.stack([module, cycle, until, play.policies.rates[residents]], axis=1)
    return rows[residents > 0].astype(np.int64)


def _between(run: Run, play: Play, sent: int) -> Between:
    """Return the record of queue and units, and of how the run ended."""
    state, lot, groups = play.state, play.columns.lot, run.groups
    start, begin, end = state.between.start[:sent], state.between.begin[:sent], state.between.end[:sent]
    group, waves = state.group[:sent], state.sent[:sent].sum(axis=1)
    hangs = state.counters[COUNT.unended] > 0
    started = np.bincount(group[start >= 0], waves[start >= 0], groups.waves.size)
    never_started = np.flatnonzero(started < groups.waves) if hangs else np.zeros(0, np.int64)
    waits = np.unique(group[(start >= 0) & (begin < 0) & (end < 0)])
    happened = (groups.arrival, start, end, state.splits[: state.counters[COUNT.splits], 0])
    return Between(
        die_of=play.shape.die_of,
        kernel=lot.kernel,
        barrier=lot.barrier,
        endless=lot.endless,
        start=start,
        begin=begin,
        end=end,
        hung_at_cycle=max(int(column.max(initial=NONE)) for column in happened) if hangs else NONE,
        never_started=never_started,
        at_barrier=np.setdiff1d(waits, never_started).astype(np.int64) if hangs else never_started,
        lacking=lacking(play) if hangs else Lacking(*np.zeros((6, 0), np.int64)),
        pace=_pace(play, sent),
    )
