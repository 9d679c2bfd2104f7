"""The slots and levers of the engine `dispatch`, and the arrays that a setup becomes.

That is the machine's shape, the groups as columns, the levers as whole numbers, the policies ready to be asked.
"""

from __future__ import annotations

from typing import Any, Literal, NamedTuple

import numpy as np

from workbench.compiled import NO_ANSWER, addresses
from workbench.engines.dispatch.lot import NO_LOT, lot_of, says_anything, when_forward
from workbench.engines.dispatch.setting import HOOK, OWN, Columns, Policies, Probes, Rules, Shape, Terms, Turns, Warmth
from workbench.engines.dispatch.state import NONE
from workbench.engines.kit import Given, slot
from workbench.engines.kit.columns import padded
from workbench.errors import InputError
from workbench.levers import Spec, lever, remembered
from workbench.machine import Machine
from workbench.machine.machine import BARRIERS, Resource
from workbench.machine.power import Heat, NoHeat, NoPower, Power
from workbench.machine.progress import Constant, Progress
from workbench.policies.dispatch.admission import Admission, ReadyAdmission
from workbench.policies.dispatch.choice.energy import WAITS
from workbench.policies.dispatch.choice.question import Choice
from workbench.policies.dispatch.die import Die, ReadyDie
from workbench.policies.dispatch.priority import Priority
from workbench.policies.dispatch.selection.question import Selection
from workbench.policies.dispatch.stuck import FOR_EVER, Stuck
from workbench.policies.dispatch.units import Units
from workbench.policies.placement.question import Placement
from workbench.policies.probes.question import Probe
from workbench.streams import Streams
from workbench.structures.execution_rates import CLASSES, rates_of
from workbench.workloads.workload import Groups


class Slots(NamedTuple):
    """What is decided."""

    probe: Probe = slot("exact_run")
    placement: Placement = slot("nearest_boundary")
    shared_placement: Placement = slot("placement")
    priority: Priority = slot("static_priority")
    selection: Selection = slot("served_marks")
    stuck: Stuck = slot("never_split")
    units: Units = slot("rotated_split")
    admission: Admission = slot("open_to_all")
    die: Die = slot("any_die")
    choice: Choice = slot("most_residual")

    def placement_of(self, resource: Resource) -> Placement:
        """Return the policy that places a resource: that of shared memory, or that of everything else."""
        return self.shared_placement if resource.label == "shared" else self.placement


class DispatchOptions(Spec):
    """What the engine `dispatch` leaves open."""

    dispatches_a_round: int = lever(
        1, least=1, most=64, unit="groups", description="most groups dispatched in one round (spec 3, E7)"
    )
    round_cycles: int = lever(
        1,
        least=1,
        most=1 << 20,
        unit="cycles",
        description="from a round to the next; times those that the probe takes",
    )
    fail_init: int = lever(
        0, least=0, most=1 << 40, unit="rounds", description="failed rounds that are counted at the start (spec 3, R21)"
    )
    blocks_on_a_unit: Literal["aggregated", "per_wave"] = lever(
        "aggregated",
        description="whether the waves of a group on one unit share one range, or have one each (spec 3, E5)",
    )
    module_tie: Literal["lowest", "random", "rotating"] = lever(
        "lowest", description="which of the modules with the same score is taken (spec 3, E19)"
    )
    concurrency: Literal["full_overlap", "leftover", "serialise"] = lever(
        "full_overlap",
        description="whether a kernel waits until all groups of those before have started, or ended (spec 7, R21)",
    )
    pending_depth: int = lever(
        0,
        least=0,
        most=64,
        unit="groups",
        description="places in front of each module where dispatched groups wait for its resources (spec 7, R22)",
    )
    spread: bool = lever(False, description="whether no module takes two groups of a cluster (spec 7, R12)")
    progress: Progress = lever(
        Constant(), description="whether a group lasts its duration, or gets on at a rate shared in its module"
    )
    power: Power = lever(NoPower(), description="the energy of instructions; off unless asked for")
    heat: Heat = lever(NoHeat(), description="how warm the modules become; off unless asked for")

    def check(self) -> None:
        if self.heat.simulated and not self.power.simulated:
            raise InputError(
                f"{self.name}.heat needs a power model, for temperatures follow power. Nearest: power: class_power."
            )


Case = Given[Slots, DispatchOptions, Machine]

TOO_MANY = 1 << 40
"""The footprint of what no map can hold."""
MOST_INSTRUCTIONS = 1 << 42
"""Of a class in one run, so that counts in 2**-20 stay exact in 64 bits."""
MOST_TRIES = 1 << 20
"""Refusals by placements that draw or remember, one after another, while all modules are empty."""
SKIPS = 1
"""Tests set 0: no cycle and no round is skipped (`Rules.skips`)."""


def shape_of(case: Case, resources: tuple[Resource, ...]) -> Shape:
    """Return the machine as the loop sees it. Do not write to it."""
    placements = tuple(case.slots.placement_of(resource) for resource in resources)
    for resource, placement in zip(resources, placements, strict=True):
        if resource.contiguous and placement.layout == "compacting":
            slot = "shared_placement" if resource.label == "shared" else "placement"
            raise InputError(
                f"policy.{slot}.{placement.name} moves live ranges, which a dispatcher's {resource.label} cannot; "
                "choose a contiguous placement or paged_memory."
            )
    dies = case.machine.dies or (case.machine.compute_units,)
    return _shape_of(dies, case.machine.simds_a_unit, resources, placements)


@remembered
def _shape_of(
    dies: tuple[int, ...], units: int, resources: tuple[Resource, ...], placements: tuple[Placement, ...]
) -> Shape:
    modules = sum(dies)
    each = list(zip(resources, placements, strict=True))
    copies = [modules * units if r.level == "unit" else modules for r in resources]
    maps = [n if r.contiguous else 0 for r, n in zip(resources, copies, strict=True)]
    first = np.cumsum([0, *maps])[:-1]
    blocks = np.array([r.blocks for r in resources])
    return Shape(
        modules=modules,
        units=units,
        of_unit=sum(r.level == "unit" for r in resources),
        blocks=blocks,
        first_map=np.where([r.contiguous for r in resources], first, -1),
        words=-(-blocks // 64),
        scattered=np.array([r.contiguous and placement.layout == "scattered" for r, placement in each]),
        own_placement=np.array([r.label == "shared" for r in resources]),
        remembers=np.array([placement.start_memory(r.blocks, 0).size for r, placement in each]),
        footprint=np.array([_footprint(r, placement, int(blocks.max())) for r, placement in each]),
        totals=np.array([r.blocks * (units if r.level == "unit" else 1) for r in resources]),
        places=sum(units if r.level == "unit" else 1 for r in resources),
        ranges=_ranges(units, resources),
        dies=len(dies),
        die_of=np.repeat(np.arange(len(dies)), dies),
        barriers=next((h for h, r in enumerate(resources) if r.label == BARRIERS), NONE),
    )


def _ranges(units: int, resources: tuple[Resource, ...]) -> np.ndarray:
    """Return the free maps of a module in the order in which groups take them: unit by unit, then the module's own."""
    numbered = [(h, r.level) for h, r in enumerate(resources) if r.contiguous]
    of_units = [(unit, h) for unit in range(units) for h, level in numbered if level == "unit"]
    own = [(OWN, h) for h, level in numbered if level == "module"]
    return np.array([*of_units, *own], np.int64).reshape(-1, 2)


def _footprint(resource: Resource, placement: Placement, most: int) -> np.ndarray:
    """Return the blocks that a request of each size takes of one map."""
    taken = np.full(most + 2, TOO_MANY)
    sizes = np.arange(resource.blocks + 1)
    taken[sizes] = sizes
    if resource.contiguous:
        taken[sizes[1:]] = [int(placement.footprint(int(size), resource.blocks)) for size in sizes[1:]]
        taken[taken > resource.blocks] = TOO_MANY
    return taken


def columns_of(case: Case, groups: Groups, resources: tuple[Resource, ...], history: bool) -> Columns:
    """Return the groups as the loop sees them; a fresh copy of what a run changes."""
    count, channels = groups.arrival.size, channels_of(groups)
    demand = np.zeros((count, len(resources)), np.int64)
    for h, resource in enumerate(resources):
        always = case.machine.taken_always(resource.label, groups.waves)
        demand[:, h] = groups.demand.get(resource.label, 0) if always is None else always
    lot = lot_of(groups) if is_between(case, groups) else NO_LOT
    following, first = _queues(groups.channel, channels, lot.beside)
    duration = lasting(case, groups.duration)
    none = np.zeros((0, 6), np.int64)
    return Columns(
        when_forward(groups.arrival, lot),
        groups.channel,
        groups.priority,
        groups.waves,
        groups.independent,
        duration,
        demand,
        groups.instructions if history else none,
        _rates(groups, duration) if history else none,
        following,
        first,
        lot,
    )


def is_between(case: Case, groups: Groups) -> bool:
    """Return whether anything stands between queue and unit that spec 3 does not know."""
    options, slots = case.options, case.slots
    if options.pending_depth or options.concurrency != "full_overlap" or options.progress.shared:
        return True
    return not (slots.admission.neutral() and slots.die.neutral()) or says_anything(groups)


def channels_of(groups: Groups) -> int:
    """Return the number of channels."""
    return max(groups.channels, int(groups.channel.max(initial=0)) + 1)


def levels_of(groups: Groups) -> int:
    """Return the number of static priorities."""
    return max(groups.levels, int(groups.priority.max(initial=1)))


def lasting(case: Case, duration: np.ndarray) -> np.ndarray:
    """Return the durations of groups where a layout slows them down: each placement policy counts once."""
    for policy in dict.fromkeys((case.slots.placement, case.slots.shared_placement)):
        duration = np.asarray(policy.lasting(duration), np.int64)
    return duration


def _queues(channel: np.ndarray, channels: int, beside: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the group behind each in its channel, and the first of each channel; -1 = none.

    Of a cluster the first group alone stands in the queue.
    """
    following = np.full(channel.size, -1, np.int32)
    order = np.argsort(channel.astype(np.min_scalar_type(channels)), kind="stable")  # small numbers sort fast
    if beside.size and (beside >= 0).any():
        order = order[~np.isin(order, beside)]
    heads = np.diff(channel[order], prepend=-1) > 0
    following[order[:-1][~heads[1:]]] = order[1:][~heads[1:]]
    first = np.full(channels, -1)
    first[channel[order[heads]]] = order[heads]
    return following, first


def _rates(groups: Groups, lasting: np.ndarray) -> np.ndarray:
    """Return the rates of whole groups, as `rates_of` has them."""
    most = groups.instructions.sum(axis=0, dtype=np.float64)
    if (most > MOST_INSTRUCTIONS).any():
        raise InputError(
            f"the groups execute up to {most.max():.3g} instructions of a class; at most 2^42 can be counted exactly."
        )
    return rates_of(groups.instructions, groups.waves, groups.waves, np.maximum(lasting, 1))


def rules_of(case: Case, groups: Groups, history: bool, events: bool) -> Rules:
    """Return the levers as whole numbers."""
    options = case.options
    probe = case.slots.probe
    stuck = case.slots.stuck
    choice = case.slots.choice
    heated = options.heat.simulated and any(term.needs_heat() for term, _ in choice.terms())
    per_wave = options.blocks_on_a_unit == "per_wave"
    # Free sums may rule a module out only if no report can promise more than is free. A user's probe, a padded one
    # (E16), an old report (turns), or one compared with a single wave's range can.
    trusted = probe.built_in and probe.never_more()
    sums_first = trusted and not per_wave and _turns(case).periods == 0
    channels, offers = channels_of(groups), 1 + stuck.look_ahead()
    return Rules(
        channels=channels,
        levels=levels_of(groups),
        offers=offers,
        round_cycles=options.round_cycles * probe.round_cycles(_probed_in_turn(case.machine.resources())[1]),
        dispatches_a_round=options.dispatches_a_round,
        fail_init=options.fail_init,
        a_block_a_wave=int(per_wave),
        sums_first=int(sums_first),
        may_refuse=int(not (sums_first and _grants_what_fits(case))),
        most_tries=MOST_TRIES + channels * offers * case.machine.compute_units,
        tie=("lowest", "random", "rotating").index(options.module_tie),
        history=int(history),
        heat_cycles=options.heat.cycles() if heated else 0,
        events=int(events),
        one_label=int(case.slots.priority.one_label),
        skips=SKIPS,
        **(_rules_between(case, groups) if is_between(case, groups) else {}),
    )


def _rules_between(case: Case, groups: Groups) -> dict[str, int]:
    """Return the rules of what stands between queue and unit; a run without any has none of them."""
    options, slots = case.options, case.slots
    return {
        "between": 1,
        "hangs": 1,
        "asks_admission": int(not slots.admission.neutral()),
        "asks_die": int(not slots.die.neutral()),
        "in_order": ("full_overlap", "leftover", "serialise").index(options.concurrency),
        "clusters": int(groups.cluster is not None and bool((groups.cluster > 1).any())),
        "spread": int(options.spread),
        "paced": int(options.progress.shared),
        "paced_by_waves": int(options.progress.of == "waves"),
        "pending_depth": options.pending_depth,
    }


def _grants_what_fits(case: Case) -> bool:
    """Return True if both placement policies are of the package and refuse nothing that fits."""
    both = (case.slots.placement, case.slots.shared_placement)
    return all(one.built_in and one.work_conserving() for one in both)


def _probed_in_turn(resources: tuple[Resource, ...]) -> tuple[list[int], list[int]]:
    """Return the contiguous resources of units, which one probe may serve in turn, and their blocks."""
    probed = [h for h, r in enumerate(resources) if r.level == "unit" and r.contiguous]
    return probed, [resources[h].blocks for h in probed]


@remembered
def probes_of(probe: Probe, resources: tuple[Resource, ...]) -> tuple[Probe | None, ...]:
    """Return the probe of each resource; None for a countable one."""
    probed, blocks = _probed_in_turn(resources)
    serving = dict(zip(probed, probe.serving(blocks), strict=True)) if probed else {}
    return tuple(serving.get(h, probe.of_module()) if r.contiguous else None for h, r in enumerate(resources))


def _probes(case: Case, checked: bool) -> Probes:
    each = [p.ready(checked) if p else None for p in probes_of(case.slots.probe, case.machine.resources())]
    params = [ready.params if ready else np.zeros(0) for ready in each]
    answers = addresses([ready.answer if ready else NO_ANSWER for ready in each])
    return Probes(answers, padded(params), np.array([row.size for row in params]))


def _turns(case: Case) -> Turns:
    resources = case.machine.resources()
    period = np.full(len(resources), -1)
    probed, blocks = _probed_in_turn(resources)
    probe = case.slots.probe
    schedule = probe.schedule(blocks) if probed else None
    if schedule is None:
        return Turns(0, 1, 0, period)
    period[probed] = schedule.period
    return Turns(schedule.periods, schedule.cycles_a_period, int(schedule.forget), period)


def needs_history(case: Case) -> bool:
    """Return whether a score reads the recent past, or temperatures that follow it."""
    choice = case.slots.choice
    return any(t.history_cycles() or t.halving_cycles() or t.needs_heat() for t, _ in choice.terms())


def policies_of(case: Case, rules: Rules, checked: bool) -> tuple[Policies, np.ndarray]:
    """Return the policies for one run, and what the scores remember at its start: int64[memories * terms, most slots].

    Where dies are chosen, each has a memory of its own behind that of all (spec 7, E8).
    """
    slots, modules, segments = case.slots, case.machine.compute_units, 2
    terms, memory = _terms(case, checked)
    if rules.asks_die:
        memory = np.concatenate([memory, *(_memory_of_die(case, d) for d in range(len(case.machine.dies) or 1))])
    ready = Policies(
        _probes(case, checked),
        slots.placement.ready(segments, 0, checked),
        slots.shared_placement.ready(segments, 0, checked),
        slots.priority.ready(checked),
        slots.selection.ready(rules.channels, rules.levels, selection_seed(case.streams), checked),
        slots.stuck.ready(checked),
        slots.units.ready(checked),
        terms,
        _turns(case),
        _warmth(case, modules if rules.heat_cycles else 0),
        *(_ready_between(case, rules, checked) if rules.between else _NOTHING_BETWEEN),
    )
    return ready, memory


def selection_seed(streams: Streams) -> int:
    """Return the seed of the random numbers of the policy that selects channels."""
    return streams.integer("selection")


_NOTHING_BETWEEN = (
    ReadyDie(NO_ANSWER, np.zeros(1)),
    ReadyAdmission(NO_ANSWER, np.zeros(1)),
    np.zeros(0, np.int64),
    addresses([NO_ANSWER] * len(HOOK)),
)
"""The last four of the policies where nothing stands between queue and unit; they are never written to."""


def _ready_between(case: Case, rules: Rules, checked: bool) -> tuple[Any, ...]:
    slots, labels = case.slots, [resource.label for resource in case.machine.resources()]
    hooks = addresses([NO_ANSWER] * len(HOOK))
    return slots.die.ready(labels, checked), slots.admission.ready(checked), shared_rates(case), hooks


def shared_rates(case: Case) -> np.ndarray:
    """Return the rate of as many residents as a module can hold waves, and so groups; nothing where rates are constant.

    Raises
    ------
    InputError
        A rate is 0.
    """
    if not case.options.progress.shared:
        return np.zeros(0, np.int64)
    waves = sum(r.blocks * case.machine.simds_a_unit for r in case.machine.resources() if r.label == "waves")
    return case.options.progress.rates(waves)


def _memory_of_die(case: Case, die: int) -> np.ndarray:
    modules = case.machine.compute_units
    seeds = (case.streams.integer(f"choice/{k}/die/{die}") for k in range(len(case.slots.choice.terms())))
    return padded([t.start_memory(modules, seed) for (t, _), seed in zip(case.slots.choice.terms(), seeds)])


def _terms(case: Case, checked: bool) -> tuple[Terms, np.ndarray]:
    choice = case.slots.choice
    weighted = choice.terms()
    modules = case.machine.compute_units
    each = [t.ready(modules, case.streams.integer(f"choice/{k}"), checked) for k, (t, _) in enumerate(weighted)]
    terms = Terms(
        answers=addresses([r.answer for r in each]),
        chosen=addresses([r.chosen for r in each]),
        weights=np.array([weight for _, weight in weighted], np.float64),
        params=padded([r.params for r in each]),
        sizes=np.array([(r.params.size, r.memory.size) for r in each]),
        history=np.array([r.history_cycles for r in each]),
        halving=np.array([r.halving_cycles for r in each]),
        classes=np.array([classes_of(t) for t, _ in weighted]),
        held=addresses([t.ready_notice("held", checked) if reads_pages(t) else NO_ANSWER for t, _ in weighted]),
        holder=addresses([NO_ANSWER, NO_ANSWER]),
    )
    return terms, padded([r.memory for r in each])


def classes_of(term: Choice) -> int:
    """Return the numbers a module that a score reads of the recent past: the instructions, or waits besides."""
    return int(getattr(term, "classes", CLASSES))


def reads_pages(term: Choice) -> bool:
    """Return whether a score is told how many pages of a group modules hold."""
    return "held" in term.tells and term.notice("held") is not None


def _warmth(case: Case, modules: int) -> Warmth:
    options = case.options
    keeps, gains = options.heat.matrices(modules, case.machine.clock_mhz) if modules else (np.zeros((0, 0)),) * 2
    seconds = options.heat.cycles() / (case.machine.clock_mhz * 1e6)
    joules = np.zeros(len(WAITS) + CLASSES)
    joules[:CLASSES] = np.asarray(options.power.energies_pj(), np.float64) * 1e-12
    return Warmth(np.ascontiguousarray(keeps), np.ascontiguousarray(gains), joules, options.power.idle(), seconds)


def splits(case: Case) -> bool:
    """Return whether the policy for stuck groups is ever asked."""
    stuck = case.slots.stuck
    return bool(stuck.patience() < FOR_EVER)
