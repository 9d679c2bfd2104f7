"""One card's dispatcher under a node's load, by chance: groups come, are cancelled, end when somebody says so.

The same plan is played by the dispatcher of the node's twin and by the part, each on the twin's calendar.
"""

from __future__ import annotations

from functools import partial
from random import Random
from typing import Any, NamedTuple

import numpy as np

from tests.engines.dispatch_cases import Case, Row
from tests.engines.dispatch_stepping import part_of
from tests.oracles.node.calendar import Calendar, Key, Rank
from tests.oracles.node.description import Dispatch, Kernel, Policies
from tests.oracles.node.dispatcher import Dispatcher
from tests.oracles.node.log import Log
from workbench.compiled import kernel
from workbench.compiled.memory_access import Referent, entry_of
from workbench.engines.dispatch.channels import CANCELLED, ENDED, FAILED, FIELDS, GRANTED, SPLIT, VERDICT
from workbench.engines.dispatch.choice import ROUTINE, RUN
from workbench.engines.dispatch.state import COUNT
from workbench.engines.kit.order import RANK, cycle_of, rank_of
from workbench.policies.dispatch import (
    Affinity,
    FirstModule,
    LeastRecentActivity,
    LeastWaves,
    NeverSplit,
    SplitWhenStuck,
    StrictPriority,
)
from workbench.policies.placement import BestFit, FirstFit, NearestBoundary
from workbench.structures.timetable import NEVER

CLASSES = ("move", "load", "store", "matrix", "compare", "jump", "translation_stall", "lock_wait")
WEIGHTS = (1, 4, 4, 16, 1, 2, 3, 5)
STALL, LOCK = 6, 7
PLACEMENTS = {"first_fit": FirstFit(), "nearest_boundary": NearestBoundary(), "best_fit": BestFit()}
Message = tuple[Any, ...]


class Phase(NamedTuple):
    """Compute, and then waiting, of a group."""

    cycles: int
    amounts: tuple[int, ...]
    """Instructions of each class, of the whole group."""
    wait: int


class Group(NamedTuple):
    """A group of the plan."""

    arrival: int
    application: int
    priority: int
    waves: int
    independent: bool
    need: tuple[int, int, int]
    """Register blocks a wave, scalar ones a wave, segments a group."""
    phases: tuple[Phase, ...]


class Executed(NamedTuple):
    """What is entered of a module's past."""

    kind: int
    first: int
    cycles: int
    amount: int


class Plan(NamedTuple):
    """What happens, whatever the dispatcher does."""

    modules: int
    units: int
    slots: int
    options: dict[str, int]
    choice: str
    window: int
    threshold: int
    """Failed rounds before a split; -1 = none is split."""
    registers: str
    shared: str
    groups: list[Group]
    cancels: list[tuple[int, int]]
    """Cycle and application."""

    def of_application(self, application: int) -> range:
        """The rows of an application's groups."""
        rows = [row for row, group in enumerate(self.groups) if group.application == application]
        return range(rows[0], rows[-1] + 1)


def drawn_plan(seed: int, choice: str) -> Plan:
    """A plan by chance, crowded enough that groups wait, and some are split."""
    random = Random(seed)
    groups, at = list[Group](), 0
    for row in range(30):
        at += random.choice([0, 0, 2, 9])
        need = (random.choice([1, 3]), 1, random.choice([0, 5, 11]))
        phases = tuple(drawn_phase(random) for _ in range(random.choice([1, 2, 3])))
        waves, priority = random.choice([1, 2, 3, 4]), random.choice([1, 2, 3, 4])
        groups.append(Group(at, row // 8, priority, waves, random.random() < 0.5, need, phases))
    groups.append(Group(at, 4, 4, 1, False, (1, 1, 0), (Phase(5, (0,) * 6, 0),)))
    return Plan(
        modules=random.choice([1, 2, 4]),
        units=random.choice([1, 2]),
        slots=random.choice([4, 6]),
        options={"dispatches_a_round": random.choice([1, 3]), "round_cycles": random.choice([1, 5])},
        choice=choice,
        window=random.choice([16, 64, 1024]),
        threshold=random.choice([-1, 4, 40]),
        registers=random.choice(list(PLACEMENTS)),
        shared=random.choice(list(PLACEMENTS)),
        groups=groups,
        cancels=[(random.randrange(at + 200), one) for one in range(4) if random.random() < 0.6],
    )


def drawn_phase(random: Random) -> Phase:
    amounts = tuple(random.choice([0, 0, 7, 50]) for _ in range(6))
    return Phase(random.choice([0, 1, 6, 45]), amounts, random.choice([0, 0, 13, 60]))


def pages_of(group: int, wave: int, module: int) -> int:
    """How many pages of a group a module is said to hold."""
    return (7 * group + 3 * module + 5 * (wave + 1)) % 4


def life_of(plan: Plan, row: int, wave: int, at: int) -> tuple[int, list[Executed], list[Executed]]:
    """When what begins at a cycle ends; what it executes, known at its begin; what it waited for, known at its end."""
    group, known, late = plan.groups[row], list[Executed](), list[Executed]()
    for number, phase in enumerate(group.phases):
        known += [
            Executed(kind, at, phase.cycles, share(group, wave, amount)) for kind, amount in enumerate(phase.amounts)
        ]
        at += phase.cycles
        kind = (STALL, LOCK)[number % 2]
        late += [Executed(kind, at, phase.wait, phase.wait)] if phase.wait else []
        at += phase.wait
    return at, known, late


def share(group: Group, wave: int, amount: int) -> int:
    """A sub-group's share of a group's instructions: the first waves have the remainder."""
    return amount if wave < 0 else amount // group.waves + (wave < amount % group.waves)


# The twin ------------------------------------------------------------------------------------------------------------


class Task:
    """What the twin's dispatcher has in its channels."""

    def __init__(self, twin: Twin, key: Key, urgency: int) -> None:
        group = twin.plan.groups[key.group]
        self.key, self.urgency, self._twin = key, urgency, twin
        self.kernel = Kernel(1, group.waves, *group.need, group.independent)
        self.waves = group.waves if key.wave < 0 else 1

    def started(self, module: int) -> None:
        self._twin.started(self, module)

    def split(self) -> list[Any]:
        return [Task(self._twin, self.key._replace(wave=wave), 4) for wave in range(self.waves)]


class Twin:
    """The plan played by the twin's dispatcher."""

    def __init__(self, plan: Plan) -> None:
        self.plan, self.calendar = plan, Calendar()
        self.log = Log(self.calendar)
        limits = {"wave_slots": plan.slots, "vgpr_blocks": 16, "sgpr_blocks": 16, "shared_segments": 16}
        weights = tuple(zip(CLASSES, WEIGHTS, strict=True))
        stuck = {
            "stuck": "never_split" if plan.threshold < 0 else "split_when_stuck",
            "stuck_threshold": plan.threshold,
        }
        self.dispatcher = Dispatcher(
            self.calendar,
            0,
            Dispatch(plan.modules, plan.units, history_cycles=plan.window, weights=weights, **limits, **plan.options),
            Policies(choice=plan.choice, registers=plan.registers, shared=plan.shared, **stuck),
            self.log,
            self.held if plan.choice == "affinity" else None,
        )

    def run(self) -> list[Message]:
        plan = self.plan
        for row, group in enumerate(plan.groups):
            task = Task(self, Key(0, group.application, 0, 0, row), group.priority)
            enter = partial(self.dispatcher.enter, [task], task.urgency)
            self.calendar.at(group.arrival, Rank.STEP, task.key, enter)
        for cycle, application in plan.cancels:
            cancel = partial(self.cancel, application)
            self.calendar.at(cycle, Rank.POOL_ANSWER, Key(0, application), cancel)
        self.calendar.run()
        return [said for row in self.log.rows for said in _said(row)]

    def held(self, task: Any) -> list[int]:
        pages = [pages_of(task.key.group, task.key.wave, module) for module in range(self.plan.modules)]
        self.log("translation", 0, "held", task.key, pages=tuple(pages))
        return pages

    def cancel(self, application: int) -> None:
        for task in sorted(self.dispatcher.cancel(application), key=lambda task: task.key):
            self.log("plan", 0, "left", task.key)

    def started(self, task: Any, module: int) -> None:
        end, known, late = life_of(self.plan, task.key.group, task.key.wave, self.calendar.now)
        self.enter(module, known)
        self.calendar.at(
            end, Rank.RELEASE, task.key, lambda: (self.enter(module, late), self.dispatcher.release(task.key))
        )

    def enter(self, module: int, entries: list[Executed]) -> None:
        for kind, first, cycles, amount in entries:
            self.dispatcher.histories[module].enter(first, first + cycles, CLASSES[kind], amount)


def _said(row: Any) -> list[Message]:
    """A row of the twin's log as a message; nothing for what a dispatcher is asked, or takes."""
    kind, named = row.kind, (row.cycle, row.kind, row.key.group, row.key.wave)
    if kind == "dispatch":
        return [(*named, row.value("module"), row.value("waves"))]
    if kind == "release":
        return [(*named, row.value("module"))]
    if kind in ("held", "split", "round_failed"):
        return [(*named, row.values[0][1])]
    return [named] if kind == "left" else []


# The part ------------------------------------------------------------------------------------------------------------


class Holder(NamedTuple):
    """Who is asked for pages: the array that the part reads."""

    pages: np.ndarray


@kernel
def hold(holder: Holder, group: int, wave: int, waves: int) -> int:
    """Write down what `pages_of` says."""
    for module in range(holder.pages.size):
        holder.pages[module] = (7 * group + 3 * module + 5 * (wave + 1)) % 4
    return waves


class Played:
    """The plan played by the part."""

    def __init__(self, plan: Plan, entries: int = 4096, alone: bool = False, live: bool = False) -> None:
        self.plan, self.calendar, self.alone = plan, Calendar(), alone
        self.messages, self.entered = list[Message](), 0
        self.part = part_of(_case(plan), ends_on_request=1, tells_all=1, entries=entries, live=live)
        if plan.choice == "affinity":
            self.holder, terms = Referent(Holder(self.part.lent.state.pages)), self.part.lent.policies.terms
            terms.holder[ROUTINE], terms.holder[RUN] = entry_of(hold, self.holder)

    def call(self, name: str, *numbers: int) -> int:
        return self.part.call(name, *numbers)

    def run(self) -> list[Message]:
        plan, at = self.plan, self.calendar.at
        for row, group in enumerate(plan.groups):
            ask = partial(self.call, "ask_group", row, group.arrival)
            at(group.arrival, Rank.STEP, Key(0, group.application, 0, 0, row), ask)
        for cycle, application in plan.cancels:
            cancel = partial(self.cancel, application)
            at(cycle, Rank.POOL_ANSWER, Key(0, application), cancel)
        while self.step():
            self.drain()
        return self.messages

    def step(self) -> bool:
        """Take the least event of the calendar and of the part; False if there is none."""
        comes = self.call("next_moment")
        if comes < NEVER:
            assert rank_of(comes) == RANK.rounds, "an end is taken when it is asked"
        if comes < NEVER and (self.calendar.empty or (cycle_of(comes), Rank.ROUND) < self.calendar.next_event):
            self.call("take_next")
        elif not self.calendar.empty:
            self.calendar.step()
        else:
            return False
        return True

    def cancel(self, application: int) -> None:
        rows, now = self.plan.of_application(application), self.calendar.now
        for row in rows if self.alone else ():
            self.call("ask_cancel_range", row, row, now)
        self.call("ask_cancel_range", rows[0], rows[-1], now)

    def drain(self) -> None:
        """Take the answers, and decide what follows from them."""
        left = list[Message]()
        for at in range(self.part.lent.state.counters[COUNT.answered]):
            kind, group, cycle, module, dispatch, wave, waves = (self.call("answer_of", at, f) for f in range(FIELDS))
            if kind == VERDICT:
                pages = tuple(self.call("answer_of", at, FIELDS + m) for m in range(self.plan.modules))
                self.messages.append((cycle, "held", group, wave, pages))
            elif kind == GRANTED:
                self.messages.append((cycle, "dispatch", group, wave, module, waves))
                self.begin(group, wave, module, dispatch, cycle)
            elif kind == CANCELLED:
                left.append((cycle, "left", group, wave))
            else:
                self.messages.append(_other(kind, group, cycle, module, wave, waves))
        self.messages += sorted(left)
        self.call("forget_answers")

    def begin(self, group: int, wave: int, module: int, dispatch: int, cycle: int) -> None:
        end, known, late = life_of(self.plan, group, wave, cycle)
        self.enter(module, known)
        key = Key(0, self.plan.groups[group].application, 0, 0, group, wave)
        self.calendar.at(end, Rank.RELEASE, key, lambda: self.end(module, late, dispatch, end))

    def end(self, module: int, late: list[Executed], dispatch: int, cycle: int) -> None:
        self.enter(module, late)
        assert self.call("ask_end", dispatch, cycle) == dispatch
        before = self.call("take_next")
        assert self.call("answer_of", before - 1, 0) == ENDED

    def enter(self, module: int, entries: list[Executed]) -> None:
        for one in entries:
            assert self.call("enter_history", module, *one) == 0
            self.entered += one.amount > 0


def _other(kind: int, group: int, cycle: int, module: int, wave: int, waves: int) -> Message:
    if kind == ENDED:
        return (cycle, "release", group, wave, module)
    return (cycle, {SPLIT: "split", FAILED: "round_failed"}[kind], group, wave, waves)


def _case(plan: Plan) -> Case:
    """The plan's machine, groups and policies; how long groups stay is said later."""
    choices = {
        "first_module": FirstModule(),
        "balanced": LeastWaves(),
        "least_energy": LeastRecentActivity(weights=WEIGHTS, nx=plan.window),
        "affinity": Affinity(),
    }
    rows = [
        Row(
            channel=group.priority - 1,
            priority=group.priority,
            waves=group.waves,
            duration=0,
            independent=group.independent,
            need=dict(zip(("vgpr", "sgpr", "shared"), group.need, strict=True)),
        )
        for group in plan.groups
    ]
    policies = {
        "choice": choices[plan.choice],
        "selection": StrictPriority(),
        "stuck": NeverSplit() if plan.threshold < 0 else SplitWhenStuck(threshold=plan.threshold),
        "placement": PLACEMENTS[plan.registers],
        "shared_placement": PLACEMENTS[plan.shared],
    }
    return Case(
        rows,
        modules=plan.modules,
        units=plan.units,
        slots=plan.slots,
        workgroups=100,
        policies=policies,
        options=dict(plan.options),
    )
