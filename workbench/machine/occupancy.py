"""How many workgroups of a kind one unit holds at once: by each limit, which limit binds, and what would lift it.

`group_limits` is the one computation (spec 7, R3); `Machine.resident` and `occupancy_of` are made of it.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Mapping
from typing import NamedTuple, Protocol

import numpy as np

from workbench.errors import wrong_value
from workbench.units import given_out, segments_for, waves_for

MOST = 1 << 40
"""The largest demand of which the occupancy is said: larger ones would not be counted exactly."""
NO_LIMIT = int(np.iinfo(np.int64).max)
"""The groups by a limit of which a group takes nothing."""
LIMITS = {
    "workgroups": "workgroup slots",
    "waves": "wave slots",
    "barriers": "barriers",
    "vgpr": "vector registers",
    "sgpr": "scalar registers",
    "shared": "shared memory",
}
"""Each limit by the label of its resource, in the order in which they are shown."""
_LIMIT_OF = {"vgprs": "vgpr", "sgprs": "sgpr", "shared_bytes": "shared"}


class Demand(NamedTuple):
    """What groups of some kinds ask for; None or a number below zero is not known, and takes nothing."""

    threads: np.ndarray | None = None
    """int64[kinds], threads a group."""
    vgprs: np.ndarray | None = None
    """int64[kinds], vector registers a thread, accumulation registers included."""
    sgprs: np.ndarray | None = None
    """int64[kinds], scalar registers a wave."""
    shared_bytes: np.ndarray | None = None
    """int64[kinds], bytes of shared memory a group, without the system's share."""


class Unit(Protocol):
    """What a machine says of one unit."""

    @property
    def wave_size(self) -> int: ...
    @property
    def simds_a_unit(self) -> int: ...
    @property
    def waves_a_unit(self) -> int: ...
    @property
    def workgroups_a_unit(self) -> int: ...
    @property
    def barriers_a_module(self) -> int: ...
    @property
    def threads_a_workgroup(self) -> int: ...
    @property
    def vgprs_a_unit(self) -> int: ...
    @property
    def vgpr_granule(self) -> int: ...
    @property
    def vgprs_a_thread(self) -> int: ...
    @property
    def sgprs_a_unit(self) -> int: ...
    @property
    def sgpr_granule(self) -> int: ...
    @property
    def sgprs_a_wave(self) -> int: ...
    @property
    def segments(self) -> int: ...
    @property
    def granule_bytes(self) -> int: ...
    @property
    def reserved_bytes(self) -> int: ...


def group_limits(unit: Unit, demand: Demand) -> dict[str, np.ndarray]:
    """Return the number of groups of each kind that a unit holds by each limit: int64[kinds] by label, NO_LIMIT if none
    is taken.

    Registers are given to waves within a SIMD, in whole granules. A group of more threads, and one of more registers,
    than the hardware allows has the limit 0.

    Examples
    --------
    >>> from workbench.machine import Machine
    >>> unit = Machine(waves_a_unit=32, workgroups_a_unit=32, barriers_a_module=16)  # spec 7, V6
    >>> limits = group_limits(unit, Demand(threads=np.array([64, 128, 192])))
    >>> limits["waves"], limits["barriers"][1:]
    (array([32, 16, 10]), array([16, 16]))
    """
    limits = {"workgroups": np.asarray(unit.workgroups_a_unit)}
    threads, vgprs, sgprs, shared_bytes = demand
    waves = np.asarray(1) if threads is None else np.maximum(waves_for(np.maximum(threads, 1), unit.wave_size), 1)
    if threads is not None:
        fitting = np.where(threads > unit.threads_a_workgroup, 0, unit.waves_a_unit // waves)
        limits["waves"] = np.where(threads < 0, NO_LIMIT, fitting)
        if unit.barriers_a_module:
            limits["barriers"] = np.where((threads < 0) | (waves == 1), NO_LIMIT, unit.barriers_a_module)
    if vgprs is not None:
        of_waves = _waves_by_registers(unit, vgprs, unit.vgprs_a_unit, unit.vgpr_granule, unit.wave_size)
        limits["vgpr"] = np.where(vgprs > unit.vgprs_a_thread, 0, _groups(of_waves, waves, threads))
    if sgprs is not None and unit.sgprs_a_wave:
        of_waves = _waves_by_registers(unit, sgprs, unit.sgprs_a_unit, unit.sgpr_granule, 1)
        by_registers = _groups(of_waves, waves, threads) if unit.sgprs_a_unit else NO_LIMIT
        limits["sgpr"] = np.where(sgprs > unit.sgprs_a_wave, 0, by_registers)
    if shared_bytes is not None:
        taken = segments_for(np.maximum(shared_bytes, 0) + unit.reserved_bytes, unit.granule_bytes)
        by_segments = unit.segments // np.maximum(taken, 1)
        limits["shared"] = np.where((shared_bytes < 0) | (taken == 0), NO_LIMIT, by_segments)
    return limits


def _waves_by_registers(unit: Unit, registers: np.ndarray, supply: int, granule: int, threads: int) -> np.ndarray:
    """Return the number of waves that a unit holds by a register file that its SIMDs share in equal parts."""
    a_wave = given_out(np.maximum(registers, 1), granule) * threads
    waves = unit.simds_a_unit * (supply // unit.simds_a_unit // a_wave)
    return np.where(registers <= 0, NO_LIMIT, waves)


def _groups(of_waves: np.ndarray, waves: np.ndarray, threads: np.ndarray | None) -> np.ndarray:
    known = np.asarray(threads is not None) if threads is None else threads >= 0
    return np.where((of_waves == NO_LIMIT) | ~known, NO_LIMIT, of_waves // waves)


def resident_of(unit: Unit, demand: Demand) -> np.ndarray:
    """Return the number of groups of each kind that a unit holds at once: the tightest of its limits, int64[kinds]."""
    return np.minimum.reduce(np.broadcast_arrays(*group_limits(unit, demand).values())).astype(np.int64)


class Occupancy(NamedTuple):
    """How many groups of one kind a unit holds, and why."""

    groups: int
    """Groups a unit."""
    waves: int
    """Their waves."""
    share: float
    """The same over the wave slots of the unit, 0 to 1."""
    limits: dict[str, int]
    """Groups a unit by each limit that the group takes something of, by a label of `LIMITS`."""
    binding: tuple[str, ...]
    """The labels of all limits that are as tight as the tightest."""
    lifts: dict[str, int]
    """The nearest smaller demand that alone gives one group more, by its name: threads, vgprs, sgprs, shared_bytes."""
    together: dict[str, int]
    """If no demand does so alone: those that do so together. Empty if nothing lifts the limit."""
    unknown: tuple[str, ...]
    """The labels of the limits of this machine that are left out, because the demand is not known."""


def occupancy_of(
    unit: Unit, threads: int, vgprs: int | None = None, sgprs: int | None = None, shared_bytes: int | None = None
) -> Occupancy:
    """Return the number of groups of a kind that a unit holds at once, the limits that bind, and the change that would
    lift them.

    Parameters
    ----------
    unit : Machine
    threads : int
        Of a group.
    vgprs, sgprs, shared_bytes : int, optional
        Vector registers of a thread, scalar registers of a wave, bytes of shared memory of a group; left out, they
        limit nothing.

    Raises
    ------
    InputError
        A number is below its least value, or above 2^40.

    Examples
    --------
    >>> from workbench.machine import Machine
    >>> held = occupancy_of(Machine.read("h100"), threads=256, vgprs=72, shared_bytes=32768)
    >>> held.groups, held.share, held.limits
    (3, 0.375, {'workgroups': 32, 'waves': 8, 'vgpr': 3, 'shared': 6})
    >>> held.binding, held.lifts
    (('vgpr',), {'threads': 224, 'vgprs': 64})
    """
    demands = {"threads": threads, "vgprs": vgprs, "sgprs": sgprs, "shared_bytes": shared_bytes}
    known = {name: count for name, count in demands.items() if count is not None}
    for name, count in known.items():
        least = 1 if name == "threads" else 0
        if isinstance(count, bool) or not isinstance(count, int) or not least <= count <= MOST:
            expected, nearest = f"must be a whole number from {least} to {MOST}", MOST if count > least else least
            raise wrong_value("", f"occupancy: {name}", expected, count, nearest)
    every = {label: int(by) for label, by in group_limits(unit, _demand(known)).items()}
    limits = {label: every[label] for label in LIMITS if every.get(label, NO_LIMIT) != NO_LIMIT}
    groups = min(limits.values())
    binding = tuple(label for label, by in limits.items() if by == groups)
    lifts = {name: _largest(unit, known, name, groups + 1) for name in known}
    alone = {name: count for name, count in lifts.items() if count >= 0}
    waves = groups * int(waves_for(threads, unit.wave_size))
    together = {} if alone else _together(unit, known, binding, groups + 1)
    has = {"vgprs": True, "sgprs": unit.sgprs_a_wave > 0, "shared_bytes": True}
    unknown = tuple(_LIMIT_OF[name] for name, exists in has.items() if exists and name not in known)
    return Occupancy(groups, waves, waves / unit.waves_a_unit, limits, binding, alone, together, unknown)


def _demand(known: Mapping[str, int]) -> Demand:
    return Demand(**{name: np.asarray(count, np.int64) for name, count in known.items()})


def _largest(unit: Unit, known: dict[str, int], name: str, groups: int, label: str = "") -> int:
    """Return the largest smaller count of one demand with which so many groups fit, all limits or one; -1 = none."""

    def is_too_much(count: int) -> bool:
        limits = group_limits(unit, _demand({**known, name: count}))
        return bool((limits[label] if label else np.minimum.reduce([*limits.values()])) < groups)

    smaller = range(int(name == "threads"), known[name])
    fitting = bisect_left(smaller, True, key=is_too_much)  # no limit is wider for a larger demand
    return smaller[fitting - 1] if fitting else -1


def _together(unit: Unit, known: dict[str, int], binding: tuple[str, ...], groups: int) -> dict[str, int]:
    """Return the demands that together give so many groups; empty if a limit that binds has none."""
    owners = {label: name for name, label in _LIMIT_OF.items()}
    lessened: dict[str, int] = {}
    for label in binding:
        name = owners.get(label, "threads")
        count = _largest(unit, known, name, groups, label) if name in known else -1
        lessened[name] = min(count, lessened.get(name, count))
    enough = min(lessened.values()) >= 0
    return lessened if enough and resident_of(unit, _demand({**known, **lessened})) >= groups else {}
