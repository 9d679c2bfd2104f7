"""The machine of one GPU: compute units of one kind, what each of them holds, and its resources in blocks.

A dispatcher gives resources to workgroups and takes them back: registers, slots and segments, of a unit or of a module.
A sweep file says a machine by its levers, by a preset's name, or by a preset with levers that replace its own.

The defaults of the shared memory are the source document's (spec 1, ¶52: 64 KiB in 128 segments); the others are those
of a GCN 5 compute unit. Named machines with a source for every figure are in `presets/machine/`.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from pathlib import Path
from typing import Any, ClassVar, Literal, NamedTuple, Protocol, Self

import numpy as np

from workbench.errors import InputError, wrong_value
from workbench.levers import Lever, Spec, lever
from workbench.machine.guest_presets import guest_presets, known_preset
from workbench.machine.occupancy import Demand, resident_of
from workbench.machine.presets import (
    Described,
    is_preset_file,
    preset_for_device,
    preset_in_file,
    presets,
    presets_holding,
    row_of,
)
from workbench.units import Count, segments_for, segments_in

MOST_SEGMENTS = 4096
MOST_DIES = 16
_SHARED = Lever(
    "shared_memory_bytes", "integer", least=2, most=1 << 30, unit="bytes", description="a unit's shared memory"
)


class Resource(Spec):
    """One resource: where it lies, whether a grant must be contiguous, how many blocks there are.

    >>> Resource(label="tickets", level="module", contiguous=False, blocks=16).short()
    'resource(label=tickets, level=module, contiguous=False, blocks=16)'
    """

    label: str = lever(description="its name, a word of letters, digits and _, as workloads and logs call it")
    level: Literal["unit", "module"] = lever(
        "unit",
        description="whether each unit has its own and a wave takes of it, or a module has one and a group takes of it",
    )
    contiguous: bool = lever(True, description="whether a grant must be one range (spec 3, R4)")
    blocks: int = lever(128, least=1, most=4096, unit="blocks", description="blocks of each unit, or of each module")

    def check(self) -> None:
        if not (self.label.isascii() and self.label.isidentifier()):
            raise wrong_value("", "resource.label", "must be a word of letters, digits and _", self.label)


BARRIERS = "barriers"
"""The resource of machines with `barriers_a_module`; no other may be called so."""


class Machine(Described):
    """Frozen description of a GPU; a unit is one CU (AMD) or one SM (NVIDIA).

    >>> Machine().shared_memory_bytes
    65536
    >>> Machine(segments=1824, granule_bytes=128, reserved_bytes=1024).request_segments(231424)
    1816
    """

    segments: int = lever(
        128, least=2, most=MOST_SEGMENTS, unit="segments", description="segments of a unit's shared memory"
    )
    granule_bytes: int = lever(
        512, least=1, most=1 << 20, unit="bytes", description="bytes a segment, the least that is given"
    )
    reserved_bytes: int = lever(
        0,
        least=0,
        most=1 << 20,
        unit="bytes",
        description="what the system takes on top of each workgroup's shared memory",
    )
    compute_units: int = lever(
        64, least=1, most=4096, unit="units", description="compute units that share a kernel's grid"
    )
    clock_mhz: float = lever(
        1000.0, least=1, most=100_000, unit="MHz", description="the clock in which cycles are counted"
    )
    wave_size: int = lever(
        64, least=1, most=1024, scale="power_of_two", unit="threads", description="threads a wave (warp)"
    )
    simds_a_unit: int = lever(4, least=1, most=64, unit="SIMDs", description="SIMDs (sub-partitions) of a unit")
    waves_a_unit: int = lever(40, least=1, most=1024, unit="waves", description="wave slots of a unit")
    workgroups_a_unit: int = lever(16, least=1, most=1024, unit="workgroups", description="workgroup slots of a unit")
    barriers_a_module: int = lever(
        0,
        least=0,
        most=1024,
        unit="barriers",
        description="barriers of a unit, of which a workgroup of more than one wave takes one; 0 = not limited "
        "(spec 7, R2)",
    )
    threads_a_workgroup: int = lever(
        1024, least=1, most=1 << 16, unit="threads", description="most threads of a workgroup"
    )
    vgprs_a_unit: int = lever(
        65_536,
        least=1,
        most=1 << 24,
        unit="registers",
        description="32-bit vector registers of a unit, counted a thread",
    )
    vgpr_granule: int = lever(
        4, least=1, most=256, unit="registers", description="vector registers a thread are given in these"
    )
    vgprs_a_thread: int = lever(
        256, least=1, most=4096, unit="registers", description="most vector registers of a thread"
    )
    sgprs_a_unit: int = lever(
        3200, least=0, most=1 << 24, unit="registers", description="scalar registers of a unit; 0 = none are reserved"
    )
    sgpr_granule: int = lever(
        16, least=1, most=256, unit="registers", description="scalar registers a wave are given in these"
    )
    sgprs_a_wave: int = lever(102, least=0, most=4096, unit="registers", description="most scalar registers of a wave")

    dies: tuple[int, ...] = lever(
        (),
        least=1,
        most=4096,
        unit="units",
        description="compute units of each die (XCD, GPC), which are numbered die after die; none = one die",
    )
    more_resources: tuple[Resource, ...] = lever(
        (), description="further resources that a dispatcher reserves for workgroups, by declaration"
    )

    always_taken: ClassVar[tuple[str, ...]] = ("waves", "workgroups", BARRIERS)
    """The resources of which groups take the same whatever they ask for."""

    shown: ClassVar[tuple[str, ...]] = (
        "shared_memory_bytes",
        "segments",
        "granule_bytes",
        "reserved_bytes",
        "compute_units",
        "wave_size",
        "waves_a_unit",
        "clock_mhz",
    )

    may_omit: ClassVar[tuple[str, ...]] = ("barriers_a_module", "dies")

    @classmethod
    def figures(cls) -> Mapping[str, Lever]:
        """Return the levers, with the bytes of the shared memory for its segments; further resources have no published
        figures."""
        no_figures = ("segments", "more_resources")
        levers = {name: declared for name, declared in cls.levers.items() if name not in no_figures}
        return {_SHARED.name: _SHARED, **levers}

    @classmethod
    def of_figures(cls, figures: Mapping[str, Any]) -> Self:
        """Return the machine whose segments are its shared memory over its granule."""
        values = dict(figures)
        shared = values.pop(_SHARED.name)
        return cls(segments=segments_in(shared, values["granule_bytes"]), **values)

    def resources(self) -> tuple[Resource, ...]:
        """Return the demand of a workgroup on a dispatcher: of units vgpr, sgpr and waves, of modules shared,
        workgroups and barriers.

        A module is a compute unit, a unit is one of its SIMDs. A block of vector registers is a granule for every
        thread of a wave, a block of scalar registers a granule of a wave; the remainder stays unused. A machine that
        reserves no scalar registers (0), or does not limit barriers (0), has no such resource.

        >>> [(r.label, r.level, r.blocks) for r in Machine().resources()]  # doctest: +NORMALIZE_WHITESPACE
        [('vgpr', 'unit', 64), ('sgpr', 'unit', 50), ('waves', 'unit', 10), ('shared', 'module', 128),
         ('workgroups', 'module', 16)]
        >>> Machine(vgprs_a_unit=512).resources()  # doctest: +NORMALIZE_WHITESPACE
        Traceback (most recent call last):
        workbench.errors.InputError: machine.vgprs_a_unit must give each of the 4 SIMDs 1 to 4096 blocks of 256
        registers. Got 512. Nearest: 1024.

        Raises
        ------
        InputError
            The registers or the wave slots of a unit cannot be cut into blocks.
        """
        return resources_of(self)

    def taken_always(self, label: str, waves: np.ndarray) -> np.ndarray | int | None:
        """Return the blocks of a resource that groups take whatever they ask for: int64[groups], or one number for all;
        None if they ask.

        A wave takes one wave slot, a group one workgroup slot. A group of more than one wave takes one of the
        machine's barriers, a group of one wave none (spec 7, R2).

        >>> machine = Machine(barriers_a_module=16)
        >>> machine.taken_always("barriers", np.array([1, 2])), machine.taken_always("shared", np.array([1, 2]))
        (array([0, 1]), None)
        """
        if label in ("waves", "workgroups"):
            return 1
        if label == BARRIERS:
            return np.asarray(waves > 1, np.int64)
        return None

    def check(self) -> None:
        if self.reserved_bytes >= self.shared_memory_bytes:
            raise InputError(
                f"machine.reserved_bytes must leave room in the shared memory of {self.shared_memory_bytes} bytes "
                f"(segments times granule_bytes). Got {self.reserved_bytes}. Nearest: {self.shared_memory_bytes - 1}."
            )
        check_more(self.more_resources)
        if self.dies and (sum(self.dies) != self.compute_units or len(self.dies) > MOST_DIES):
            expected = f"must be the units of 1 to {MOST_DIES} dies, {self.compute_units} in all (compute_units)"
            raise wrong_value("", "machine.dies", expected, list(self.dies))

    def but(self, **values: Any) -> Self:
        """Return the same with some levers changed; of other units, without dies given, one die."""
        units = values.get("compute_units", self.compute_units)
        return super().but(**({"dies": ()} if units != self.compute_units else {}) | values)

    def replaced(self, levers: Mapping[str, Any]) -> dict[str, Any]:
        """Return the levers of a preset with some replaced; of other units, without dies given, one die."""
        units = levers.get("compute_units", self.compute_units)
        return {**super().replaced(levers), **({"dies": ()} if units != self.compute_units else {}), **levers}

    @property
    def shared_memory_bytes(self) -> int:
        """Return the bytes of a unit's shared memory."""
        return self.segments * self.granule_bytes

    def request_segments(self, shared_bytes: Count) -> Count:
        """Return the segments that a workgroup of so many bytes takes, the system's share included."""
        return segments_for(shared_bytes + self.reserved_bytes, self.granule_bytes)

    @staticmethod
    def preset_holding(shared_bytes: int, device: str = "", threads: int = -1, vgprs: int = -1) -> str | None:
        """Return the preset to take for a workgroup of so many bytes: the device's own, else the smallest memory that
        does.

        With its threads and the vector registers of each, a unit of the preset must have space for those too.

        >>> Machine.preset_holding(150_000), Machine.preset_holding(150_000, "NVIDIA H100 80GB HBM3")
        ('mi350x', 'h100')
        >>> Machine.preset_holding(512, threads=1024, vgprs=200) is None
        True
        """
        holding = presets_holding(shared_bytes, threads, vgprs)
        own = preset_for_device(device)
        return own if own in holding else next(iter(holding), None)

    def resident(
        self,
        shared_bytes: np.ndarray | None = None,
        threads: np.ndarray | None = None,
        vgprs: np.ndarray | None = None,
    ) -> np.ndarray:
        """Return the number of workgroups of a kind that one unit holds at once: the tightest of its limits, 0 where
        not even one fits.

        The limits are those of `group_limits` without scalar registers; those whose demand is not given (None) or
        below zero (not recorded) do not bind.

        Parameters
        ----------
        shared_bytes, threads, vgprs : int64[kinds], optional
            Bytes a workgroup, threads a workgroup, vector registers a thread.

        Returns
        -------
        int64[kinds]

        Examples
        --------
        >>> import numpy as np
        >>> Machine().resident(np.array([0, 512, 40_000]), np.array([64, 1024, 64]))
        array([16,  2,  1])
        """
        return resident_of(self, Demand(threads, vgprs, None, shared_bytes))


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
    def barriers_a_module(self) -> int: ...
    @property
    def more_resources(self) -> tuple[Resource, ...]: ...


@lru_cache(maxsize=64)
def resources_of(machine: _Supplies) -> tuple[Resource, ...]:
    """Return the resources of a machine: of units vgpr, sgpr, waves and its own, of modules shared, workgroups,
    barriers and its own.

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
    every = [*of_unit, shared, slots]
    if machine.barriers_a_module:
        every.append(Resource(label=BARRIERS, level="module", contiguous=False, blocks=machine.barriers_a_module))
    every += machine.more_resources
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
    """Refuse further resources that could not be told apart, from each other or from the machine's own."""
    seen = [*USUAL, BARRIERS]
    for resource in more:
        if resource.label in seen:
            cure = " Nearest: machine.barriers_a_module." if resource.label == BARRIERS else ""
            expected = "machine.more_resources must have labels of their own"
            raise InputError(f"{expected}. Got {resource.label!r} again.{cure}")
        seen.append(resource.label)


def read_machine(given: object, path: str = "machine", where: str = "") -> Machine:
    """Read the machine that a sweep file describes.

    >>> read_machine("h100").segments
    1824
    >>> read_machine({"preset": "mi355x", "segments": 64}).shared_memory_bytes
    81920
    >>> read_machine({"preset": "mi355"}, where="drain.yaml")  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    workbench.errors.InputError: drain.yaml: machine.preset: there is no preset 'mi355'; ... Did you mean mi355x? ...

    Raises
    ------
    InputError
        The preset or a lever is unknown, or a value is not allowed; the message holds the path.
    """
    return Machine.read(given, path, where)


def presets_table(name: str | None = None) -> list[dict[str, Any]]:
    """Return the rows of `workbench list presets [NAME]`: one row a preset, or one row a figure of one preset, which
    may be a file of the user's."""
    if name is None:
        return [*presets(), *({**row_of(one), "package": guest.package} for guest, one in guest_presets())]
    one = preset_in_file(name, Path()) if is_preset_file(name) else known_preset(name)
    declared = one.of.figures()
    rows = [(figure, declared[figure.name].plain(figure.value)) for figure in one.figures.values()]
    return [{"preset": name, **figure._asdict(), "value": value} for figure, value in rows]
