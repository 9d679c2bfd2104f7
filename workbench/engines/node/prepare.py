"""From a setup to the rules and tables of a run."""

from __future__ import annotations

from functools import lru_cache
from typing import Any, NamedTuple, cast

import numpy as np

from workbench.engines.dispatch.prepare import lasting
from workbench.engines.kit import Given
from workbench.engines.node.calls import Calls, calls_of
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
from workbench.engines.node.pages import MODES
from workbench.engines.node.plan import Plan, plan_of
from workbench.engines.node.refusals import check_fits, check_labels, check_serve, check_served
from workbench.engines.node.state import Rules
from workbench.engines.node.ways import Ways, ways_of
from workbench.engines.node.without import removed, without
from workbench.levers import Spec
from workbench.streams import Streams
from workbench.structures.timetable import NEVER
from workbench.workloads.node import Applications, Kernel, Launch, check_applications
from workbench.workloads.workload import Groups

LEVELS = 4
"""Priorities of a card, at least; what is split has the lowest (N9)."""
DRAWN = 16
"""Workloads of a seed that are kept: all points of a seed are run before the next seed."""
SKIPS = 1
"""Tests set 0: no cycle is skipped (`Rules.skips`)."""
Case = Given[Any, NodeOptions, Any]


class Reading(NamedTuple):
    """What the setup and the seed determine."""

    given: Case
    applications: Applications
    plan: Plan
    calls: Calls


def read(given: Case) -> Reading:
    """Return what the setup determines, checked.

    Raises
    ------
    InputError
        The applications cannot run whatever the policies are, or levers and policies do not go together in a node.
    """
    given = removed(given)
    check_served(given)
    applications = _applications(given)
    check_applications(applications)
    check_labels(given, applications)
    applications = without(applications, given.options.without)
    check_fits(given, applications)
    check_serve(given, applications)
    plan = plan_of(applications)
    plan = plan._replace(cycles=lasting(cast(Any, given), plan.cycles))
    return Reading(given, applications, plan, calls_of(plan))


def _applications(given: Case) -> Applications:
    """Return what the workload asks under the seed; points that differ in policies and couplings share one drawing."""
    setup = given.setup
    if not isinstance(setup.workload, Spec):
        return cast(Applications, setup.workload.applications(given.machine, given.streams))
    return _drawn(setup.workload, given.machine, given.streams.seed, setup.code)


@lru_cache(maxsize=DRAWN)
def _drawn(workload: Any, machine: Any, seed: int, code: Any) -> Applications:
    """Draw applications; `code` is what a user's classes compute with, so that edited ones draw anew."""
    return cast(Applications, workload.applications(machine, Streams(seed)))


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


def groups_of(reading: Reading) -> Groups:
    """Return all groups of a node as the table of a card's dispatcher: nobody knows yet when they come."""
    plan, kernels = reading.plan, kernels_of(reading)
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
    )


def kernels_of(reading: Reading) -> list[Kernel]:
    """Return the kernels in the order of their numbers."""
    steps = [step for one in reading.applications for stream in one.streams for step in stream]
    return [step.kernel for step in steps if isinstance(step, Launch)]


def ways(reading: Reading) -> Ways:
    """Return the ways between the cards of the board."""
    board, options = reading.given.machine.board, reading.given.options
    paths = board.paths(options.pool.path_metric, options.pool.max_hops, options.pool.hop_factor)
    latencies = [options.link_latency_ns] * len(board.links)
    return ways_of(board, paths, int(reading.given.machine.card.clock_mhz), latencies)
