"""The engine `node`: applications over a board of cards, with all five mechanisms at once (spec 6)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np

from workbench.compiled import bound
from workbench.engines.engine import Setup
from workbench.engines.kit import Attempt, Simulator, Stop, made
from workbench.engines.kit.faults import FINE, STOP
from workbench.engines.node.agenda import new_agenda
from workbench.engines.node.alone import alone
from workbench.engines.node.calendar import play
from workbench.engines.node.energy import ROWS, WINDOW
from workbench.engines.node.gauges import gauges_of
from workbench.engines.node.laws import check_laws
from workbench.engines.node.links import new_links
from workbench.engines.node.options import NodeOptions
from workbench.engines.node.pages import new_pages
from workbench.engines.node.parts import Members
from workbench.engines.node.plan import most_listed
from workbench.engines.node.prepare import Case, Reading, read, rules_of, ways
from workbench.engines.node.recording import record_of
from workbench.engines.node.refusals import check_served
from workbench.engines.node.room import first_room
from workbench.engines.node.slots import Slots
from workbench.engines.node.starting import start
from workbench.engines.node.state import (
    ACCESS,
    APPLICATION,
    CALL,
    COUNT,
    FAULT,
    GROUP,
    KERNEL,
    NONE,
    STREAM,
    TASK,
    TENSOR,
    Run,
    State,
)
from workbench.engines.node.waits import who_waits
from workbench.engines.node.without import removed
from workbench.machine.node import NodeMachine
from workbench.policies.policy import Policy
from workbench.records.node import NodeRecord, time_of
from workbench.structures.timetable import NEVER


class Play(NamedTuple):
    """A run and the parts that it calls."""

    run: Run
    members: Members
    state: State


class Node(Simulator[NodeRecord]):
    """A whole node: dispatch, translation, device heaps, the pool and the links on one calendar."""

    name = "node"
    revision = 6
    decides = Slots
    options = NodeOptions
    machine = NodeMachine
    workload_kind = "applications"
    state, counts, faults = State, COUNT, FAULT

    def check_levers(self, given: Case) -> None:
        check_served(removed(given))

    def read(self, given: Case) -> Reading:
        return read(given)

    def simulate(self, setup: Setup, seed: int, events: bool = False, checked: bool = False) -> NodeRecord:
        """Run one seed to its end, and, where `alone` says so, every application by itself: see `Simulator`."""
        options: Any = setup.options
        record = super().simulate(setup, seed, events, checked)
        return record._replace(alone=self._alone(setup, seed)) if options.alone else record

    def _alone(self, setup: Setup, seed: int) -> np.ndarray:
        """Return how long each application takes that runs alone, -1 = it does not end."""
        given = self.given(setup, seed)
        applications = setup.workload.applications(given.machine, given.streams)
        records = [
            super(Node, self).simulate(setup._replace(workload=workload), seed) for workload in alone(applications)
        ]
        lasted = [time_of(record, number) for number, record in enumerate(records)]
        return np.array(lasted, np.int64)

    def asked(self, run: Reading) -> list[Policy]:
        """Return the policies that are asked something: of a choice, its terms."""
        others = [policy for slot, policy in run.given.slots._asdict().items() if slot != "choice"]
        every = [*others, *(term for term, _ in run.given.slots.choice.terms())]
        return [policy for policy in every if policy.asks is not None]

    def room(self, run: Reading) -> Mapping[str, int]:
        return first_room(run)

    def begin(self, run: Reading, attempt: Attempt) -> Play:
        return begin(run, Members(run, run.given.streams.seed, attempt.events, attempt.room["tickets"]), attempt)

    def loop(self, play_: Play) -> None:
        play_on(play_)

    def words(self, run: Reading, state: Any, stop: Stop) -> Mapping[str, Any]:
        return {"where": f"at cycle {stop.cycle}", "who": who_waits(run.plan, state), "row": stop.row}

    def record(self, run: Reading, play_: Play) -> NodeRecord:
        return record_of(run, play_.state)


def begin(reading: Reading, members: Members, attempt: Attempt) -> Play:
    """Return a run in which nothing has happened."""
    plan, options = reading.plan, reading.given.options
    modules = len(reading.given.machine.gpus) * reading.given.machine.card.compute_units
    sizes = {
        "parts": len(members.each), "applications": plan.home.size, "streams": plan.application_of.size,
        "tensors": plan.size.size,
        "modules": modules, "module_words": modules // 64 + 1,
        "kernels": plan.groups.size, "groups": int(plan.groups.sum()),
        "calls": members.calls.phase.size, "most_drawn": most_listed(plan),
        **attempt.room, **_watched(reading),
    }  # fmt: skip
    pages = new_pages(sizes["tickets"], plan.home.size, options.pages, attempt.room["pages"])
    links = new_links(ways(reading), attempt.room["links"])
    state = made(State, sizes, agenda=new_agenda(attempt.room["agenda"]), soonest=members.soonest())
    for table, column in ((state.task, TASK.next), (state.access, ACCESS.next)):
        table[:, column] = np.arange(1, len(table) + 1)
        table[-1, column] = NONE
    state.stream[:, STREAM.step] = state.tensor[:, TENSOR.free_step] = NONE
    state.tensor[:, TENSOR.users] = plan.users
    state.application[:, APPLICATION.first_tensor] = state.application[:, APPLICATION.first_chunk] = NONE
    state.group[:, GROUP.began] = state.group[:, GROUP.ended] = NONE
    state.group[:, GROUP.path_at] = NONE
    state.call[:, CALL.task] = NONE
    state.application[:, APPLICATION.ended_at] = state.kernel[:, KERNEL.put] = NONE
    _begin_energy(reading, state)
    state.counters[COUNT.drawn_touch] = NONE
    run = Run(
        plan,
        rules_of(reading, attempt.events),
        members.ports,
        np.array(reading.given.machine.gpus),
        links,
        pages,
        members.calls,
        state,
    )
    members.lend_pages(run)
    start(run)
    return Play(run, members, state)


def _watched(reading: Reading) -> dict[str, int]:
    """Return the sizes of what is watched over time."""
    machine, simulated = reading.given.machine, reading.given.options.dispatch.power.simulated
    modules = len(machine.gpus) * machine.card.compute_units
    gauges = gauges_of(modules, len(machine.board.cards))
    return {"gauges": gauges, "windows": ROWS if simulated else 1, "watched": modules if simulated else 1}


def _begin_energy(reading: Reading, state: State) -> None:
    """Set the energy of instructions, and the windows in which it is summed."""
    power, heat = reading.given.options.dispatch.power, reading.given.options.dispatch.heat
    state.picojoules[:] = power.energies_pj()
    state.counters[COUNT.window] = heat.cycles() if heat.simulated else WINDOW


def play_on(play_: Play) -> None:
    """Play a run to its end, with more room for a part where that is wanting."""
    counters, go_on = play_.state.counters, bound(play, play_.run)
    go_on()
    while counters[STOP.fault] == FAULT.part_full:
        number = int(counters[STOP.row])
        play_.members.make_room(number)
        counters[STOP.fault] = FINE
        go_on()
    if counters[STOP.fault] == FAULT.part:
        play_.members.check()
    if counters[STOP.fault] == FINE:
        check_laws(play_.run, play_.members)
    if counters[STOP.fault] == FINE and not _all_ended(play_):
        counters[STOP.fault], counters[STOP.cycle] = FAULT.waits_for_ever, counters[COUNT.now] >> 5


def _all_ended(play_: Play) -> bool:
    """Return whether all applications have ended, or the horizon came first."""
    ended = bool(play_.state.application[:, APPLICATION.ended].all())
    pending = play_.state.agenda.counters[0] > 0 or play_.state.soonest.min() < NEVER
    return ended or bool(pending)
