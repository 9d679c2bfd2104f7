"""Machine, groups, levers and modules for the slow twin of specification 7: plain values and free maps of lists."""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import dataclass, field
from typing import Any

from tests.oracles.between_rates import ONE, rates_of

BARRIERS = "barriers"
"""The name of the countable resource of R2. It exists only if the machine limits it."""


@dataclass
class Resource:
    """A resource of a module, or of each of its units. `total` is the amount in one unit or in one module."""

    name: str
    total: int
    level: str = "module"
    """`module` or `unit`. A demand is an amount a group (module) or an amount a wave (unit)."""
    kind: str = "countable"
    """`countable` or `contiguous`."""


@dataclass
class Machine:
    """Modules in dies, numbered die after die (R1)."""

    dies: list[int]
    resources: list[Resource]
    units: int = 1
    barriers_a_module: int = 0

    def modules(self) -> int:
        """Return P."""
        return sum(self.dies)

    def die_of(self, module: int) -> int:
        """Return the die that a module stands in."""
        return [die for die, count in enumerate(self.dies) for _ in range(count)][module]

    def all_resources(self) -> list[Resource]:
        """Return the resources and, if it is limited, the barriers of R2."""
        barriers = [Resource(BARRIERS, self.barriers_a_module)] if self.barriers_a_module else []
        return [*self.resources, *barriers]


@dataclass
class Group:
    """A row of the workload."""

    demand: dict[str, int] = field(default_factory=dict)
    duration: int = 1
    arrival: int = 0
    channel: int = 0
    priority: int = 1
    """1 is the highest."""
    waves: int = 1
    independent: bool = False
    instructions: int = 0
    kernel: int = 0
    barrier: int = -1
    endless: bool = False


@dataclass
class Levers:
    """Every policy of a run. The defaults are the neutral answers of specification 7."""

    choice: str = "first_module"
    """`first_module`, `round_robin`, `most_free`, `best_fit`."""
    choice_resource: str = ""
    selection: str = "in_turn"
    """`in_turn`, `strict_priority`, `strict_blocking`, `served_marks`."""
    dispatches_a_round: int | None = None
    """None is no limit."""
    round_cycles: int = 1
    split_threshold: int | None = None
    """None never splits."""
    split_priority: str = "inherit"
    """`inherit` or `lowest`, the largest priority number among the rows."""
    rotation: str = "none"
    """How waves go over units (spec 3, R62 to R64): `none`, `tail`, `head`."""
    die: dict[str, Any] = field(default_factory=lambda: {"name": "any_die"})
    """`any_die`, `first_die`, `round_robin_dies` (by, chunk, binding), `contiguous_dies`, `most_free_die` (resource).
    """
    spread: bool = False
    """Whether no module takes two groups of a cluster (R12)."""
    admission: dict[str, Any] = field(default_factory=lambda: {"name": "open_to_all"})
    """`open_to_all`, `partition_by_channel` and `partition_by_kernel` (modules: {index: list}, others),
    `share_by_channel` (share: text, round), `exclusive`."""
    closed: tuple[int, int] = (0, -1)
    """(m, kernel): the last m modules admit only that kernel (R26)."""
    concurrency: str = "full_overlap"
    """`full_overlap`, `leftover`, `serialise`."""
    pending_depth: int = 0
    refuses_even: bool = False
    """Whether each map of a contiguous resource refuses every second request: only with queues at the modules."""
    progress: dict[str, Any] = field(default_factory=lambda: {"name": "constant"})
    """`constant`, `shared_rate` (law: `linear`, `capacity` or `table`; value: text or list of texts; of)."""


@dataclass
class Case:
    """A run: machine, rows in the order of their arrival, levers, and the size of the clusters of some kernels."""

    machine: Machine
    groups: list[Group]
    levers: Levers = field(default_factory=Levers)
    clusters: dict[int, int] = field(default_factory=dict)


@dataclass
class Item:
    """A group, or a sub-group of one wave after a split (`part` counts them; -1 is the whole group)."""

    group: int
    part: int
    waves: int
    priority: int
    demand: dict[str, int]
    left: int
    """Work left, in units of 2^-20 cycle (R25)."""
    dispatched: int | None = None
    start: int | None = None
    end: int | None = None
    module: int | None = None


@dataclass
class Module:
    """What is free in a module, which items hold pieces of it, and which wait in its queue."""

    free: dict[str, list[Any]]
    """Of each resource one entry a unit, or one for the module: a count, or a list of blocks, True if free."""
    held: dict[int, list[tuple[str, int, int, int]]]
    """Of each resident item its pieces: resource, unit, first block (0 if countable), amount."""
    waiting: list[int]
    pointer: int = 0
    requests: Counter[tuple[str, int]] = field(default_factory=Counter)
    """Of each map of a contiguous resource, the requests to it."""
    try_at: int = 0
    """The cycle before which the first of `waiting` is not tried again, as it was refused (E9)."""


def empty_module(machine: Machine) -> Module:
    """Return a module with nothing in it."""
    free: dict[str, list[Any]] = {}
    for resource in machine.all_resources():
        places = machine.units if resource.level == "unit" else 1
        blocks = resource.kind == "contiguous"
        free[resource.name] = [[True] * resource.total if blocks else resource.total for _ in range(places)]
    return Module(free, {}, [])


def waves_of_units(waves: int, units: int, rotation: str, pointer: int) -> list[int]:
    """Return the waves of each unit: balanced (spec 3, R60), then rotated (R62 to R64)."""
    plain = [waves // units + (unit < waves % units) for unit in range(units)]
    turn = {"none": 0, "tail": pointer + 1, "head": pointer}[rotation] % units
    rotated = [0] * units
    for unit, count in enumerate(plain):
        rotated[(unit + turn) % units] = count
    return rotated


def pieces(case: Case, item: Item, module: Module) -> list[tuple[str, int, int]]:
    """Return what an item needs of a module: resource, unit, amount."""
    machine, needs = case.machine, []
    units = waves_of_units(item.waves, machine.units, case.levers.rotation, module.pointer)
    for resource in machine.all_resources():
        amount = int(item.waves > 1) if resource.name == BARRIERS else item.demand.get(resource.name, 0)
        if resource.level == "unit":
            needs += [(resource.name, unit, waves * amount) for unit, waves in enumerate(units)]
        else:
            needs.append((resource.name, 0, amount))
    return needs


def first_run(blocks: list[bool], amount: int) -> int:
    """Return the lowest start of a free run of that length, or -1."""
    for start in range(len(blocks) - amount + 1):
        if all(blocks[start : start + amount]):
            return start
    return -1


def report(free: Any) -> int:
    """Return the free count, or the longest free run."""
    if isinstance(free, int):
        return free
    return max(length for length in range(len(free) + 1) if first_run(free, length) >= 0)


def fits(case: Case, item: Item, module: Module) -> bool:
    """Return whether an item can take its resources in a module now (spec 3, R5 and R6)."""
    return all(amount <= report(module.free[name][unit]) for name, unit, amount in pieces(case, item, module))


def lacks(case: Case, item: Item, module: Module) -> dict[str, int]:
    """Return the amounts that an item lacks in a module, summed over the units of each resource. Empty if it fits."""
    missing: Counter[str] = Counter()
    for name, unit, amount in pieces(case, item, module):
        missing[name] += max(0, amount - report(module.free[name][unit]))
    return {name: amount for name, amount in missing.items() if amount}


def take(case: Case, number: int, item: Item, module: Module) -> bool:
    """Let an item take its pieces, contiguous ones at the lowest start, and turn the pointer of the module.

    False if a map refused: then nothing is taken, but the requests count.
    """
    module.held[number] = []
    for name, unit, amount in pieces(case, item, module):
        start = 0
        if isinstance(module.free[name][unit], int):
            module.free[name][unit] -= amount
        else:
            module.requests[name, unit] += amount > 0
            if case.levers.refuses_even and amount and module.requests[name, unit] % 2 == 0:
                give_back(number, module)
                return False
            start = first_run(module.free[name][unit], amount)
            module.free[name][unit][start : start + amount] = [False] * amount
        module.held[number].append((name, unit, start, amount))
    if case.levers.rotation != "none":
        module.pointer = (module.pointer + item.waves) % case.machine.units
    return True


def give_back(number: int, module: Module) -> None:
    """Free all pieces of an item."""
    for name, unit, start, amount in module.held.pop(number):
        if isinstance(module.free[name][unit], int):
            module.free[name][unit] += amount
        else:
            module.free[name][unit][start : start + amount] = [True] * amount


def free_amount(module: Module, name: str) -> int:
    """Return how much of a resource is free in a module, over all units, in whatever pieces."""
    return sum(entry if isinstance(entry, int) else sum(entry) for entry in module.free[name])


def groups_a_module(
    waves: int,
    *,
    group_slots: int | None = None,
    wave_slots: int | None = None,
    registers_a_wave: int = 0,
    register_granule: int = 1,
    registers_a_partition: int | None = None,
    partitions: int = 1,
    shared_a_group: int = 0,
    shared_granule: int = 1,
    shared_reserve: int = 0,
    shared_memory: int | None = None,
    barriers_a_module: int = 0,
) -> tuple[int | None, dict[str, int], list[str]]:
    """Return the number of equal groups a module holds, each limit, and the limits that bind (R3). None: no limit."""
    limits: dict[str, int] = {}
    if group_slots is not None:
        limits["group_slots"] = group_slots
    if wave_slots is not None:
        limits["wave_slots"] = wave_slots // waves
    if registers_a_partition is not None and registers_a_wave:
        granules = math.ceil(registers_a_wave / register_granule)
        waves_that_fit = registers_a_partition // (granules * register_granule) * partitions
        limits["registers"] = waves_that_fit // waves
    if shared_memory is not None and shared_a_group + shared_reserve:
        granules = math.ceil((shared_a_group + shared_reserve) / shared_granule)
        limits["shared_memory"] = shared_memory // (granules * shared_granule)
    if barriers_a_module and waves > 1:
        limits[BARRIERS] = barriers_a_module
    least = min(limits.values(), default=None)
    return least, limits, [name for name, limit in limits.items() if limit == least]


def refusals(case: Case) -> list[str]:
    """Return the reasons to refuse a run at loading, in the order of the requirements. Empty if it is played."""
    groups, levers, faults = case.groups, case.levers, []
    for kernel, size in case.clusters.items():
        members = [row for row, group in enumerate(groups) if group.kernel == kernel]
        if len(members) % size:
            faults.append("R10: the groups of a kernel are no multiple of its cluster")
        for first in range(0, len(members), size):
            cluster = members[first : first + size]
            queue = in_channel(groups, groups[cluster[0]].channel)
            place = queue.index(cluster[0])
            if queue[place : place + size] != cluster:
                faults.append("R10: a cluster in two channels, or with another group between its groups")
            if len({groups[row].priority for row in cluster}) > 1:
                faults.append("R10: a cluster with two priorities")
        if size > 1 and levers.pending_depth:
            faults.append("R14: clusters with queues at the modules")
    if all(group.endless for group in groups):
        faults.append("R16: only endless groups")
    if levers.concurrency != "full_overlap":
        order = kernel_order(groups)
        for channel in {group.channel for group in groups}:
            ranks = [order.index(groups[row].kernel) for row in in_channel(groups, channel)]
            if ranks != sorted(ranks):
                faults.append("R21: a group stands before one of an earlier kernel")
    rates = rates_of(levers.progress, sum(group.waves for group in groups))
    if rates[0] != ONE:
        faults.append("R24: law(1) is not 1")
    if 0 in rates:
        faults.append("R25: a rate of 0")
    if any(group.duration < 1 for group in groups):
        faults.append("a duration below one cycle")
    return faults


def in_channel(groups: list[Group], channel: int) -> list[int]:
    """Return the rows of a channel in the order of their arrival, ties in the order of the rows."""
    rows = [row for row, group in enumerate(groups) if group.channel == channel]
    return sorted(rows, key=lambda row: groups[row].arrival)


def kernel_order(groups: list[Group]) -> list[int]:
    """Return the kernels in the order of their first groups: cycle, channel, place in the channel (R21)."""
    rows = sorted(range(len(groups)), key=lambda row: (groups[row].arrival, groups[row].channel, row))
    return list(dict.fromkeys(groups[row].kernel for row in rows))
