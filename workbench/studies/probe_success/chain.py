"""From a resource to the machine: how likely is it that a group of waves is refused everywhere? (spec 3, ¶151-154)"""

from __future__ import annotations

import math
from typing import NamedTuple

from workbench.errors import wrong_value
from workbench.policies.probes.question import Probe
from workbench.studies.probe_success.cell_run import cell_run
from workbench.studies.probe_success.chance import Chance
from workbench.studies.probe_success.run_chance import no_run


class Setting(NamedTuple):
    """Where the demand is made: every block free by itself with the same probability."""

    blocks: int = 128
    """Of the resource, in each unit."""
    free: float = 0.5
    """The probability that a block is free, 1 - occupancy."""
    units: int = 4
    """Of a module; each of them gets the demand."""
    modules: int = 16
    """Of the machine; one of them is enough."""

    def checked(self) -> Setting:
        """Return the same, after refusing what is no such machine.

        >>> Setting(free=1.5).checked()
        Traceback (most recent call last):
        workbench.errors.InputError: free must be a probability above 0 and below 1. Got 1.5.
        """
        if not 0 < self.free < 1:
            raise wrong_value("", "free", "must be a probability above 0 and below 1", self.free)
        for name in ("blocks", "units", "modules"):
            check_count(name, getattr(self, name))
        return self


def check_count(name: str, value: object) -> None:
    """Refuse what is no number of things.

    >>> check_count("units", 0)
    Traceback (most recent call last):
    workbench.errors.InputError: units must be a whole number of at least 1. Got 0. Nearest: 1.
    """
    if isinstance(value, bool) or not hasattr(value, "__index__") or value.__index__() < 1:
        raise wrong_value("", name, "must be a whole number of at least 1", value, 1)


class Failure(NamedTuple):
    """The chance of being refused, at each level."""

    unit: Chance
    """The probe reports less than the demand."""
    module: Chance
    """Some unit of the module does."""
    machine: Chance
    """Some unit of every module does: the group waits."""


def check_demand(demand: object, blocks: int) -> None:
    """Refuse a demand that no state of the resource could serve.

    >>> check_demand(0, 128)
    Traceback (most recent call last):
    workbench.errors.InputError: demand must be a whole number from 1 to 128. Got 0.
    """
    whole = hasattr(demand, "__index__") and not isinstance(demand, bool)
    if not whole or not 1 <= demand.__index__() <= blocks:  # type: ignore[attr-defined]
        raise wrong_value("", "demand", f"must be a whole number from 1 to {blocks}", demand)


def failure(probe: Probe, demand: int, setting: Setting = Setting()) -> Failure:  # noqa: B008
    """Compute the exact chance that a demand on each unit of a module is refused by a unit, by a module, by all
    modules.

    Parameters
    ----------
    probe : Probe
        What reports the free blocks of each unit.
    demand : int
        Blocks that each unit must have in a row.
    setting : Setting
        The machine, and how full it is.

    Raises
    ------
    InputError
        The probe's rule is not known, it cannot be built for the resource, there is no such machine, or the demand is
        not from 1 to its blocks.

    References
    ----------
    spec 3, section 4 (probability chain).

    Examples
    --------
    >>> from workbench.policies.probes import ExactRun, GroupedRun
    >>> found = failure(GroupedRun(groups=32), 4)
    >>> round(found.unit.failure, 6), round(found.module.failure, 6), f"{found.machine.failure:.3e}"
    (0.126789, 0.418597, '8.887e-07')
    >>> round(failure(ExactRun(), 1).machine.log10_failure)           # far below the least float
    -607
    """
    blocks, free, units, modules = setting.checked()
    check_demand(demand, blocks)
    cell_blocks, run = cell_run(probe, demand, blocks)
    unit = no_run(blocks // cell_blocks, run, cell_blocks * math.log(free)) if run is not None else Chance.of(1.0)
    module = unit.every(units)
    return Failure(unit, module, module.any(modules))
