"""What a dispatcher refuses before a run: policies, tables of requests, levels and groups that can never be served."""

from __future__ import annotations

import numpy as np

from workbench.compiled import RAISED
from workbench.engines.dispatch.prepare import (
    MOST_INSTRUCTIONS,
    TOO_MANY,
    Case,
    DispatchOptions,
    Slots,
    channels_of,
    levels_of,
    probes_of,
    shared_rates,
)
from workbench.engines.dispatch.setting import Columns, Shape
from workbench.engines.kit.checks import check_column
from workbench.engines.kit.engine import at_path
from workbench.errors import InputError, unknown_name
from workbench.levers import remembered
from workbench.machine.machine import Resource
from workbench.policies.arguments import MOST_ENTRIES, MOST_LEVELS, MOST_WAVES
from workbench.policies.dispatch.units import Units, UnitsView
from workbench.policies.policy import Policy
from workbench.policies.probes.question import Probe, ProbeView
from workbench.policies.scenes import KEPT, Speaker, compiled, plain
from workbench.structures.bitmaps import all_free
from workbench.structures.execution_rates import CLASSES
from workbench.workloads.workload import Groups


def checked_case(given: Case) -> Case:
    """Return a case whose choice knows the resources of its machine by their places.

    Raises
    ------
    InputError
        The levers of a policy, or shared rates, do not go with the machine.
    """
    shared_rates(given)
    return given._replace(
        slots=_checked_slots(given.slots, given.options, given.machine.compute_units, given.machine.resources())
    )


@remembered
def _checked_slots(slots: Slots, options: DispatchOptions, modules: int, resources: tuple[Resource, ...]) -> Slots:
    labels = [resource.label for resource in resources]
    slots = slots._replace(choice=slots.choice.bound(labels))
    with at_path(f"policy.probe.{slots.probe.name}", slots.probe.name):
        _check_probes(slots, resources)
    if len(set(labels)) < len(labels):
        raise InputError(f"machine.more_resources: every resource needs a label of its own. Got {', '.join(labels)}.")
    slots.die.check_resources(labels, f"policy.die.{slots.die.name}")
    slots.admission.check_modules(modules, f"policy.admission.{slots.admission.name}")
    for term in (slots.choice, *(term for term, _ in slots.choice.terms())):
        path = f"policy.choice.{term.name}"
        term.check_resources(labels, path)
        if term.needs_heat() and not options.heat.simulated:
            raise InputError(f"{path} reads temperatures: options.heat must name a thermal model.")
    return slots


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


def _check_probes(slots: Slots, resources: tuple[Resource, ...]) -> None:
    """Check each probe with all the resources that it serves."""
    own, each = slots.probe, probes_of(slots.probe, resources)
    for probe in dict.fromkeys(one for one in each if one is not None):
        served = {r.label: r.blocks for r, one in zip(resources, each, strict=True) if one == probe}
        probe.check_each(served, f"policy.probe.{own.name}{_within(own, probe)}")


def _within(own: Policy, probe: Probe) -> str:
    """Return the rest of the path of a probe that another one holds; nothing for the probe itself."""
    if probe == own:
        return ""
    holders = [name for name, held in own.values().items() if held == probe]
    return "".join(f".{name}" for name in holders[:1]) + f".{probe.name}"


def check_groups(case: Case, shape: Shape, columns: Columns, resources: tuple[Resource, ...]) -> None:
    """Refuse a group that can never fit any module, even an empty one, naming the resource (spec 3, E24)."""
    most = case.machine.compute_units and _most_on_a_unit(case, shape, columns)
    probes = probes_of(case.slots.probe, resources)
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
    """Return the most waves of each group that one unit of an empty module is given."""
    most = np.zeros(int(columns.waves.max(initial=0)) + 1, np.int64)
    for waves in np.flatnonzero(np.bincount(columns.waves)).tolist():
        most[waves] = _most_of(case.slots.units, shape.units, waves)
    return most[columns.waves]


@remembered
def _most_of(policy: Units, units: int, waves: int) -> int:
    """Return the same for a group of so many waves.

    0 where the policy raises or shares out wrongly: that is no fault of the workload, and the run names the policy.
    """
    counts = np.zeros(units, np.int64)
    see = UnitsView(waves, units, policy.first_pointer(0, 0), np.zeros(units, np.int64), counts, KEPT[0])
    answered = _speaker(policy).ask(see) != RAISED
    return int(counts.max()) if answered and counts.min() >= 0 and counts.sum() == waves else 0


def _speaker(policy: Policy) -> Speaker:
    """Ask plain Python, which need not be compiled; a user's policy with every index of an array tested."""
    return Speaker(policy, say=plain(policy) if policy.built_in else compiled(policy, checked=True))


def _reported(case: Case, resource: Resource, probe: Probe | None) -> int:
    """Return the report of an empty resource: a probe that saves hardware may never say that all is free."""
    if probe is None or case.slots.placement_of(resource).layout == "scattered":
        return resource.blocks
    return _reported_of(probe, resource.blocks)


@remembered
def _reported_of(probe: Probe, blocks: int) -> int:
    """Return the report of a probe on so many free blocks; one that raises is left to the run, which says so."""
    report = _speaker(probe).ask(ProbeView(all_free(blocks), blocks, KEPT[0]))
    return blocks if report == RAISED else report


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
