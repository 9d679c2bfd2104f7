"""Answers of specification 7: admission, die, module choice, clusters and channel selection, for its slow twin."""

from __future__ import annotations

import copy
import math
from collections.abc import Hashable
from dataclasses import dataclass, field
from fractions import Fraction

from tests.oracles.between_state import Case, Item, Module, fits, free_amount, kernel_order, take

ALL = "ALL"
WAIT = "WAIT"


@dataclass
class World:
    """Everything that a run remembers."""

    case: Case
    items: list[Item]
    parts: dict[int, list[int]]
    """Of each group its items: itself, or its sub-groups after a split."""
    channels: dict[int, list[int]]
    """Of each channel the arrived items that are not dispatched, in order."""
    modules: list[Module]
    memory: dict[Hashable, int] = field(default_factory=dict)
    """The last module of round robin: one for each die, one for ALL (E8)."""
    given: dict[int, dict[str, int]] = field(default_factory=dict)
    """Of each dispatched group (a cluster: its first group) its numbers by channel and by all."""
    dispatched_of: dict[str | int, int] = field(default_factory=dict)
    """How many groups or clusters were dispatched: of each channel, and of `all`."""
    last_channel: int = -1
    marks: set[tuple[int, int]] = field(default_factory=set)
    """(channel, priority)."""
    cycle: int = 0

    def number_in_kernel(self, group: int) -> int:
        """Return the number of a group in its kernel."""
        kernel = self.case.groups[group].kernel
        return [row for row, other in enumerate(self.case.groups) if other.kernel == kernel].index(group)

    def cluster_size(self, group: int) -> int:
        """Return the size of the cluster that a group belongs to; 1 is none."""
        return self.case.clusters.get(self.case.groups[group].kernel, 1)

    def started(self, group: int) -> bool:
        """Return whether a group, or the last of its sub-groups, has started."""
        return all(self.items[number].start is not None for number in self.parts[group])

    def ended(self, group: int) -> bool:
        """Return whether a group, or the last of its sub-groups, has ended."""
        return all(self.items[number].end is not None for number in self.parts[group])


@dataclass
class Head:
    """A group, a sub-group or a cluster at the front of a channel."""

    channel: int
    numbers: list[int]
    priority: int


@dataclass
class Offer:
    """A head that can be dispatched: where its modules compete (a die or ALL), and for a cluster its placement."""

    head: Head
    place: Hashable
    modules: list[int]
    trial: Trial | None = None


@dataclass
class Trial:
    """What a placed cluster leaves behind: the modules, the memory of the choice, and the module of each group."""

    modules: list[Module]
    memory: dict[Hashable, int]
    chosen: list[int]


def heads(world: World) -> list[Head]:
    """Return the head of each channel that has one."""
    fronts = []
    for channel, queue in sorted(world.channels.items()):
        if not queue:
            continue
        group = world.items[queue[0]].group
        size = world.cluster_size(group)
        numbers = queue[:size]
        if len(numbers) == size:
            fronts.append(Head(channel, numbers, world.items[queue[0]].priority))
    return fronts


def admits(world: World, modules: list[Module], item: Item, module: int) -> bool:
    """Return whether an item may go to a module (R19 to R21, R26). Residents are those with pieces or in the queue."""
    case = world.case
    group, rule = case.groups[item.group], case.levers.admission
    last, kernel = case.levers.closed
    if module >= len(modules) - last and group.kernel != kernel:
        return False
    if not _may_run(world, group.kernel):
        return False
    if rule["name"] == "open_to_all":
        return True
    if rule["name"] in ("partition_by_channel", "partition_by_kernel"):
        index = group.channel if rule["name"] == "partition_by_channel" else group.kernel
        if index in rule["modules"]:
            return module in rule["modules"][index]
        return bool(rule["others"] == "everywhere")
    present = [[case.groups[world.items[n].group] for n in [*each.held, *each.waiting]] for each in modules]
    if rule["name"] == "share_by_channel":
        exact = Fraction(str(rule["share"])) * len(modules)
        most = max(1, math.floor(exact) if rule["round"] == "down" else math.ceil(exact))
        mine = [n for n, residents in enumerate(present) if any(one.channel == group.channel for one in residents)]
        return module in mine or len(mine) < most
    if rule["name"] == "exclusive":
        return all(one.kernel == group.kernel for one in present[module])
    raise ValueError(f"no admission {rule}")


def _may_run(world: World, kernel: int) -> bool:
    """Return whether the kernels before this one have started (`leftover`) or ended (`serialise`)."""
    rule = world.case.levers.concurrency
    if rule == "full_overlap":
        return True
    order = kernel_order(world.case.groups)
    before = order[: order.index(kernel)]
    groups = [row for row, group in enumerate(world.case.groups) if group.kernel in before]
    return all(world.started(row) if rule == "leftover" else world.ended(row) for row in groups)


def has_room(world: World, modules: list[Module], item: Item, module: int) -> bool:
    """Return whether a module can take an item now, on its resources or into its queue (R22)."""
    depth, case, empty = world.case.levers.pending_depth, world.case, not modules[module].waiting
    if empty and fits(case, item, modules[module]):
        return True
    return len(modules[module].waiting) < depth and fits_when_empty(world, item, module)


def fits_when_empty(world: World, item: Item, module: int) -> bool:
    """Return whether the totals of a module are enough for an item."""
    cleared = copy.deepcopy(world.modules[module])
    for resource in world.case.machine.all_resources():
        full = [True] * resource.total if resource.kind == "contiguous" else resource.total
        cleared.free[resource.name] = [copy.copy(full) for _ in cleared.free[resource.name]]
    return fits(world.case, item, cleared)


def offer(world: World, head: Head) -> Offer | str | None:
    """Return where a head can go, the text `WAIT` if it is told to wait, or None if it fits no admitted module."""
    machine = world.case.machine
    dies = range(len(machine.dies))
    item = world.items[head.numbers[0]]
    if world.cluster_size(item.group) > 1:
        return _offer_of_cluster(world, head)
    room = [
        module
        for module in range(machine.modules())
        if admits(world, world.modules, item, module) and has_room(world, world.modules, item, module)
    ]
    if not room:
        return None
    answer = ask_die(world, head, [sum(machine.die_of(module) == die for module in room) for die in dies])
    if answer == WAIT:
        return WAIT
    return Offer(head, answer, [module for module in room if answer in (ALL, machine.die_of(module))])


def _offer_of_cluster(world: World, head: Head) -> Offer | str | None:
    """Return where a cluster can go: each die is tried on copies (R11 to R13)."""
    any_die = world.case.levers.die["name"] == "any_die"
    trials = {
        die: try_cluster(world, head, die, ALL if any_die else die) for die in range(len(world.case.machine.dies))
    }
    if not any(trials.values()):
        return None
    answer = ask_die(world, head, [int(trial is not None) for trial in trials.values()])
    if answer == WAIT:
        return WAIT
    if answer == ALL:
        answer = min(die for die, trial in trials.items() if trial)
    return Offer(head, answer, [], trials[int(answer)])


def try_cluster(world: World, head: Head, die: int, key: Hashable) -> Trial | None:
    """Return the placement of a cluster in a die, on copies of the modules and of the memory, or None."""
    machine, levers = world.case.machine, world.case.levers
    in_die = [machine.die_of(module) == die for module in range(machine.modules())]
    modules = [copy.deepcopy(each) if inside else each for each, inside in zip(world.modules, in_die)]
    memory, chosen = dict(world.memory), []
    for number in head.numbers:
        item = world.items[number]
        candidates = [
            module
            for module in range(machine.modules())
            if in_die[module]
            and not (levers.spread and module in chosen)
            and admits(world, modules, item, module)
            and fits(world.case, item, modules[module])
        ]
        if not candidates:
            return None
        module = choose(world.case, modules, memory, candidates, key)
        take(world.case, number, item, modules[module])
        chosen.append(module)
    return Trial(modules, memory, chosen)


def ask_die(world: World, head: Head, room: list[int]) -> int | str:
    """Return the answer of the slot `die` (R4 to R9). `room` counts the admitted modules of each die that fit."""
    rule, dies = world.case.levers.die, len(room)
    fitting = [die for die in range(dies) if room[die]]
    if rule["name"] == "any_die":
        return ALL
    if rule["name"] == "first_die":
        return fitting[0]
    if rule["name"] == "most_free_die":
        item = world.items[head.numbers[0]]
        amounts = [0] * dies
        for module, state in enumerate(world.modules):
            if admits(world, world.modules, item, module):
                amounts[world.case.machine.die_of(module)] += free_amount(state, rule["resource"])
        return min(fitting, key=lambda die: (-amounts[die], die))
    mine = bound_die(world, head)
    if rule["name"] == "round_robin_dies" and rule["binding"] == "skip":
        return next(die % dies for die in range(mine, mine + dies) if room[die % dies])
    return mine if room[mine] else WAIT


def bound_die(world: World, head: Head) -> int:
    """Return the die that a head belongs to (R6, R7, E3, E6)."""
    rule, dies = world.case.levers.die, len(world.case.machine.dies)
    group = world.items[head.numbers[0]].group
    size = world.cluster_size(group)
    in_kernel = world.number_in_kernel(group) // size
    if rule["name"] == "contiguous_dies":
        kernel = world.case.groups[group].kernel
        count = sum(other.kernel == kernel for other in world.case.groups) // size
        return in_kernel * dies // count
    if rule["by"] == "kernel":
        number = in_kernel
    elif group in world.given:
        number = world.given[group][rule["by"]]
    else:
        number = world.dispatched_of.get(head.channel if rule["by"] == "channel" else ALL, 0)
    return number // rule["chunk"] % dies


def give_number(world: World, head: Head) -> None:
    """Give a head that is dispatched its numbers. A split group gets them with its first sub-group (E6)."""
    group = world.items[head.numbers[0]].group
    if group in world.given:
        return
    before = {"channel": world.dispatched_of.get(head.channel, 0), "all": world.dispatched_of.get(ALL, 0)}
    world.given[group] = before
    world.dispatched_of[head.channel] = before["channel"] + 1
    world.dispatched_of[ALL] = before["all"] + 1


def choose(case: Case, modules: list[Module], memory: dict[Hashable, int], candidates: list[int], key: Hashable) -> int:
    """Return the module that the choice takes, and let round robin remember it under the key of its die or ALL."""
    levers, count = case.levers, len(modules)
    if levers.choice == "first_module":
        return min(candidates)
    if levers.choice == "round_robin":
        last = memory.get(key, count - 1)
        memory[key] = min(candidates, key=lambda module: (module - last - 1) % count)
        return memory[key]
    sign = {"most_free": -1, "best_fit": 1}[levers.choice]
    return min(candidates, key=lambda module: (sign * free_amount(modules[module], levers.choice_resource), module))


def select(world: World, heads_now: list[Head], offers: list[Offer]) -> Offer | None:
    """Return the offer that is dispatched next, or None, and change turn and marks."""
    rule = world.case.levers.selection
    if not offers:
        return None
    if rule == "in_turn":
        count = 1 + max(world.channels)
        chosen = min(offers, key=lambda each: (each.head.channel - world.last_channel - 1) % count)
        world.last_channel = chosen.head.channel
        return chosen
    if rule == "strict_priority":
        return min(offers, key=lambda each: (each.head.priority, each.head.channel))
    if rule == "strict_blocking":
        top = min(head.priority for head in heads_now)
        highest = [each for each in offers if each.head.priority == top]
        return min(highest, key=lambda each: each.head.channel, default=None)
    if rule == "served_marks":
        priority = min(each.head.priority for each in offers)
        equals = sorted((each for each in offers if each.head.priority == priority), key=lambda each: each.head.channel)
        return equals[0] if len(equals) == 1 else _by_marks(world, priority, equals)
    raise ValueError(f"no selection {rule}")


def _by_marks(world: World, priority: int, equals: list[Offer]) -> Offer:
    """Return the lowest channel without a mark and mark it. If all have one, take the lowest and clear the others'."""
    unmarked = [each for each in equals if (each.head.channel, priority) not in world.marks]
    if unmarked:
        world.marks.add((unmarked[0].head.channel, priority))
        return unmarked[0]
    world.marks -= {(each.head.channel, priority) for each in equals[1:]}
    return equals[0]
