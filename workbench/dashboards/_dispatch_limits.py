"""What each lever of a dispatcher may be, given the others: where a card's slider stops."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from workbench.dashboards._settings import value_of
from workbench.experiments.setups import read_machine
from workbench.machine import Machine
from workbench.policies.probes.shift_probe import dividing
from workbench.workloads.synthetic.random_groups import RandomGroups, laws_of

MOST_BLOCKS = 512
"""The end of the slider of N; the box next to it takes all that the machine's lever does."""


def machine_of(setting: Mapping[str, Any]) -> Machine:
    """Return the machine of a setting.

    >>> machine_of({"machine": {"preset": "patent_dispatch"}}).simds_a_unit
    4
    """
    machine: Machine = read_machine(Machine, setting["machine"], Path())
    return machine


def vgpr_blocks(setting: Mapping[str, Any]) -> int:
    """Return N of a setting: the blocks of vector registers of each SIMD.

    >>> vgpr_blocks({"machine": {"preset": "patent_dispatch"}})
    128
    """
    return probed_blocks(setting)["vgpr"]


def probed_blocks(setting: Mapping[str, Any]) -> dict[str, int]:
    """Return the blocks of every resource whose longest free run is probed, by its label.

    >>> probed_blocks({"machine": {"preset": "patent_dispatch"}})
    {'vgpr': 128, 'sgpr': 64, 'shared': 128}
    """
    resources = machine_of(setting).resources()
    return {resource.label: resource.blocks for resource in resources if resource.contiguous}


def groups_allowed(setting: Mapping[str, Any]) -> list[int]:
    """Return the numbers of groups that divide the blocks of every resource that is probed (spec 3, Z).

    >>> groups_allowed({"machine": {"preset": "patent_dispatch"}})
    [1, 2, 4, 8, 16, 32]
    """
    each = [set(dividing(blocks)) for blocks in probed_blocks(setting).values()]
    return sorted(set.intersection(*each))


def blocks_allowed(setting: Mapping[str, Any]) -> list[int]:
    """Return the numbers of vector register blocks that the groups of both sides divide and every workgroup fits."""
    cut = {value_of(setting[side]["probe"], "groups") for side in ("baseline", "other")} - {None}
    least = largest_share(setting)
    steps = range(1, MOST_BLOCKS + 1) if cut else [*range(1, 65), *range(66, 129, 2), *range(132, MOST_BLOCKS + 1, 4)]
    kept = (blocks for blocks in sorted({*steps, least}) if blocks >= least)
    return [blocks for blocks in kept if all(blocks % groups == 0 and blocks > groups for groups in cut)]


def waves_allowed(setting: Mapping[str, Any]) -> list[int]:
    """Return the most waves that a workgroup may have, so that an empty module has space for the largest."""
    machine, most = machine_of(setting), _most_a_wave(setting)
    of_units = [resource for resource in machine.resources() if resource.level == "unit"]
    share = min(resource.blocks // max(most.get(resource.label, 1), 1) for resource in of_units)
    return list(range(1, share * machine.simds_a_unit + 1))


def largest_share(setting: Mapping[str, Any]) -> int:
    """Return the most vector register blocks that a workgroup may take of one SIMD of an empty module."""
    return _share(setting) * _most_a_wave(setting).get("vgpr", 1)


def _share(setting: Mapping[str, Any]) -> int:
    """Return the most waves of the largest group that some SIMD gets."""
    workload = _random_groups(setting)
    return -(-workload.waves.span()[1] // machine_of(setting).simds_a_unit) if workload else 1


def _most_a_wave(setting: Mapping[str, Any]) -> dict[str, int]:
    """Return the most blocks of each resource that a wave may ask for; nothing where a file says it."""
    workload = _random_groups(setting)
    laws = laws_of(workload, machine_of(setting), "") if workload else {}
    return {label: max(law.span()[1], 1) for label, law in laws.items()}


def _random_groups(setting: Mapping[str, Any]) -> RandomGroups | None:
    levers = setting["workload"].get("random_groups")
    return None if levers is None else RandomGroups.read(levers)
