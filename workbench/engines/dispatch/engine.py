"""The engine `dispatch`: workgroups of several channels over the modules of a GPU, under eight policies (spec 3).

A setup is read and checked, the state of a run with empty modules and full queues is made, the loop plays it, and its
record is returned. Refused before anything runs: tables that are none, policies that do not go with the machine, groups
that never fit.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np

from workbench.compiled import RAISED
from workbench.engines.dispatch.channels import VERDICTS, of_one_event
from workbench.engines.dispatch.history import BEHIND, CLASSES
from workbench.engines.dispatch.loop import FITS_NOWHERE, play_all
from workbench.engines.dispatch.prepare import (
    MOST_INSTRUCTIONS,
    TOO_MANY,
    Case,
    DispatchOptions,
    Slots,
    channels_of,
    classes_of,
    columns_of,
    levels_of,
    needs_history,
    policies_of,
    probes_of,
    rules_of,
    shape_of,
    splits,
)
from workbench.engines.dispatch.state import COUNT, FAULT, NONE, Columns, Play, Rules, Shape, State
from workbench.engines.kit import Attempt, Simulator, Stop, made
from workbench.engines.kit.checks import check_column
from workbench.engines.kit.columns import padded
from workbench.engines.kit.engine import at_slot
from workbench.errors import InputError, unknown_name
from workbench.machine import Machine
from workbench.machine.machine import Resource
from workbench.policies.arguments import MOST_ENTRIES, MOST_LEVELS, MOST_WAVES
from workbench.policies.dispatch.units import UnitsView
from workbench.policies.policy import Policy
from workbench.policies.probes.question import Probe, ProbeView
from workbench.policies.scenes import KEPT, Speaker, compiled, plain
from workbench.records.dispatch import DispatchRecord
from workbench.structures.bitmaps import all_free
from workbench.structures.timetable import new_timetable
from workbench.workloads.workload import Groups

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
    revision = 5
    decides = Slots
    options = DispatchOptions
    machine = Machine
    workload_kind = "groups"
    state, counts, faults = State, COUNT, FAULT

    def check_levers(self, given: Case) -> None:
        check_policies(_bound(given), given.machine.resources())

    def read(self, given: Case) -> Run:
        return self.read_table(given, of_part=False)

    def read_table(self, given: Case, of_part: bool) -> Run:
        """Return what the setup and the seed determine; of a part, whose groups are yet to be put forward, too."""
        resources, given = given.machine.resources(), _bound(given)
        check_policies(given, resources)
        groups = given.setup.workload.groups(given.machine, given.streams)
        check_table(groups, resources, of_part)
        check_levels(given, groups)
        shape, history = shape_of(given, resources), needs_history(given)
        columns = columns_of(given, groups, resources, history)
        check_groups(given, shape, columns, resources)
        return Run(given, groups, resources, shape, columns, history)

    def asked(self, run: Run) -> list[Policy]:
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
        state.counters[COUNT.generator] = max(given.streams.integer("module_tie"), 1)
        return Play(shape, columns, rules, policies, state)

    def loop(self, play: Play) -> None:
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
            history_cycles=max(term.history_cycles() for term, _ in run.given.slots.choice.terms()),
            **total,
            splits=state.splits[: counters[COUNT.splits]],
            takes=state.takes,
            failures=state.failures,
            clock_mhz=run.given.machine.clock_mhz,
            power=options.power if options.power.simulated else None,
            heat=options.heat if options.heat.simulated else None,
        )


def _bound(given: Case) -> Case:
    """Return a case whose choice knows the resources of its machine by their places."""
    slots, labels = given.slots, [resource.label for resource in given.machine.resources()]
    return given._replace(slots=slots._replace(choice=slots.choice.bound(labels)))


def check_policies(case: Case, resources: tuple[Resource, ...]) -> None:
    """Refuse policies whose levers do not go with the machine."""
    slots, options = case.slots, case.options
    with at_slot(case.setup, "probe"):
        _check_probes(case, resources)
    labels = [resource.label for resource in resources]
    if len(set(labels)) < len(labels):
        raise InputError(f"machine.more_resources: every resource needs a label of its own. Got {', '.join(labels)}.")
    for term in (slots.choice, *(term for term, _ in slots.choice.terms())):
        path = f"policy.choice.{term.name}"
        term.check_resources(labels, path)
        if term.needs_heat() and not options.heat.simulated:
            raise InputError(f"{path} reads temperatures: options.heat must name a thermal model.")


def check_table(groups: Groups, resources: tuple[Resource, ...], of_part: bool) -> None:
    """Refuse columns of groups that are no whole numbers, of one length each and in their ranges; the first is named.

    Parameters
    ----------
    of_part : bool
        Whether groups are yet to be put forward: then there may be none, and their ends may be all that is asked.
    """
    if not groups.arrival.size and not of_part:
        raise InputError("the workload has no groups; a dispatcher needs at least one.")
    labels = [resource.label for resource in resources]
    for label in groups.demand:
        if label not in labels:
            raise unknown_name("the workload's demand", "resource of the machine", label, labels)
    rows, ranges = groups.arrival.size, {**_RANGES, "duration": (int(not of_part), MOST_CYCLES)}
    for name, (least, most) in ranges.items():
        check_column("group", name, getattr(groups, name), rows, least, most)
    for label, blocks in groups.demand.items():
        check_column("group", f"demand of {label}", blocks, rows, 0, MOST_BLOCKS)
    check_column("group", "instructions", groups.instructions, rows, 0, MOST_INSTRUCTIONS, CLASSES)
    last = float(groups.arrival.max(initial=0)) + float(groups.duration.sum(dtype=np.float64))
    if last > MOST_SPAN:
        raise InputError(f"the groups last until cycle {last:.3g} one after another; at most 2^60 can be counted.")


MOST_CYCLES, MOST_SPAN, MOST_BLOCKS = (1 << 56) - 1, 1 << 60, 1 << 40
_RANGES = {
    "arrival": (0, MOST_CYCLES),
    "channel": (0, MOST_ENTRIES),
    "priority": (1, MOST_LEVELS),
    "waves": (1, MOST_WAVES),
    "independent": (0, 1),
}
"""The least and the most of each column."""


def check_levels(case: Case, groups: Groups) -> None:
    """Refuse policies whose levers do not go with the channels and priorities of the workload."""
    levels, slots = levels_of(groups), case.slots
    slots.priority.check_levels(levels, _path(case, "priority"))
    slots.selection.check_run(channels_of(groups), levels, _path(case, "selection"))


def _path(case: Case, slot: str) -> str:
    return f"policy.{slot}.{getattr(case.slots, slot).name}"


def _check_probes(case: Case, resources: tuple[Resource, ...]) -> None:
    """Check each probe with all the resources that it serves."""
    own, each = case.slots.probe, probes_of(case, resources)
    for probe in dict.fromkeys(one for one in each if one is not None):
        served = {r.label: r.blocks for r, one in zip(resources, each, strict=True) if one == probe}
        probe.check_each(served, _path(case, "probe") + _within(own, probe))


def _within(own: Policy, probe: Probe) -> str:
    """Return the rest of the path of a probe that another one holds; nothing for the probe itself."""
    if probe == own:
        return ""
    holders = [name for name, held in own.values().items() if held == probe]
    return "".join(f".{name}" for name in holders[:1]) + f".{probe.name}"


def check_groups(case: Case, shape: Shape, columns: Columns, resources: tuple[Resource, ...]) -> None:
    """Refuse a group that can never fit any module, even an empty one, naming the resource (spec 3, E24)."""
    most = case.machine.compute_units and _most_on_a_unit(case, shape, columns)
    probes = probes_of(case, resources)
    for h, resource in enumerate(resources):
        each = columns.demand[:, h]
        of_unit = resource.level == "unit"
        wave_by_wave = of_unit and _per_wave(case) and resource.contiguous
        requested = each * most if of_unit and not wave_by_wave else each
        taken = shape.footprint[h, np.minimum(requested, shape.footprint.shape[1] - 1)]
        _refuse_above(case, resource, requested, taken, _reported(case, resource, probes[h]))
        if wave_by_wave:
            _refuse_above(case, resource, requested * most, taken * most, resource.blocks)


def _per_wave(case: Case) -> bool:
    return bool(case.options.blocks_on_a_unit == "per_wave")


def _most_on_a_unit(case: Case, shape: Shape, columns: Columns) -> np.ndarray:
    """Return the most waves of each group that one unit of an empty module is given.

    0 where the policy raises or shares out wrongly: that is no fault of the workload, and the run names the policy.
    """
    policy = case.slots.units
    speaker = _speaker(policy)
    most = np.zeros(int(columns.waves.max(initial=0)) + 1, np.int64)
    none = np.zeros(shape.units, np.int64)
    for waves in np.flatnonzero(np.bincount(columns.waves)).tolist():
        counts = np.zeros(shape.units, np.int64)
        see = UnitsView(waves, shape.units, policy.first_pointer(0, 0), none, counts, KEPT[0])
        answered = speaker.ask(see) != RAISED
        most[waves] = counts.max() if answered and counts.min() >= 0 and counts.sum() == waves else 0
    return most[columns.waves]


def _speaker(policy: Policy) -> Speaker:
    """Ask plain Python, which need not be compiled; a user's policy with every index of an array tested."""
    return Speaker(policy, say=plain(policy) if policy.built_in else compiled(policy, checked=True))


def _reported(case: Case, resource: Resource, probe: Probe | None) -> int:
    """Return what is reported of an empty resource: a probe that saves hardware may never say that all of it is free.

    A probe that raises is left to the run, which says so.
    """
    if probe is None or case.slots.placement_of(resource).layout == "scattered":
        return resource.blocks
    report = _speaker(probe).ask(ProbeView(all_free(resource.blocks), resource.blocks, KEPT[0]))
    return resource.blocks if report == RAISED else report


def _refuse_above(case: Case, resource: Resource, requested: np.ndarray, taken: np.ndarray, most: int) -> None:
    if not requested.size or taken.max() <= most:
        return
    row = int(np.argmax(taken > most))
    place = "one unit" if resource.level == "unit" else "a module"
    served = _served(case, resource, int(requested[row]), int(taken[row]))
    why = f"{place} has {resource.blocks}"
    if most < resource.blocks:
        why += f", of which {case.slots.probe.short()} reports {most} when all are free"
    raise InputError(
        f"group {row} needs {requested[row]} blocks of {resource.label} in {place}{served}, but {why}: "
        "it could never be dispatched."
    )


def _served(case: Case, resource: Resource, requested: int, taken: int) -> str:
    """Return a remark that a placement rounds a request up, empty where it does not."""
    if not resource.contiguous or requested > resource.blocks:
        return ""
    if taken >= TOO_MANY:
        taken = int(case.slots.placement_of(resource).footprint(requested, resource.blocks))
    return "" if taken == requested else f" (served with {taken})"


class Run(NamedTuple):
    """What the setup and the seed determine."""

    given: Case
    groups: Groups
    resources: tuple[Resource, ...]
    shape: Shape
    columns: Columns
    history: bool


def new_state(run: Run, columns: Columns, rules: Rules, term_memory: np.ndarray, logs: Mapping[str, int]) -> State:
    """Return the state of a run in which nothing has happened."""
    shape, memory = run.shape, _memories(run)
    sizes = {**_sizes(run, columns, rules), "maps": len(memory), "memory": memory.shape[1], "terms": len(term_memory)}
    slot_link = np.arange(1, sizes["slots"] + 2)
    slot_link[-1] = 0  # the head of the list
    state = made(
        State,
        {**sizes, "owned": len(memory) * int(shape.scattered.any()), **logs},
        due=new_timetable(sizes["slots"] * (1 + rules.ends_asked * rules.history) + 1),
        free=_free_maps(shape, len(memory)),
        memory=memory,
        free_count=np.repeat(shape.blocks[:, None], shape.modules * shape.units, axis=1),
        total=np.tile(shape.totals, shape.modules),
        upcoming=columns.first.copy(),
        slot_link=slot_link,
        term_memory=term_memory,
    )
    counters = state.counters
    counters[COUNT.next_arrival] = counters[COUNT.last_module] = NONE
    counters[COUNT.fails] = counters[COUNT.failing] = rules.fail_init
    counters[COUNT.vacant] = 1
    counters[COUNT.stale], counters[COUNT.came_to] = 1, FITS_NOWHERE
    counters[COUNT.span_free] = 0 if state.span.size else NONE
    state.span[:, BEHIND] = [*range(1, len(state.span)), NONE][: len(state.span)]
    return state


def _sizes(run: Run, columns: Columns, rules: Rules) -> dict[str, int]:
    """Return the bounds of a run."""
    shape, past = run.shape, run.shape.modules if run.history else 0
    terms = run.given.slots.choice.terms()
    contiguous = shape.first_map >= 0
    parts, dispatches = _most_parts(run), most_dispatches(run)
    running = [shape.modules * shape.totals[h] for h, r in enumerate(run.resources) if r.label == "waves"]
    slots = max(min([dispatches, *running]), 1)
    kept = slots if rules.forgets else dispatches
    most_waves = int(columns.waves.max(initial=1)) if rules.a_block_a_wave else shape.units
    of_unit = int(contiguous[: shape.of_unit].sum())
    return {
        "modules": shape.modules,
        "units": shape.units,
        "resources": shape.blocks.size,
        "places": shape.places,
        "ranges": shape.ranges.shape[0],
        "most_blocks": int(shape.blocks[contiguous].max(initial=1)),
        "words": (shape.modules + 63) // 64,
        "pointers": shape.units + 1,
        "channels": rules.channels,
        "offers": rules.channels * rules.offers,
        "groups": columns.arrival.size * (1 - rules.forgets),
        "dispatches": kept,
        "parts": 2 * parts,
        "slots": slots,
        "held": most_waves * of_unit + int(contiguous[shape.of_unit :].sum()) + 1,
        "past": past,
        "changes": 2 * dispatches if past else 0,
        "splits": parts,
        "undecided": kept * rules.ends_asked,
        "answers": (rules.most_answers + of_one_event(rules)) * rules.keeps_answers,
        "verdicts": (VERDICTS + rules.dispatches_a_round + 1) * rules.asks_pages,
        "classes": max(classes_of(term) for term, _ in terms),
        "spans": 0,
        "entering": shape.modules * rules.entered,
        "readers": len(terms) + 2,
    }


def _most_parts(run: Run) -> int:
    """Return how many sub-groups there can be at the end of all splitting."""
    columns = run.columns
    return int(columns.waves[columns.independent].sum()) if splits(run.given) else 0


def most_dispatches(run: Run) -> int:
    """Return how often at most something is dispatched: each group, or its parts."""
    return run.columns.arrival.size + _most_parts(run)


def _memories(run: Run) -> np.ndarray:
    """Return what the placement policies remember of each map at the start: int64[maps, most slots].

    One that draws has a stream of its own for every map.
    """
    shape = run.shape
    rows: list[np.ndarray] = []
    for h, resource in enumerate(run.resources):
        if shape.first_map[h] < 0:
            continue
        policy = run.given.slots.placement_of(resource)
        copies = shape.modules * (shape.units if h < shape.of_unit else 1)
        names = [f"placement/{resource.label}/{k}" for k in range(copies if policy.draws else 1)]
        made = [policy.start_memory(resource.blocks, run.given.streams.integer(name)) for name in names]
        rows += made if policy.draws else made * copies
    return padded(rows)


def _free_maps(shape: Shape, maps: int) -> np.ndarray:
    free = np.zeros((maps, int(shape.words[shape.first_map >= 0].max(initial=1))), np.uint64)
    for h in range(shape.blocks.size):
        if shape.first_map[h] >= 0:
            copies = shape.modules * (shape.units if h < shape.of_unit else 1)
            first = shape.first_map[h]
            free[first : first + copies, : shape.words[h]] = all_free(int(shape.blocks[h]))
    return free
