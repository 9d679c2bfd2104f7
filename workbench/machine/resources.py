"""What a dispatcher reserves for workgroups, in blocks: how a machine's registers, slots and segments are cut."""

from __future__ import annotations

from functools import lru_cache
from typing import NamedTuple, Protocol

from workbench.errors import InputError, wrong_value
from workbench.machine.resource import Resource

USUAL = ("vgpr", "sgpr", "waves", "shared", "workgroups")
"""The resources that every machine may have, by label; those of units first."""


class _Cut(NamedTuple):
    """A supply of a compute unit that its SIMDs share in equal parts."""

    label: str
    lever: str
    contiguous: bool
    block: int
    """How much of the supply one block is."""
    word: str
    """What a block is called in messages."""


class _Supplies(Protocol):
    """What a machine says of its resources."""

    @property
    def wave_size(self) -> int: ...
    @property
    def simds_a_unit(self) -> int: ...
    @property
    def vgpr_granule(self) -> int: ...
    @property
    def sgpr_granule(self) -> int: ...
    @property
    def segments(self) -> int: ...
    @property
    def workgroups_a_unit(self) -> int: ...
    @property
    def more_resources(self) -> tuple[Resource, ...]: ...


@lru_cache(maxsize=64)
def resources_of(machine: _Supplies) -> tuple[Resource, ...]:
    """Return the resources of a machine: of units vgpr, sgpr, waves and its own, of modules shared, workgroups and its
    own.

    Raises
    ------
    InputError
        The SIMDs cannot be given a whole block each of what there is, or get more blocks than a free map has.
    """
    a_wave = machine.wave_size * machine.vgpr_granule
    cuts = (
        _Cut("vgpr", "vgprs_a_unit", True, a_wave, f"blocks of {a_wave} registers"),
        _Cut("sgpr", "sgprs_a_unit", True, machine.sgpr_granule, f"blocks of {machine.sgpr_granule} registers"),
        _Cut("waves", "waves_a_unit", False, 1, "wave slots"),
    )
    of_unit = [_of_unit(machine, cut) for cut in cuts if getattr(machine, cut.lever)]
    shared = Resource(label="shared", level="module", contiguous=True, blocks=machine.segments)
    slots = Resource(label="workgroups", level="module", contiguous=False, blocks=machine.workgroups_a_unit)
    every = (*of_unit, shared, slots, *machine.more_resources)
    return tuple(sorted(every, key=lambda resource: resource.level == "module"))


def _of_unit(machine: _Supplies, cut: _Cut) -> Resource:
    supply, simds = getattr(machine, cut.lever), machine.simds_a_unit
    blocks, most = supply // (simds * cut.block), int(Resource.levers["blocks"].most or 0)
    if not 1 <= blocks <= most:
        expected = f"must give each of the {simds} SIMDs 1 to {most} {cut.word}"
        nearest = (most if blocks else 1) * simds * cut.block
        raise wrong_value("", f"machine.{cut.lever}", expected, supply, nearest)
    return Resource(label=cut.label, level="unit", contiguous=cut.contiguous, blocks=blocks)


def check_more(more: tuple[Resource, ...]) -> None:
    """Refuse further resources that could not be told apart, from each other or from the usual ones."""
    seen = list(USUAL)
    for resource in more:
        if resource.label in seen:
            raise InputError(f"machine.more_resources must have labels of their own. Got {resource.label!r} again.")
        seen.append(resource.label)
