"""The engine `dispatch`: workgroups of several channels over the modules of a GPU, under eight policies (spec 3)."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Any, ClassVar, NamedTuple

import numpy as np

from workbench.engines.dispatch.admission import check_groups, check_policies
from workbench.engines.dispatch.broken import broken
from workbench.engines.dispatch.loop import simulate
from workbench.engines.dispatch.options import DispatchOptions
from workbench.engines.dispatch.prepare import (
    columns_of,
    needs_history,
    placement_of,
    policies_of,
    rules_of,
    shape_of,
    splits,
)
from workbench.engines.dispatch.shape import Columns, Rules, Shape
from workbench.engines.dispatch.state import (
    DISPATCHES,
    FAILED,
    FAILURES,
    FINE,
    FRAGMENTED,
    GENERATOR,
    HEAD_ROUNDS,
    OVER_PROMISED,
    PIECES,
    ROUNDS,
    SEARCHES,
    SPLITS,
    STATUS,
    TAKES,
    Room,
    State,
    new_state,
)
from workbench.engines.engine import Setup
from workbench.engines.first_runs import FirstRuns
from workbench.engines.log_room import with_log_room
from workbench.levers import Spec
from workbench.machine import Described, Machine
from workbench.machine.resource import Resource
from workbench.policies.policy import Policy
from workbench.records.dispatch import DispatchRecord
from workbench.streams import Streams
from workbench.workloads.workload import Groups

_first_runs = FirstRuns()


class Run(NamedTuple):
    """Everything that one run is made of."""

    setup: Setup
    streams: Streams
    groups: Groups
    resources: tuple[Resource, ...]
    columns: Columns
    history: bool


class Played(NamedTuple):
    """What one run came to, and the shape and rules by which its columns are read."""

    shape: Shape
    columns: Columns
    rules: Rules
    state: State


class Dispatch:
    """A dispatcher: channels of workgroups, modules of units, one round a cycle."""

    name: ClassVar[str] = "dispatch"
    revision: ClassVar[int] = 2
    slots: ClassVar[Mapping[str, str]] = {
        "probe": "exact_run",
        "placement": "nearest_boundary",
        "shared_placement": "placement",
        "priority": "static_priority",
        "selection": "served_marks",
        "stuck": "never_split",
        "units": "rotated_split",
        "choice": "most_residual",
    }
    options: ClassVar[type[Spec]] = DispatchOptions
    machine: ClassVar[type[Described]] = Machine
    wants: ClassVar[str] = "groups"

    def asks(self, slot: str) -> str:
        """The question that the policy of a slot answers."""
        return "placement" if slot == "shared_placement" else slot

    def simulate(self, setup: Setup, seed: int, events: bool = False, checked: bool = False) -> DispatchRecord:
        """Run every channel of one seed to its end.

        Parameters
        ----------
        seed : int
            Names the workload's random streams and the policies' own.
        events : bool
            Keep what was taken where, and the failed rounds; what happens is the same.
        checked : bool
            Test every array index of the policies' compiled answers; the first run of a user's policy in a process
            always does.

        Raises
        ------
        InputError
            A group can never fit, or a policy does not go with the machine.
        PolicyError
            A policy raised, gave an answer that its question does not allow, or refused for ever.
        """
        run = _read(setup, seed)
        with _first_runs.watched(_asked(setup), checked) as checked:
            play = partial(_play, run, events, checked)
            played = with_log_room(play, _logged) if events else play()
        return _record(run, played)

    def admit(self, setup: Setup, seed: int) -> None:
        """Refuse a setup whose groups cannot all be dispatched to an empty module."""
        _read(setup, seed)


def _read(setup: Setup, seed: int) -> Run:
    streams, resources = Streams(seed), setup.machine.resources()
    choice: Any = setup.policies["choice"]
    bound = choice.bound([resource.label for resource in resources])
    setup = setup._replace(policies={**setup.policies, "choice": bound})
    groups = setup.workload.groups(setup.machine, streams)
    check_policies(setup, groups, resources)
    shape, history = shape_of(setup, resources), needs_history(setup)
    columns = columns_of(setup, groups, resources, history)
    check_groups(setup, shape, columns, resources)
    return Run(setup, streams, groups, resources, columns, history)


def _asked(setup: Setup) -> list[Policy]:
    """The policies that are asked something: of a choice, its terms."""
    choice: Any = setup.policies["choice"]
    others = [policy for slot, policy in setup.policies.items() if slot != "choice"]
    return [*others, *(term for term, _ in choice.terms())]


def _logged(played: Played) -> tuple[int, int]:
    counters = played.state.counters
    return int(counters[TAKES]), int(counters[FAILURES])


def _play(run: Run, events: bool, checked: bool, takes: int = 0, failures: int = 0) -> Played:
    setup = run.setup
    shape = shape_of(setup, run.resources)
    columns = run.columns._replace(following=run.columns.following.copy())
    rules = rules_of(setup, run.groups, run.history, events)
    policies, term_memory = policies_of(setup, rules, run.streams, checked)
    memories = _memories(run, shape)
    room = _room(run, shape, columns, rules, memories, term_memory, takes, failures)
    state = new_state(shape, columns, rules, policies, room)
    state.memory[:] = memories
    state.term_memory[:] = term_memory
    units: Any = setup.policies["units"]
    seed = run.streams.integer("units")
    state.pointer[:] = [units.first_pointer(m, seed) for m in range(shape.modules)]
    state.counters[GENERATOR] = max(run.streams.integer("module_tie"), 1)
    simulate(shape, columns, rules, policies, state)
    if state.counters[STATUS] != FINE:
        raise broken(setup, shape, columns, rules, policies, state)
    return Played(shape, columns, rules, state)


def _memories(run: Run, shape: Shape) -> np.ndarray:
    """What the placement policies remember of each map at the start: int64[maps, most slots].

    One that draws has a stream of its own for every map.
    """
    rows: list[np.ndarray] = []
    for h, resource in enumerate(run.resources):
        if shape.first_map[h] < 0:
            continue
        policy = placement_of(run.setup, resource)
        copies = shape.modules * (shape.units if h < shape.of_unit else 1)
        names = [f"placement/{resource.label}/{k}" for k in range(copies if policy.draws else 1)]
        made = [policy.start_memory(resource.blocks, run.streams.integer(name)) for name in names]
        rows += made if policy.draws else made * copies
    table = np.zeros((len(rows), max((row.size for row in rows), default=1)), np.int64)
    for line, row in zip(table, rows, strict=True):
        line[: row.size] = row
    return table


def _room(
    run: Run,
    shape: Shape,
    columns: Columns,
    rules: Rules,
    memories: np.ndarray,
    term_memory: np.ndarray,
    takes: int,
    failures: int,
) -> Room:
    contiguous = shape.first_map >= 0
    parts = int(columns.waves[columns.independent].sum()) if splits(run.setup) else 0
    dispatches = columns.arrival.size + parts
    running = [shape.modules * shape.totals[h] for h, r in enumerate(run.resources) if r.label == "waves"]
    most_waves = int(columns.waves.max(initial=1)) if rules.a_block_a_wave else shape.units
    of_unit = int(contiguous[: shape.of_unit].sum())
    return Room(
        maps=memories.shape[0],
        most_words=int(shape.words[contiguous].max(initial=1)),
        most_blocks=int(shape.blocks[contiguous].max(initial=1)),
        memory=memories.shape[1],
        dispatches=dispatches,
        parts=2 * parts,
        slots=max(min([dispatches, *running]), 1),
        places=most_waves * of_unit + int(contiguous[shape.of_unit :].sum()) + 1,
        term_memory=term_memory.shape[1],
        history=int(run.history),
        splits=parts,
        takes=takes,
        failures=failures,
    )


def _record(run: Run, played: Played) -> DispatchRecord:
    shape, columns, rules, state = played
    counters, resources = state.counters, run.resources
    options: Any = run.setup.options
    choice: Any = run.setup.policies["choice"]
    sent = int(counters[DISPATCHES])
    total = {name: int(counters[k]) for name, k in _TOTALS.items()}
    return DispatchRecord(
        modules=shape.modules,
        units=shape.units,
        levels=rules.levels,
        channels=rules.channels,
        resources=tuple(r.label for r in resources),
        of_unit=np.array([r.level == "unit" for r in resources]),
        contiguous=np.array([r.contiguous for r in resources]),
        blocks=shape.blocks,
        arrival=columns.arrival,
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
        history_cycles=max(term.history_cycles() for term, _ in choice.terms()),
        **total,
        splits=state.splits[: counters[SPLITS]],
        takes=state.takes,
        failures=state.failures,
        clock_mhz=run.setup.machine.clock_mhz,
        power=options.power if options.power.simulated else None,
        heat=options.heat if options.heat.simulated else None,
    )


_TOTALS = {
    "rounds": ROUNDS,
    "failed_rounds": FAILED,
    "head_rounds": HEAD_ROUNDS,
    "over_promised": OVER_PROMISED,
    "refused_by_fragmentation": FRAGMENTED,
    "placement_searches": SEARCHES,
    "pieces": PIECES,
}
