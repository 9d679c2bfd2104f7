"""Slow twin of specification 7 with the dispatch of specification 3: one cycle at a time, from the text alone.

`play(case)` returns a `Result`. What the text leaves open stands in `between_undefined`.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from fractions import Fraction

from tests.oracles import between_rates
from tests.oracles.between_rules import (
    WAIT,
    Head,
    Offer,
    World,
    admits,
    bound_die,
    choose,
    give_number,
    heads,
    offer,
    select,
)
from tests.oracles.between_state import Case, Item, Module, empty_module, fits, give_back, lacks, refusals, take

MOST_CYCLES = 100_000
"""Upper bound on the cycles of a run; a run beyond it is a fault of the twin."""
MOST_TRIES = 100
"""Refusals after which a run hangs: more than the maps of any case need until they grant all that an item takes."""


@dataclass
class Row:
    """Times and module of a group (part -1) or of a sub-group. None: it never happened."""

    group: int
    part: int
    dispatched: int | None
    start: int | None
    end: int | None
    module: int | None


@dataclass
class Lack:
    """Why a group or sub-group of a hung run waits (R18)."""

    group: int
    part: int
    why: str
    """`lacks`, `not_admitted`, `told_to_wait`, `blocked`, `queue_full`, `cluster` or `behind`."""
    module: int | None = None
    die: int | None = None
    missing: dict[str, int] = field(default_factory=dict)


@dataclass
class Result:
    """What happened in a run."""

    outcome: str
    """`finished`, `hung`, or `starved`: a neutral run that is stuck."""
    groups: list[Row]
    parts: list[Row]
    """The sub-groups of split groups, in the order of the splits."""
    hung_at_cycle: int | None
    groups_never_started: int
    groups_at_barrier: int
    lacks: list[Lack]
    failed_rounds: int
    issued: dict[tuple[int, int], Fraction]
    """(module, cycle): the instructions issued there. Cycles in which nothing is issued are left out."""


def play(case: Case) -> Result:
    """Play a run until it has finished or hangs."""
    faults = refusals(case)
    if faults:
        raise ValueError(faults[0])
    return _Run(case).play()


class _Run:
    def __init__(self, case: Case) -> None:
        self.case = case
        items = [
            Item(row, -1, group.waves, group.priority, dict(group.demand), group.duration * between_rates.ONE)
            for row, group in enumerate(case.groups)
        ]
        channels: dict[int, list[int]] = {channel: [] for channel in range(1 + max(g.channel for g in case.groups))}
        modules = [empty_module(case.machine) for _ in range(case.machine.modules())]
        self.world = World(case, items, {row: [row] for row in range(len(items))}, channels, modules)
        self.fails = 0
        self.failed_cycles: list[int] = []
        self.last_event = 0
        self.tries = 0
        """Refusals to the first ones of queues since the last event."""
        self.changed = True
        self.issued: dict[tuple[int, int], Fraction] = {}

    def play(self) -> Result:
        """Play cycle after cycle: arrivals, releases, queues of the modules, the round, the work of the cycle."""
        world = self.world
        for world.cycle in range(MOST_CYCLES):
            self.arrivals()
            self.releases()
            if all(world.ended(row) for row, group in enumerate(self.case.groups) if not group.endless):
                self.end_endless()
                return self.result("finished")
            self.module_queues()
            if world.cycle % self.case.levers.round_cycles == 0 and not self.round() and self.nothing_can_come():
                return self.result("starved" if self.neutral() else "hung")
            self.work()
        raise RuntimeError("the run has no end")

    def event(self) -> None:
        """Note an arrival, a start, an end or a split: the next round may go differently."""
        self.last_event = self.world.cycle
        self.changed = True
        self.tries = 0

    def arrivals(self) -> None:
        for row, group in enumerate(self.case.groups):
            if group.arrival == self.world.cycle:
                self.world.channels[group.channel].append(row)
                self.event()

    def releases(self) -> None:
        for module in self.world.modules:
            for number in list(module.held):
                if self.works(number) and self.world.items[number].left <= 0:
                    self.end(number, module)

    def end(self, number: int, module: Module) -> None:
        give_back(number, module)
        module.try_at = 0
        self.world.items[number].end = self.world.cycle
        self.event()

    def end_endless(self) -> None:
        for module in self.world.modules:
            for number in list(module.held):
                self.end(number, module)

    def module_queues(self) -> None:
        for index, module in enumerate(self.world.modules):
            while module.waiting and module.try_at <= self.world.cycle:
                number = module.waiting[0]
                if not fits(self.case, self.world.items[number], module):
                    break
                if not self.take(number, module):
                    self.tries += 1
                    break
                del module.waiting[0]
                self.start(number, index)

    def take(self, number: int, module: Module) -> bool:
        """Let an item take its resources. If it is refused, it is tried again in the next round (E9)."""
        if take(self.case, number, self.world.items[number], module):
            return True
        rounds = self.case.levers.round_cycles
        module.try_at = (self.world.cycle // rounds + 1) * rounds
        return False

    def start(self, number: int, module: int) -> None:
        """Note the start of an item that has taken its resources."""
        item = self.world.items[number]
        item.start, item.module = self.world.cycle, module
        self.event()

    def round(self) -> bool:
        """Play a round and return whether it dispatched or split anything."""
        world, levers, dispatches = self.world, self.case.levers, 0
        if not heads(world):
            return False
        if self.changed:
            while levers.dispatches_a_round is None or dispatches < levers.dispatches_a_round:
                now = heads(world)
                offers = [each for head in now if isinstance(each := offer(world, head), Offer)]
                chosen = select(world, now, offers)
                if chosen is None:
                    break
                self.dispatch(chosen)
                dispatches += 1
        # A round that failed fails again until something happens: no rule of the twin looks at the cycle.
        self.changed = dispatches > 0
        if dispatches:
            self.fails = 0
            return True
        self.failed_cycles.append(world.cycle)
        return self.split()

    def dispatch(self, chosen: Offer) -> None:
        """Take a head out of its channel and put it on its modules, or into the queue of one."""
        world, head = self.world, chosen.head
        give_number(world, head)
        del world.channels[head.channel][: len(head.numbers)]
        for number in head.numbers:
            world.items[number].dispatched = world.cycle
        if chosen.trial:
            world.modules, world.memory = chosen.trial.modules, chosen.trial.memory
            for number, module in zip(head.numbers, chosen.trial.chosen):
                self.start(number, module)
            return
        number = head.numbers[0]
        item = world.items[number]
        module = choose(self.case, world.modules, world.memory, chosen.modules, chosen.place)
        item.module = module
        empty = not world.modules[module].waiting
        if empty and fits(self.case, item, world.modules[module]) and self.take(number, world.modules[module]):
            self.start(number, module)
        else:
            world.modules[module].waiting.append(number)

    def split(self) -> bool:
        """Count a failed round; above the threshold split all flagged heads. Return whether one was split."""
        levers, world = self.case.levers, self.world
        if levers.split_threshold is None:
            return False
        self.fails = min(self.fails + 1, levers.split_threshold + 1)
        flagged = [head for head in heads(world) if self.splittable(head)]
        if self.fails <= levers.split_threshold or not flagged:
            return False
        for head in flagged:
            whole = world.items[head.numbers[0]]
            lowest = max(group.priority for group in self.case.groups)
            priority = whole.priority if levers.split_priority == "inherit" else lowest
            first = len(world.items)
            world.items += [
                Item(whole.group, part, 1, priority, dict(whole.demand), whole.left) for part in range(whole.waves)
            ]
            world.parts[whole.group] = list(range(first, len(world.items)))
            world.channels[head.channel][:1] = world.parts[whole.group]
        self.fails = 0
        self.event()
        return True

    def splittable(self, head: Head) -> bool:
        item = self.world.items[head.numbers[0]]
        group = self.case.groups[item.group]
        whole = item.part == -1 and self.world.cluster_size(item.group) == 1
        return whole and group.independent and group.waves > 1

    def nothing_can_come(self) -> bool:
        """Return whether no arrival, start, end or split can come after a round that dispatched nothing (R17)."""
        world = self.world
        arrivals = any(group.arrival > world.cycle for group in self.case.groups)
        ends = any(self.works(number) for module in world.modules for number in module.held)
        flagged = self.case.levers.split_threshold is not None and any(map(self.splittable, heads(world)))
        refused = self.tries < MOST_TRIES and any(module.try_at > world.cycle for module in world.modules)
        return not (arrivals or ends or flagged or refused)

    def passed(self, barrier: int) -> bool:
        """Return whether all groups that name a barrier have started."""
        rows = [row for row, group in enumerate(self.case.groups) if group.barrier == barrier]
        return barrier == -1 or all(map(self.world.started, rows))

    def works(self, number: int) -> bool:
        """Return whether the work of a resident item lessens."""
        group = self.case.groups[self.world.items[number].group]
        return not group.endless and self.passed(group.barrier)

    def work(self) -> None:
        """Lessen the work of one cycle at the rate of each module."""
        items = self.world.items
        for index, module in enumerate(self.world.modules):
            if not module.held:
                continue
            waves = sum(items[number].waves for number in module.held)
            rate = between_rates.rate(self.case.levers.progress, len(module.held), waves)
            for number in module.held:
                group = self.case.groups[items[number].group]
                if self.passed(group.barrier) and group.instructions:
                    place = (index, self.world.cycle)
                    issue = between_rates.issue(group.instructions, group.duration, rate)
                    self.issued[place] = self.issued.get(place, Fraction(0)) + issue
                if self.works(number):
                    items[number].left -= rate

    def neutral(self) -> bool:
        """Return whether a run has none of the mechanisms of specification 7."""
        levers = self.case.levers
        names = levers.die["name"], levers.admission["name"], levers.concurrency, levers.progress["name"]
        quiet = all(group.barrier == -1 and not group.endless for group in self.case.groups)
        no_limits = not (levers.pending_depth or self.case.machine.barriers_a_module or levers.closed[0])
        clusters = any(size > 1 for size in self.case.clusters.values())
        return names == ("any_die", "open_to_all", "full_overlap", "constant") and quiet and no_limits and not clusters

    def result(self, outcome: str) -> Result:
        world, finished = self.world, outcome == "finished"
        groups = [self.row(row) for row in range(len(self.case.groups))]
        parts = [item for item in world.items if item.part >= 0]
        started = [row for row in range(len(groups)) if world.started(row)]
        barriers = [row for row in started if not self.passed(self.case.groups[row].barrier)]
        waiting = [number for row in range(len(groups)) for number in world.parts[row]]
        return Result(
            outcome,
            groups,
            [Row(item.group, item.part, item.dispatched, item.start, item.end, item.module) for item in parts],
            None if finished else self.last_event,
            0 if finished else len(groups) - len(started),
            0 if finished else len(barriers),
            [] if finished else [self.lack(number) for number in waiting if world.items[number].start is None],
            sum(finished or cycle <= self.last_event for cycle in self.failed_cycles),
            self.issued,
        )

    def row(self, group: int) -> Row:
        items = [self.world.items[number] for number in self.world.parts[group]]
        dispatched = min((item.dispatched for item in items if item.dispatched is not None), default=None)
        starts, ends = [item.start for item in items], [item.end for item in items]
        start = None if None in starts else max(starts)  # type: ignore[type-var]
        end = None if None in ends else max(ends)  # type: ignore[type-var]
        return Row(group, -1, dispatched, start, end, items[0].module if items[0].part == -1 else None)

    def lack(self, number: int) -> Lack:
        """Return why an item waits, and what it lacks on the best module (R18)."""
        world, item = self.world, self.world.items[number]
        queues = [index for index, module in enumerate(world.modules) if number in module.waiting]
        head = next((head for head in heads(world) if number in head.numbers), None)
        admitted = [index for index in range(len(world.modules)) if admits(world, world.modules, item, index)]
        if not queues and not admitted:
            return Lack(item.group, item.part, "not_admitted")
        if head and offer(world, head) == WAIT:
            return Lack(item.group, item.part, "told_to_wait", die=bound_die(world, head))
        best = min(queues or admitted, key=lambda index: (self.share(item, index), index))
        missing = lacks(self.case, item, world.modules[best])
        if missing:
            return Lack(item.group, item.part, "lacks", best, missing=missing)
        return Lack(item.group, item.part, self.why(head, item), best)

    def why(self, head: Head | None, item: Item) -> str:
        """Return why an item waits that lacks nothing on a module."""
        if head is None:
            return "behind"
        if isinstance(offer(self.world, head), Offer):
            return "blocked"
        return "cluster" if self.world.cluster_size(item.group) > 1 else "queue_full"

    def share(self, item: Item, index: int) -> Fraction:
        """Return the largest share of a resource's total that an item lacks in a module."""
        missing = lacks(self.case, item, self.world.modules[index])
        units = self.case.machine.units
        totals = {
            each.name: each.total * (units if each.level == "unit" else 1) for each in self.case.machine.all_resources()
        }
        return max((Fraction(missing[name], max(1, totals[name])) for name in missing), default=Fraction(0))
