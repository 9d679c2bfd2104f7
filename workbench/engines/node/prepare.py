"""From a setup to the rules and tables of a run, or the sentence why it is refused.

Refused is what no card can hold, and levers of parts that a whole node does not serve. Space for what lives at a time
(tasks, touches, events, transfers, mapped pages) is estimated from the plan, and grows where that was too little; a run
then begins again.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from functools import lru_cache
from typing import Any, NamedTuple, cast

import numpy as np

from workbench.engines.dispatch.prepare import lasting
from workbench.engines.kit import Given
from workbench.engines.node.ablation import removed, without
from workbench.engines.node.link_state import Ways, ways_of
from workbench.engines.node.options import (
    CHUNKS,
    FREE_IN_USE,
    HOLDS,
    KERNEL_CARD,
    KNOWN,
    MALLOC,
    MEMORY,
    REMOTE,
    TO,
    NodeOptions,
)
from workbench.engines.node.pages import MODES, rounding_of
from workbench.engines.node.plan import Calls, Plan, calls_of, most_listed, plan_of
from workbench.engines.node.state import Rules
from workbench.engines.pool.options import PoolOptions
from workbench.errors import InputError, unknown_name, wrong_value
from workbench.levers import Spec, remembered
from workbench.machine.board import Board
from workbench.machine.machine import USUAL
from workbench.machine.node import NodeMachine
from workbench.streams import Streams
from workbench.structures.timetable import NEVER
from workbench.workloads.application import Allocate, Applications, Launch
from workbench.workloads.application_check import check_applications
from workbench.workloads.workload import MOST_PRIORITIES, Groups

LEVELS = 4
"""Priorities of a card, at least; what is split has the lowest (N9)."""
DRAWN = 16
"""Workloads of a seed, and their plans, that are kept: all points of a seed are run before the next seed."""
SKIPS = 1
"""Tests set 0: no cycle is skipped (`Rules.skips`)."""
Case = Given[Any, NodeOptions, Any]


class Reading(NamedTuple):
    """What the setup and the seed determine."""

    given: Case
    applications: Applications
    plan: Plan
    calls: Calls
    groups: Groups
    """All groups as the table of a card's dispatcher."""
    groups_digest: bytes
    most_listed: int
    """Elements, or pages of elements, of one touch of a group, at most."""


class Planned(NamedTuple):
    """Applications as columns, which all points of a seed share. Do not write to them."""

    applications: Applications
    plan: Plan
    calls: Calls
    groups: Groups
    groups_digest: bytes
    most_listed: int


def read(given: Case) -> Reading:
    """Return all that the setup determines, checked.

    Raises
    ------
    InputError
        The applications cannot run whatever the policies are, or levers and policies do not go together in a node.
    """
    given = removed(given)
    check_served(given)
    planned = _planned_by(given)
    check_fits(given, planned.applications)
    check_serve(given, planned.applications)
    cycles = lasting(cast(Any, given), planned.plan.cycles.copy())
    plan = planned.plan._replace(cycles=cycles)
    return Reading(given, *planned._replace(plan=plan))


def _planned_by(given: Case) -> Planned:
    """Return the requests of the workload under the seed; points that differ in policies and couplings share one
    plan."""
    setup, part = given.setup, given.options.without
    if isinstance(setup.workload, Spec):
        return _drawn_plan(setup.workload, given.machine, given.streams.seed, setup.code, part)
    return _plan(given.machine, setup.workload.applications(given.machine, given.streams), part)


@lru_cache(maxsize=DRAWN)
def _drawn_plan(workload: Any, machine: Any, seed: int, code: Any, part: str) -> Planned:
    return _plan(machine, _drawn(workload, machine, seed, code), part)


@lru_cache(maxsize=DRAWN)
def _drawn(workload: Any, machine: Any, seed: int, code: Any) -> Applications:
    """Draw applications; `code` is what a user's classes compute with, so that edited ones draw again."""
    return cast(Applications, workload.applications(machine, Streams(seed)))


def _plan(machine: NodeMachine, applications: Applications, part: str) -> Planned:
    """Return applications without a part of their groups' time, checked."""
    check_applications(applications)
    check_labels(machine, applications)
    applications = without(applications, part)
    plan = plan_of(applications)
    groups = _groups(plan, applications)
    return Planned(applications, plan, calls_of(plan), groups, _digest_of(groups), most_listed(plan))


def rules_of(reading: Reading, events: bool) -> Rules:
    """Return machine and couplings as whole numbers."""
    given, options = reading.given, reading.given.options
    return Rules(
        cards=len(given.machine.gpus),
        applications=len(reading.applications),
        modules=given.machine.card.compute_units,
        seed=given.streams.seed & (1 << 63) - 1,
        memory=MEMORY.index(options.memory),
        touches_hold=HOLDS.index(options.touches_hold),
        malloc=MALLOC.index(options.malloc),
        history=int(options.history),
        most_touches=options.touches_a_phase,
        kernel_card=KERNEL_CARD.index(options.kernel_card),
        pages_known=KNOWN.index(options.pages_known),
        free_in_use=FREE_IN_USE.index(options.free_in_use),
        shootdown_cycles=options.shootdown_cycles,
        shootdown_to=TO.index(options.shootdown_to),
        remote=REMOTE.index(options.remote),
        pages=MODES.index(options.pages),
        local_cycles=options.local_cycles,
        walk_bytes=options.walk_bytes,
        line_bytes=options.line_bytes,
        places=len(given.machine.board.cards),
        heap_granule=options.heap.granule_bytes,
        chunk_bytes=options.chunk_bytes,
        horizon=options.horizon or NEVER,
        events=int(events),
        power=int(options.dispatch.power.simulated),
        issue_cycles=options.issue_cycles,
        heap_answer_cycles=options.heap_answer_cycles,
        chunks=CHUNKS.index(options.chunks),
        skips=SKIPS,
    )


def _groups(plan: Plan, applications: Applications) -> Groups:
    """Return all groups of a node as the table of a card's dispatcher: their arrivals are not known yet."""
    steps = [step for one in applications for stream in one.streams for step in stream]
    kernels = [step.kernel for step in steps if isinstance(step, Launch)]
    kernel, count = plan.kernel_of, int(plan.groups.sum())
    application = plan.application_of[plan.stream_of[plan.step_of]]
    priority = plan.priority[application][kernel]
    labels = sorted({label for one in kernels for label in one.demand})
    demand = {label: np.array([one.demand.get(label, 0) for one in kernels], np.int64)[kernel] for label in labels}
    levels = max(int(plan.priority.max(initial=1)), LEVELS)
    return Groups(
        arrival=np.zeros(count, np.int64),
        channel=priority - 1,
        priority=priority,
        waves=plan.waves[kernel],
        independent=plan.independent[kernel].astype(bool),
        duration=np.zeros(count, np.int64),
        demand=demand,
        instructions=np.zeros((count, 6), np.int64),
        channels=levels,
        levels=levels,
        kernel=kernel,
    )


def _digest_of(groups: Groups) -> bytes:
    """Return a digest of a table of groups: equal where everything in them is."""
    result = hashlib.blake2b(digest_size=16)
    for column in (*groups._replace(demand={}), *groups.demand, *groups.demand.values()):
        whole = column.tobytes() if isinstance(column, np.ndarray) else repr(column).encode()
        result.update(b"%d:" % len(whole) + whole)
    return result.digest()


def ways(reading: Reading) -> Ways:
    """Return the ways between the cards of the board."""
    machine, options = reading.given.machine, reading.given.options
    return _ways(machine.board, options.pool, options.link_latency_ns, int(machine.card.clock_mhz))


@remembered
def _ways(board: Board, options: PoolOptions, latency_ns: int, clock_mhz: int) -> Ways:
    paths = board.paths(options.path_metric, options.max_hops, options.hop_factor)
    return ways_of(board, paths, clock_mhz, [latency_ns] * len(board.links))


MOST_TASKS, MOST_ACCESSES, MOST_PAGES, MOST_CHUNKS = 1 << 14, 1 << 16, 1 << 20, 1 << 11
SPARE = 64


def first_room(reading: Reading) -> Mapping[str, int]:
    """Return the sizes of a run's first attempt."""
    live, card = min(most_live(reading), MOST_TASKS), reading.given.machine.card
    accesses = min(live * _most_touches(reading), MOST_ACCESSES) + SPARE
    return {
        "event_heap": 2 * live + accesses + len(reading.plan.kind),
        "tasks": live + SPARE,
        "accesses": accesses,
        "pages": min(_runs(reading), MOST_PAGES) + SPARE,
        "links": min(accesses, 1 << 14),
        "tickets": max(_tensors(reading.plan) + min(_chunks(reading), MOST_CHUNKS), 1),
        "spans": 8 * card.compute_units * card.waves_a_unit + SPARE,
    }


def most_live(reading: Reading) -> int:
    """Return an upper bound of the groups, or sub-groups, that run at a time: their waves have slots."""
    machine, plan = reading.given.machine, reading.plan
    slots = len(machine.gpus) * machine.card.compute_units * machine.card.waves_a_unit
    entries = int((plan.groups * np.where(plan.independent, plan.waves, 1)).sum())
    return max(min(slots, entries), 1)


def _most_touches(reading: Reading) -> int:
    """Return the largest number of pages that a group touches in a phase, as far as the plan says it."""
    plan, options = reading.plan, reading.given.options
    page = rounding_of(options.pages)
    pages = -(-plan.size[plan.tensor] // page) if plan.tensor.size else np.zeros(0, np.int64)
    if options.touches_a_phase:
        pages = np.minimum(pages, options.touches_a_phase)
    sums = np.bincount(plan.phase_of, np.minimum(pages, _FEW), minlength=1)
    return max(int(sums.max(initial=1)), 1)


_FEW = 16
"""Pages of a touch that are reckoned with at first: each group has a part of its tensor alone."""


def _runs(reading: Reading) -> int:
    """Return the approximate number of runs of pages that are mapped at a time: some for each tensor."""
    return 4 * _tensors(reading.plan)


def _tensors(plan: Plan) -> int:
    return int(plan.size.size)


def _chunks(reading: Reading) -> int:
    """Return the largest number of chunks that heaps may request from the pool: one a lane of each call."""
    waits = reading.given.options.malloc == "wait"
    return int(reading.calls.phase.size) * reading.given.machine.card.wave_size if waits else 0


UNSERVED = {
    ("dispatch", "concurrency"): "the streams of a node's applications order their kernels",
    ("dispatch", "pending_depth"): "a group of a node begins its first phase when it is dispatched",
    ("dispatch", "progress"): "the phases of a node's groups say how long they last",
    ("dispatch", "spread"): "the kernels of a node have no clusters",
    ("pool", "pointer_mode"): "a node maps what is granted by its page tables",
    ("pool", "touches"): "the groups of a node touch what was lent themselves",
    ("translation", "cores_issue"): "the groups of a node decide when a module issues",
    ("translation", "page_sizes"): "the page sizes of a node are those of options.pages",
    ("translation", "pages_an_entry"): "the page sizes of a node are those of options.pages",
    ("translation", "shootdown"): "options.shootdown_to says who is told",
    ("translation", "sample_accesses"): "a node keeps no record of who shares what",
}
"""Levers of parts that are as they are by default in a node, and why."""


def check_served(given: Given[Any, NodeOptions, Any]) -> None:
    """Refuse levers and policies that do not go together in a node.

    Raises
    ------
    InputError
        Pages of frames are asked for without the pool's grants, a shoot-down goes to whom a directory names that there
        is not, or a part has a lever that a node does not serve.
    """
    options = given.options
    if options.pages != "neutral" and options.memory == "at_once":
        raise wrong_value(
            "", "options.memory", f"must be wait where options.pages is {options.pages}, as pages come from the frames "
            "that the pool grants", options.memory, "wait",
        )  # fmt: skip
    locate = given.slots.locate.name
    if options.shootdown_to == "directory" and locate == "no_directory":
        raise InputError("options.shootdown_to: directory needs a policy.locate that knows holders. Got no_directory.")
    for (part, name), why in UNSERVED.items():
        of_part: Spec = getattr(options, part)
        value, only = getattr(of_part, name), of_part.levers[name].default
        if value != only:
            only = only.name if isinstance(only, Spec) else only
            raise wrong_value("", f"options.{part}.{name}", f"must be {only} in a node, as {why}", _word(value), only)
    translation = given.machine.translation
    for name, only in (("middle_entries", 0), ("middle_pages", 1), ("shared_pages", 1)):
        value = getattr(translation, name)
        if value != only:
            expected = f"must be {only} in a node, whose TLBs have two levels with entries of a page"
            raise wrong_value("", f"machine.translation.{name}", expected, value, only)


def _word(value: Any) -> Any:
    return value.short() if isinstance(value, Spec) else value


def check_fits(given: Given[Any, NodeOptions, Any], applications: Applications) -> None:
    """Refuse a tensor that no card could ever grant, and an application whose home or priority there is not.

    Raises
    ------
    InputError
        The sentence names the application, the stream and the step.
    """
    cards = given.machine.gpus
    most = max((card.free_bytes for card in given.machine.board.cards), default=0)
    for number, application in enumerate(applications):
        whose = f"application {number}"
        if not 0 <= application.home < len(cards):
            nearest = min(max(application.home, 0), len(cards) - 1)
            raise wrong_value(whose, "home", f"must be a GPU from 0 to {len(cards) - 1}", application.home, nearest)
        if application.priority > MOST_PRIORITIES:
            expected = f"must be a whole number of at most {MOST_PRIORITIES}"
            raise wrong_value(whose, "priority", expected, application.priority, MOST_PRIORITIES)
        for stream, steps in enumerate(application.streams):
            for place, step in enumerate(steps):
                if isinstance(step, Allocate) and step.bytes > most and given.options.memory == "wait":
                    where = f"{whose}, stream {stream}, step {place}"
                    raise wrong_value(
                        where, "bytes", f"must be at most what the largest card has ({most})", step.bytes, most
                    )


def check_labels(machine: NodeMachine, applications: Applications) -> None:
    """Refuse a kernel that asks for a resource that there is not: a misspelt one would be no limit.

    Raises
    ------
    InputError
        The sentence names the application, the stream and the step, and the label that is meant.
    """
    known = {*USUAL, *(resource.label for resource in machine.card.resources())}
    for number, application in enumerate(applications):
        for stream, steps in enumerate(application.streams):
            for place, step in enumerate(steps):
                unknown = sorted(step.kernel.demand.keys() - known) if isinstance(step, Launch) else []
                if unknown:
                    where = f"application {number}, stream {stream}, step {place}"
                    raise unknown_name(where, "resource", unknown[0], known)


def check_serve(given: Given[Any, NodeOptions, Any], applications: Applications) -> None:
    """Refuse a policy that serves lanes of several waves together, where waves ask by themselves.

    Raises
    ------
    InputError
        The threads that it serves together are no part of a wave.
    """
    serve, wave = given.slots.serve, given.machine.card.wave_size
    launches = [step for one in applications for step in one.steps(Launch)]
    asks = any(phase.mallocs for step in launches for phase in step.kernel.phases)  # type: ignore[union-attr]
    if asks and wave % serve.unit():
        raise InputError(
            f"policy.serve: {serve.name} serves {serve.unit()} threads together, which are no equal part of a wave of "
            f"{wave}; in a node each wave asks by itself. Nearest: warp_aggregated with warp_size {wave}."
        )
