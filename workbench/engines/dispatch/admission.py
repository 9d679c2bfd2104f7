"""Which setups are refused before anything runs: policies that do not go with the machine, groups that never fit."""

from __future__ import annotations

from typing import Any

import numpy as np

from workbench.engines.dispatch.prepare import channels_of, levels_of, placement_of, probes_of
from workbench.engines.dispatch.shape import Columns, Shape
from workbench.engines.engine import Setup
from workbench.errors import InputError
from workbench.machine.resource import Resource
from workbench.policies.placement.free_map_text import Bits
from workbench.policies.probes.question import Probe
from workbench.structures.free_map import all_free
from workbench.workloads.workload import Groups


def check_policies(setup: Setup, groups: Groups, resources: tuple[Resource, ...]) -> None:
    """Refuse policies whose levers do not go with the machine or the workload."""
    found: Any = setup.policies
    for resource, probe in zip(resources, probes_of(setup, resources), strict=True):
        if probe is not None:
            probe.check_blocks(resource.blocks, "policy.probe", "", resource.label)
    labels = [resource.label for resource in resources]
    if len(set(labels)) < len(labels):
        raise InputError(f"machine.more_resources: every resource needs a label of its own. Got {', '.join(labels)}.")
    found["priority"].check_levels(levels_of(groups), "policy.priority")
    found["selection"].check_run(channels_of(groups), levels_of(groups), "policy.selection")
    for term, _ in found["choice"].terms():
        term.check_resources(labels, "policy.choice")
        options: Any = setup.options
        if term.needs_heat() and not options.heat.simulated:
            raise InputError(f"policy.choice: {term.name} reads temperatures: options.heat must name a thermal model.")


def check_groups(setup: Setup, shape: Shape, columns: Columns, resources: tuple[Resource, ...]) -> None:
    """Refuse a group that can never fit any module, even an empty one, naming the resource (spec 3, E24)."""
    most = setup.machine.compute_units and _most_on_a_unit(setup, shape, columns)
    probes = probes_of(setup, resources)
    for h, resource in enumerate(resources):
        asked = columns.demand[:, h]
        if resource.level == "unit":
            wave_by_wave = _per_wave(setup) and resource.contiguous
            asked = asked * (1 if wave_by_wave else most)
        taken = shape.footprint[h, np.minimum(asked, shape.footprint.shape[1] - 1)]
        _refuse_above(setup, resource, asked, taken, _reported(setup, resource, probes[h]))
        if resource.level == "unit":
            _refuse_above(setup, resource, columns.demand[:, h] * most, columns.demand[:, h] * most, resource.blocks)


def _per_wave(setup: Setup) -> bool:
    options: Any = setup.options
    return bool(options.blocks_on_a_unit == "per_wave")


def _most_on_a_unit(setup: Setup, shape: Shape, columns: Columns) -> np.ndarray:
    """The most waves of each group that one unit of an empty module is given."""
    policy: Any = setup.policies["units"]
    most = np.zeros(int(columns.waves.max(initial=0)) + 1, np.int64)
    for waves in np.unique(columns.waves).tolist():
        counts, _ = policy.split(waves, shape.units)
        most[waves] = max(counts)
    return most[columns.waves]


def _reported(setup: Setup, resource: Resource, probe: Probe | None) -> int:
    """What is reported of an empty resource: a probe that saves hardware may never say that all of it is free."""
    if probe is None or placement_of(setup, resource).layout == "scattered":
        return resource.blocks
    words: Bits = all_free(resource.blocks)
    return int(probe.function()(words, resource.blocks, probe.parameters()))


def _refuse_above(setup: Setup, resource: Resource, asked: np.ndarray, taken: np.ndarray, most: int) -> None:
    if not asked.size or taken.max() <= most:
        return
    row = int(np.argmax(taken > most))
    place = "one unit" if resource.level == "unit" else "a module"
    served = _served(setup, resource, int(asked[row]))
    why = f"{place} has {resource.blocks}"
    if most < resource.blocks:
        why += f", of which {setup.policies['probe'].short()} reports {most} when all are free"
    raise InputError(
        f"group {row} needs {asked[row]} blocks of {resource.label} in {place}{served}, but {why}: "
        "it could never be dispatched."
    )


def _served(setup: Setup, resource: Resource, asked: int) -> str:
    """That a placement rounds a request up, where it does."""
    if not resource.contiguous or asked > resource.blocks:
        return ""
    taken = int(placement_of(setup, resource).footprint(asked, resource.blocks))
    return "" if taken == asked else f" (served with {taken})"
