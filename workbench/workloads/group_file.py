"""Groups for a dispatcher from a CSV file of the user's, and the groups that can never be dispatched.

`first_misfit` names a group that an empty module has no space for, whatever the policies. However a group's waves are
shared out over the units of a module, some unit gets at least ceil(waves / units) of them, and the shares of a balanced
split are no larger. So a group is refused exactly if no units policy and no placement could ever serve it; what a
policy cannot serve on top of that is the engine's matter.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np

from workbench.errors import InputError, at, unknown_name
from workbench.levers import Lever, Spec, lever
from workbench.streams import Streams
from workbench.workloads.csv_columns import column_names, read_columns, row_place
from workbench.workloads.csv_file import MOST_CYCLES, CsvFile, check_times
from workbench.workloads.synthetic.instructions import MOST_OF_A_GROUP, first_excess
from workbench.workloads.workload import INSTRUCTION_CLASSES, MOST_CHANNELS, MOST_PRIORITIES, Groups

MOST_BLOCKS = 4096

COLUMNS = {"vgpr": "vgpr_blocks", "sgpr": "sgpr_blocks", "shared": "shared_segments", "waves": "waves"}
"""What workload files and levers call the demand of a resource, by its label; of others it is `<label>_blocks`."""
_DEMANDS = {column: label for label, column in COLUMNS.items() if label != "waves"}
_FURTHER = "_blocks"


class GroupRow(Spec):
    """What every row of a group file says (`docs/api`, Workload files)."""

    arrival: int = lever(
        least=0, most=MOST_CYCLES, unit="cycles", description="when it joins the queue; never decreasing"
    )
    channel: int = lever(least=0, most=MOST_CHANNELS - 1, description="the channel that it waits in, from 0")
    priority: int = lever(least=1, most=MOST_PRIORITIES, description="its static priority, 1 = highest")
    waves: int = lever(least=1, most=1 << 16, unit="waves", description="how many waves it has")
    independent: int = lever(least=0, most=1, description="1 if its waves may run apart")
    duration: int = lever(least=1, most=MOST_CYCLES, unit="cycles", description="from its dispatch to its release")
    vgpr_blocks: int = lever(least=0, most=MOST_BLOCKS, unit="blocks", description="blocks of vector registers a wave")
    sgpr_blocks: int = lever(least=0, most=MOST_BLOCKS, unit="blocks", description="blocks of scalar registers a wave")
    shared_segments: int = lever(
        least=0, most=MOST_BLOCKS, unit="segments", description="segments of shared memory of the whole group"
    )


class BetweenRow(Spec):
    """What a row of a group file may say of what stands between its queue and its unit (spec 7)."""

    kernel: int = lever(
        least=0, most=1 << 20, description="its kernel; without the column the groups of a channel are one kernel"
    )
    cluster: int = lever(least=1, most=1 << 16, unit="groups", description="how many groups start together, 1 = alone")
    barrier: int = lever(least=-1, most=1 << 20, description="the start barrier that it names, -1 = none")
    endless: int = lever(least=0, most=1, description="1 if it runs until all others have ended")


BETWEEN = tuple(BetweenRow.levers)
"""Columns that a file may leave out."""


class GroupFile(CsvFile):
    """The groups of a CSV file, one a row; rows of a channel are in queue order.

    Every row has the columns of `GroupRow`. It may have `instr_move`, `instr_load`, `instr_store`, `instr_matrix`,
    `instr_compare` and `instr_jump`, what the whole group executes of each class (0 where there is no such column), and
    `LABEL_blocks` for each further resource that the machine declares, blocks a wave or, of a module's, a group. A
    machine that reserves no scalar registers does not read their column. What stands between queue and unit (spec 7)
    has columns of its own, those of `BETWEEN`.
    """

    @classmethod
    def parsed(cls, text: bytes, sha256: str, where: str) -> Content:
        also = f"; there may be instr_move ... instr_jump, {', '.join(BETWEEN)}, and LABEL_blocks of further resources"
        levers = {**GroupRow.levers, **_optional(column_names(text))}
        columns = read_columns(text, levers, where, also)
        check_times(columns["arrival"], columns["duration"], where)
        labels = {name: _DEMANDS.get(name, name.removesuffix(_FURTHER)) for name in columns if _is_demand(name)}
        groups = Groups(
            demand={label: columns[name] for name, label in labels.items()},
            independent=columns["independent"].astype(bool),
            instructions=_instructions(columns),
            arrival=columns["arrival"],
            channel=columns["channel"],
            priority=columns["priority"],
            waves=columns["waves"],
            duration=columns["duration"],
            kernel=columns.get("kernel"),
            cluster=columns.get("cluster"),
            barrier=columns.get("barrier"),
            endless=columns["endless"].astype(bool) if "endless" in columns else None,
        )
        _check_counts(groups, where)
        return Content(sha256, groups)

    def check_machine(self, machine: Any, path: str = "", where: str = "") -> None:
        groups: Groups = self.content().groups
        declared = [resource.label for resource in machine.more_resources]
        for label in groups.demand:
            if label not in (*_DEMANDS.values(), *declared):
                message = f"{self.file}: column {column_of(label)}"
                raise unknown_name(at(where, message), "further resource of the machine", label, declared)
        machine_resources(machine, where)
        misfit = first_misfit(machine, groups.waves, groups.demand)
        if misfit is not None:
            place = f"{self.file}: {row_place(misfit.row)}: {column_of(misfit.label)}"
            raise InputError(at(where, f"{place} {misfit.expected}. Got {misfit.requested}."))

    def groups(self, machine: Any, streams: Streams) -> Groups:
        self.check_machine(machine)
        held = self.content().groups
        labels = [resource.label for resource in machine_resources(machine) if resource.label in held.demand]
        return held._replace(demand={label: held.demand[label] for label in labels}).copied()


def group_columns(groups: Groups) -> dict[str, np.ndarray]:
    """Return the groups as the columns of a group file, in its order; classes of which nothing is executed are left
    out."""
    nothing = np.zeros(len(groups.arrival), np.int64)
    usual = {name: groups.demand.get(_DEMANDS[name], nothing) for name in GroupRow.levers if name in _DEMANDS}
    own = {name: getattr(groups, name) for name in GroupRow.levers if name not in _DEMANDS}
    counts = zip(INSTRUCTION_CLASSES, groups.instructions.T, strict=True)
    executed = {f"instr_{which}": column for which, column in counts if column.any()}
    further = {column_of(label): blocks for label, blocks in groups.demand.items() if label not in COLUMNS}
    between = {name: getattr(groups, name) for name in BETWEEN if getattr(groups, name) is not None}
    further |= {name: column.astype(np.int64) for name, column in between.items()}
    return {**own, "independent": groups.independent.astype(np.int64), **usual, **executed, **further}


class Content(NamedTuple):
    """What a group file holds."""

    sha256: str
    """Digest of the content, uncompressed."""
    groups: Groups
    """With the demand of every resource that the file names, whether a machine has it or not."""


def _is_demand(name: str) -> bool:
    """Return whether a column is the demand of a resource: of a usual one, or of one that a machine may declare."""
    label = name.removesuffix(_FURTHER)
    return name in _DEMANDS or (label != name and label.isascii() and label.isidentifier())


def _optional(header: list[str]) -> dict[str, Lever]:
    """Return the columns of a header that a file may have in addition to those of every row."""
    counts = [f"instr_{which}" for which in INSTRUCTION_CLASSES]
    levers = {name: Lever(name, "integer", least=0, most=MOST_OF_A_GROUP) for name in header if name in counts}
    levers |= {name: BetweenRow.levers[name] for name in header if name in BETWEEN}
    further = [name for name in header if _is_demand(name) and name not in GroupRow.levers]
    return levers | {name: Lever(name, "integer", least=0, most=MOST_BLOCKS) for name in further}


def _instructions(columns: dict[str, np.ndarray]) -> np.ndarray:
    counts = np.zeros((len(columns["arrival"]), len(INSTRUCTION_CLASSES)), np.int64)
    for place, which in enumerate(INSTRUCTION_CLASSES):
        if f"instr_{which}" in columns:
            counts[:, place] = columns[f"instr_{which}"]
    return counts


def _check_counts(groups: Groups, where: str) -> None:
    excess = first_excess(groups.instructions, groups.duration)
    if excess is not None:
        row, which, most = excess
        got = groups.instructions[row, INSTRUCTION_CLASSES.index(which)]
        expected = f"instr_{which} must be at most {most} in {groups.duration[row]} cycles"
        raise InputError(f"{where}: {row_place(row)}: {expected}. Got {got}.")


def column_of(label: str) -> str:
    """Return the name in workload files and levers of the demand of a resource.

    >>> column_of("shared"), column_of("tickets")
    ('shared_segments', 'tickets_blocks')
    """
    return COLUMNS.get(label, f"{label}_blocks")


class Misfit(NamedTuple):
    """The first group that no empty module has space for, and why."""

    row: int
    label: str
    """Of the resource that is too small."""
    requested: int
    """Blocks a wave or a group; waves of the group where they are too many."""
    most: int
    """The most that could be asked for."""
    reason: str

    @property
    def expected(self) -> str:
        """Return the condition, as messages state it: `must be at most 32 blocks a wave, as ...`."""
        return f"must be at most {self.most}, {self.reason}"


def machine_resources(machine: Any, where: str = "") -> tuple[Any, ...]:
    """Return the resources that a dispatcher reserves of a machine; a machine that cannot be cut into blocks is refused
    with its place."""
    try:
        resources: tuple[Any, ...] = machine.resources()
    except InputError as wrong:
        raise InputError(at(where, str(wrong))) from None
    return resources


def first_misfit(machine: Any, waves: np.ndarray, demand: Mapping[str, np.ndarray]) -> Misfit | None:
    """Return the first group that no empty module has space for, and the first resource; wave slots before all others.

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
    Misfit(row=2, label='vgpr', requested=17, most=16, reason='as 4 of its 16 waves share a unit of 64 blocks')
    >>> first_misfit(Machine(), waves[:2], {"vgpr": blocks[:2]}) is None
    True
    """
    together = -(-waves // machine.simds_a_unit)
    misfits: list[Misfit] = []
    for resource in machine_resources(machine):
        of_unit = resource.level == "unit"
        always = machine.taken_always(resource.label, waves)
        blocks = demand.get(resource.label) if always is None else always
        if blocks is None:
            continue
        taken = blocks * together if of_unit else np.asarray(blocks)
        row = int(np.argmax(taken > resource.blocks))
        if taken.reshape(-1)[row] > resource.blocks:
            misfits.append(_misfit(machine, resource, row, int(waves[row]), np.broadcast_to(blocks, waves.shape)))
    return min(misfits, key=lambda misfit: (misfit.row, misfit.label != "waves"), default=None)


def _misfit(machine: Any, resource: Any, row: int, waves: int, requested: np.ndarray) -> Misfit:
    together = -(-waves // machine.simds_a_unit)
    if resource.label == "waves":
        most = resource.blocks * machine.simds_a_unit
        return Misfit(row, "waves", waves, most, "all that a module has slots for")
    if resource.level == "module":
        return Misfit(row, resource.label, int(requested[row]), resource.blocks, "all that a module has")
    reason = f"as {together} of its {waves} waves share a unit of {resource.blocks} blocks"
    return Misfit(row, resource.label, int(requested[row]), resource.blocks // together, reason)
