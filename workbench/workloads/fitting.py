"""Can a group ever be dispatched? Not if an empty module has no room for it, whatever the policies.

However a group's waves are shared out over the units of a module, some unit gets at least ceil(waves / units) of them,
and the shares of a balanced split are no larger. So a group is refused here exactly if no units policy and no placement
could ever serve it; what a policy cannot serve on top of that is the engine's matter.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np

from workbench.errors import InputError, at

COLUMNS = {"vgpr": "vgpr_blocks", "sgpr": "sgpr_blocks", "shared": "shared_segments", "waves": "waves"}
"""What workload files and levers call the demand of a resource, by its label; of others it is `<label>_blocks`."""
ALWAYS_ONE = ("waves", "workgroups")
"""What each wave takes one of, and each group one of, whatever else it takes."""


def column_of(label: str) -> str:
    """Return what workload files and levers call the demand of a resource.

    >>> column_of("shared"), column_of("barriers")
    ('shared_segments', 'barriers_blocks')
    """
    return COLUMNS.get(label, f"{label}_blocks")


class Misfit(NamedTuple):
    """The first group that no empty module has room for, and why."""

    row: int
    label: str
    """Of the resource that is too small."""
    asked: int
    """Blocks a wave or a group; waves of the group where they are too many."""
    most: int
    """The most that could be asked for."""
    reason: str

    @property
    def expected(self) -> str:
        """Return what must be, as messages say it: `must be at most 32 blocks a wave, as ...`."""
        return f"must be at most {self.most}, {self.reason}"


def machine_resources(machine: Any, where: str = "") -> tuple[Any, ...]:
    """Return what a dispatcher reserves of a machine; a machine that cannot be cut into blocks is refused with its
    place."""
    try:
        resources: tuple[Any, ...] = machine.resources()
    except InputError as wrong:
        raise InputError(at(where, str(wrong))) from None
    return resources


def first_misfit(machine: Any, waves: np.ndarray, demand: Mapping[str, np.ndarray]) -> Misfit | None:
    """Return the first group that no empty module has room for, and the first resource; wave slots before all others.

    Parameters
    ----------
    waves : int64[groups]
    demand : int64[groups] by the resource's label
        Blocks a wave of a unit's resource, blocks a group of a module's; what is not named is not needed.

    Returns
    -------
    Misfit, or None where every group fits an empty module.

    Examples
    --------
    >>> from workbench.machine import Machine
    >>> waves, blocks = np.array([4, 16, 16]), np.array([17, 16, 17])
    >>> first_misfit(Machine(), waves, {"vgpr": blocks})  # doctest: +NORMALIZE_WHITESPACE
    Misfit(row=2, label='vgpr', asked=17, most=16, reason='as 4 of its 16 waves share a unit of 64 blocks')
    >>> first_misfit(Machine(), waves[:2], {"vgpr": blocks[:2]}) is None
    True
    """
    together = -(-waves // machine.simds_a_unit)
    misfits: list[Misfit] = []
    for resource in machine_resources(machine):
        of_unit = resource.level == "unit"
        blocks = _asked(resource.label, demand)
        if blocks is None:
            continue
        taken = blocks * together if of_unit else np.asarray(blocks)
        row = int(np.argmax(taken > resource.blocks))
        if taken.reshape(-1)[row] > resource.blocks:
            misfits.append(_misfit(machine, resource, row, int(waves[row]), np.broadcast_to(blocks, waves.shape)))
    return min(misfits, key=lambda misfit: (misfit.row, misfit.label != "waves"), default=None)


def _asked(label: str, demand: Mapping[str, np.ndarray]) -> np.ndarray | int | None:
    """Return the blocks a wave or a group: a wave takes one wave slot, a group one workgroup slot, whatever else it
    takes."""
    return 1 if label in ALWAYS_ONE else demand.get(label)


def _misfit(machine: Any, resource: Any, row: int, waves: int, asked: np.ndarray) -> Misfit:
    together = -(-waves // machine.simds_a_unit)
    if resource.label == "waves":
        most = resource.blocks * machine.simds_a_unit
        return Misfit(row, "waves", waves, most, "all that a module has slots for")
    if resource.level == "module":
        return Misfit(row, resource.label, int(asked[row]), resource.blocks, "all that a module has")
    reason = f"as {together} of its {waves} waves share a unit of {resource.blocks} blocks"
    return Misfit(row, resource.label, int(asked[row]), resource.blocks // together, reason)
