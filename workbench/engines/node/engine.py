"""The engine `node`: applications over a board of cards, with all five mechanisms at once (spec 6).

A run is prepared, played with more space where that was wanting, and becomes a record. At its end laws are looked at
that hold whatever the policies are, as nothing is lost and nothing is made (R18): in Python, where the environment
variable `WORKBENCH_CHECK_LAWS` is set, as in all tests; where it is not, a run costs nothing more. When nothing is
pending any more and somebody still waits, the run fails with the sentence who waits for what (E7).
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

import numpy as np

from workbench.compiled import bound
from workbench.engines.kit import Attempt, Simulator, Stop, made
from workbench.engines.kit.engine import Setup
from workbench.engines.kit.faults import FINE, STOP
from workbench.engines.node.ablation import removed, solo_workloads
from workbench.engines.node.calendar import play
from workbench.engines.node.event_heap import new_event_heap
from workbench.engines.node.link_state import new_links
from workbench.engines.node.options import NodeOptions, Slots
from workbench.engines.node.pages import BY_APPLICATION, BY_CLASS, SHIFTS, STRETCH, new_pages
from workbench.engines.node.parts import Members
from workbench.engines.node.plan import FREES, LAUNCHES, Plan
from workbench.engines.node.prepare import Case, Reading, check_served, first_room, read, rules_of, ways
from workbench.engines.node.schedule import start
from workbench.engines.node.state import (
    ACCESS,
    APPLICATION,
    CALL,
    COUNT,
    FAULT,
    GRANTED,
    GROUP,
    KERNEL,
    NONE,
    STREAM,
    TASK,
    TENSOR,
    Run,
    State,
)
from workbench.engines.node.telemetry import ROWS, WINDOW, Means, energy_by_window, gauges_of, means
from workbench.engines.pool.driver import LENGTHS
from workbench.engines.pool.state import COUNT as POOL
from workbench.errors import WorkbenchError
from workbench.machine.node import NodeMachine
from workbench.policies.policy import Policy
from workbench.records.node import NodeRecord, time_of
from workbench.records.pool import BYTES, CARD
from workbench.structures.timetable import NEVER


class Play(NamedTuple):
    """A run and the parts that it calls."""

    run: Run
    members: Members
    state: State


class Node(Simulator[NodeRecord]):
    """A whole node: dispatch, translation, device heaps, the pool and the links on one calendar."""

    name = "node"
    revision = 9
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
        """Return the cycles of each application that runs alone, -1 = it does not end."""
        given = self.given(setup, seed)
        applications = setup.workload.applications(given.machine, given.streams)
        records = [
            super(Node, self).simulate(setup._replace(workload=workload), seed)
            for workload in solo_workloads(applications)
        ]
        lasted = [time_of(record, number) for number, record in enumerate(records)]
        return np.array(lasted, np.int64)

    def compiled_policies(self, run: Reading) -> list[Policy]:
        """Return the policies that are asked something: of a choice, its terms."""
        others = [policy for slot, policy in run.given.slots._asdict().items() if slot != "choice"]
        every = [*others, *(term for term, _ in run.given.slots.choice.terms())]
        return [policy for policy in every if policy.asks is not None]

    def room(self, run: Reading) -> Mapping[str, int]:
        return first_room(run)

    def begin(self, run: Reading, attempt: Attempt) -> Play:
        return begin(run, Members(run, run.given.streams.seed, attempt.events, attempt.room), attempt)

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
        "calls": members.calls.phase.size, "most_drawn": reading.most_listed,
        **attempt.room, **_watched(reading),
    }  # fmt: skip
    pages = new_pages(sizes["tickets"], plan.home.size, options.pages, attempt.room["pages"])
    links = new_links(ways(reading), attempt.room["links"])
    state = made(State, sizes, event_heap=new_event_heap(attempt.room["event_heap"]))
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
    """Play a run to its end, with more space for a part where that is wanting."""
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
        # The lowest five bits of a moment are its rank (`kit.order`).
        counters[STOP.fault], counters[STOP.cycle] = FAULT.waits_for_ever, counters[COUNT.now] >> 5


def _all_ended(play_: Play) -> bool:
    """Return whether all applications have ended, or the horizon came first."""
    ended = bool(play_.state.application[:, APPLICATION.ended].all())
    pending = play_.state.event_heap.counters[0] > 0 or play_.state.soonest.min() < NEVER
    return ended or bool(pending)


NONE_ALONE = np.zeros(0, np.int64)


def record_of(reading: Reading, state: State) -> NodeRecord:
    """Return the record of a run."""
    given, group, application = reading.given, state.group, state.application
    counts = {name: int(state.counters[place]) for name, place in zip(COUNT._fields, COUNT)}
    machine, makespan = given.machine, counts["makespan"]
    mean = means(state.gauge, len(machine.gpus) * machine.card.compute_units, makespan)
    spent, window = None, counts["window"]
    if given.options.dispatch.power.simulated:
        spent, window = energy_by_window(state.spent, window, makespan)
    return NodeRecord(
        makespan=makespan,
        began=group[:, GROUP.began].copy(),
        ended=group[:, GROUP.ended].copy(),
        card=group[:, GROUP.card].astype(np.int16),
        times=state.times.copy(),
        refused=application[:, APPLICATION.refused] == 1,
        arrived=reading.plan.arrival.copy(),
        left=application[:, APPLICATION.ended_at].copy(),
        alone=NONE_ALONE,
        served=state.served.copy(),
        counts=counts,
        clock_mhz=machine.card.clock_mhz,
        modules=machine.card.compute_units,
        registers_scattered=mean.registers,
        shared_scattered=mean.shared,
        frames_scattered=_frames(reading, mean),
        live_bytes=mean.live,
        reserved_bytes=mean.reserved,
        window_cycles=window,
        spent=spent,
        power=given.options.dispatch.power,
        heat=given.options.dispatch.heat,
        messages=state.messages[: counts["messages"]],
        details=state.details[: counts["details"]],
    )


def _frames(reading: Reading, mean: Means) -> np.ndarray:
    """Return a measure of how scattered the frames of each GPU are; nothing where frames are not simulated."""
    given = reading.given
    framed = given.options.pages != "neutral" and given.slots.driver.layout != "contiguous"
    return mean.frames[given.machine.gpus] if framed else np.zeros(0)


VARIABLE = "WORKBENCH_CHECK_LAWS"


class BrokenLawError(WorkbenchError):
    """A run has lost or made something: a fault of this package."""


def check_laws(run: Run, members: Members) -> None:
    """Raise the laws that a run breaks, where they are looked at.

    Raises
    ------
    BrokenLawError
        Groups, times, bytes or pages do not add up.
    """
    if os.environ.get(VARIABLE) and (laws := [*broken(run, members)]):
        raise BrokenLawError("; ".join(laws))


def broken(run: Run, members: Members) -> Iterator[str]:
    """Yield the laws that a run breaks, a sentence each."""
    yield from _groups(run)
    yield from _times(run)
    yield from _bytes(members)
    yield from _stale_tlb_pages(run, members)


def _groups(run: Run) -> Iterator[str]:
    """Yield the faults unless groups put forward = ended + cancelled + under way."""
    counters = run.state.counters
    put, ended = int(counters[COUNT.put_forward]), int(counters[COUNT.groups_ended])
    cancelled, live = int(counters[COUNT.groups_cancelled]), int(run.state.application[:, APPLICATION.live].sum())
    if put != ended + cancelled + live:
        yield f"{put} groups were put forward; {ended} ended, {cancelled} were cancelled and {live} are under way"
    planned, refused = int(run.plan.groups.sum()), int(counters[COUNT.groups_refused])
    if planned != put + refused and run.state.application[:, APPLICATION.ended].all():
        yield f"{planned} groups are planned; {put} were put forward and {refused} refused"


def _times(run: Run) -> Iterator[str]:
    """Yield groups whose time is not the sum of its parts."""
    group = run.state.group
    since = run.state.kernel[run.plan.kernel_of, KERNEL.since]
    lost = np.where(group[:, GROUP.ended] >= 0, group[:, GROUP.ended] - since - run.state.times.sum(axis=1), 0)
    for one in np.flatnonzero(lost)[:3].tolist():
        yield f"of the time of group {one}, {int(lost[one])} cycles are in none of its parts"
    for one in np.flatnonzero((run.state.times < 0).any(axis=1))[:3].tolist():
        yield f"a part of the time of group {one} is negative: {run.state.times[one].tolist()}"


def _bytes(members: Members) -> Iterator[str]:
    """Yield cards with bytes that are neither with the driver, nor cached, nor in use, nor rounding of the driver's."""
    pool: Any = members.each[-1].part  # type: ignore[union-attr]
    state, capacity = pool.lent.service.state, pool.lent.service.tables.capacity
    for card, lost in enumerate((capacity - state.physical - state.cached - state.held).tolist()):
        lost -= _rounded_up(state, card, int(capacity[card]))
        if lost:
            yield f"card {card} has {lost} bytes that are neither free, cached nor in use"


def _rounded_up(state: Any, card: int, capacity: int) -> int:
    """Return the bytes of a card that a driver's placement keeps beyond those it was asked for: rests of granules, and
    granules that buddies add."""
    driver = state.driver
    if driver.granule == 0:
        return 0
    footprints = driver.footprints[driver.first[LENGTHS, card] : driver.first[LENGTHS, card + 1]]
    calls = state.calls[: state.counters[POOL.calls]]
    sizes = calls[calls[:, CARD] == card, BYTES]
    taken = footprints[-(-abs(sizes) // driver.granule)] * driver.granule
    return int(capacity % driver.granule + (np.sign(sizes) * (taken - abs(sizes))).sum())


def _stale_tlb_pages(run: Run, members: Members) -> Iterator[str]:
    """Yield TLBs that hold a page that is not mapped."""
    if run.rules.memory == 0:
        return
    mapped = set(_ranges(run))
    for card in range(run.rules.cards):
        state = members.each[run.rules.cards + card].part.lent.state  # type: ignore[union-attr]
        count = int(state.numbers.given[0])
        held = state.held.reshape(-1, max(state.held.size // max(state.numbers.pages.size, 1), 1))[:count]
        for tag in state.numbers.pages[:count][held.any(axis=1)].tolist():
            if not any(first <= tag < end for first, end in mapped):
                yield f"a TLB of card {card} holds page {tag}, which is not mapped"


def _ranges(run: Run) -> Iterator[tuple[int, int]]:
    """Yield the tags of the stretches of pages that are mapped, as half-open ranges."""
    pages = run.pages
    for mapping in np.flatnonzero(pages.count).tolist():
        first, count = int(pages.first[mapping]), int(pages.held[mapping])
        rows, left = pages.stretches[first : first + count], int(pages.count[mapping])
        ends = [*rows[1:, STRETCH.first_page].tolist(), left]
        for row, end in zip(rows, ends):
            shift = SHIFTS[int(row[STRETCH.size])]
            tag = (int(pages.application[mapping]) << BY_APPLICATION) + (int(row[STRETCH.size]) << BY_CLASS)
            tag += int(row[STRETCH.address]) >> shift
            yield tag, tag + end - int(row[STRETCH.first_page])


MOST_NAMED = 4
UNDER_WAY = 1
"""The status of a call of malloc that is not answered."""


def who_waits(plan: Plan, state: State) -> str:
    """Return the first few waits: the waiter and what it waits for."""
    each = list(_waits(plan, state))
    more = f"; and {len(each) - MOST_NAMED} more" if len(each) > MOST_NAMED else ""
    return "; ".join(each[:MOST_NAMED]) + more


def _waits(plan: Plan, state: State) -> Iterator[str]:
    for application in range(plan.home.size):
        if state.application[application, APPLICATION.ended]:
            continue
        for stream in range(plan.first_stream[application], plan.first_stream[application + 1]):
            step = int(state.stream[stream, STREAM.step])
            if step not in (NONE, plan.first_step[stream + 1]):
                number = stream - plan.first_stream[application]
                place = step - plan.first_step[stream]
                yield f"application {application}, stream {number}, step {place} waits for {_what(plan, state, step)}"


def _what(plan: Plan, state: State, step: int) -> str:
    what = int(plan.what[step])
    if plan.kind[step] == LAUNCHES:
        return _of_kernel(plan, state, what)
    if plan.kind[step] == FREES:
        users = int(state.tensor[what, TENSOR.users])
        return f"{users} kernels that name its tensor" if users else "the memory that it frees"
    return "another stream"


def _of_kernel(plan: Plan, state: State, kernel: int) -> str:
    """Return the thing that a kernel waits for: a tensor, space in a module, a chunk of its heap."""
    if state.kernel[kernel, KERNEL.waits]:
        named = plan.named[plan.first_named[kernel] : plan.first_named[kernel + 1]]
        missing = int((state.tensor[named, TENSOR.status] != GRANTED).sum())
        return f"{missing} tensors that the pool has not granted"
    groups = state.group[plan.first_group[kernel] : plan.first_group[kernel + 1]]
    queued = int(((groups[:, GROUP.began] == NONE) & (groups[:, GROUP.ended] == NONE)).sum())
    held = int(((groups[:, GROUP.began] != NONE) & (groups[:, GROUP.ended] == NONE)).sum())
    calls = int(np.count_nonzero(state.call[:, CALL.status] == UNDER_WAY))
    what = [f"{queued} groups that wait for a module"] if queued else []
    if held:
        what.append(f"{held} groups that hold one" + (f" ({calls} calls of malloc wait for memory)" if calls else ""))
    return " and ".join(what) or "its groups"
