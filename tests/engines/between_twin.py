"""A case of the slow twin of specification 7, given to the engine, and what both say of it in the same words."""

from __future__ import annotations

from typing import Any

import numpy as np

from tests.engines.dispatch_cases import Fixed, Row
from tests.oracles.between_queue_and_unit import Result
from tests.oracles.between_state import Case, Levers
from workbench.engines.dispatch import Dispatch
from workbench.engines.kit.engine import Setup
from workbench.errors import StarvedError
from workbench.levers import lever
from workbench.machine.machine import Machine, Resource
from workbench.machine.progress import Capacity, Constant, Linear, Progress, RateTable, SharedRate
from workbench.policies.dispatch import (
    AnyDie,
    ChannelRoundRobin,
    Choice,
    ContiguousDies,
    Exclusive,
    FirstDie,
    FirstModule,
    MostFreeDie,
    NeverSplit,
    NoPriority,
    NoRotation,
    OpenToAll,
    PartitionByChannel,
    PartitionByKernel,
    RotatedSplit,
    RoundRobin,
    RoundRobinDies,
    ServedMarks,
    ShareByChannel,
    SplitWhenStuck,
    StaticPriority,
    StrictBlocking,
    StrictPriority,
)
from workbench.policies.placement import FirstFit, Placement
from workbench.policies.probes import ExactRun
from workbench.records.dispatch import WHY
from workbench.structures.bitmaps import is_free

MANY = 64
"""Dispatches of a round without a limit, and slots that never bind."""
USUAL = 5
"""Resources that a machine has before those of its own."""


class ByFree(Choice):
    """The module with the most free blocks of one resource, or the least."""

    at: int = lever(0, description="the place of the resource")
    sign: int = lever(1, least=-1, most=1, description="1 = the most, -1 = the least")

    def answer(see):
        for k in range(see.count):
            at = see.modules[k] * see.totals.size + see.levers.at
            see.scores[k] = float(see.levers.sign * see.free[at])


class RefusesEven(Placement):
    """The lowest start, but every second request is refused."""

    memory_slots = 1

    def start_memory(self, segments, seed):
        return np.zeros(1, np.int64)

    def answer(see):
        see.memory[0] += 1
        run = 0
        for k in range(see.segments):
            run = run + 1 if is_free(see.free, k, 1) else 0
            if run == see.length:
                return k + 1 - run if see.memory[0] % 2 else -1
        return -1


def simulated(case: Case) -> Any:
    """The engine's record of a case; None where it is starved."""
    try:
        return Dispatch().simulate(setup_of(case), 1, events=True)
    except StarvedError:
        return None


def setup_of(case: Case) -> Setup:
    machine, options = _machine(case), _options(case)
    names = tuple(
        resource.label for resource in machine.resources() if resource.label not in ("waves", "workgroups", "barriers")
    )
    return Setup("dispatch", machine, Fixed(_rows(case), names), _policies(case, machine), options)


def _rows(case: Case) -> list[Row]:
    return [
        Row(
            group.arrival,
            group.channel,
            group.priority,
            group.waves,
            group.duration,
            group.independent,
            group.demand,
            (group.instructions, 0, 0, 0, 0, 0),
            group.kernel,
            case.clusters.get(group.kernel, 1),
            group.barrier,
            group.endless,
        )
        for group in case.groups
    ]


def _machine(case: Case) -> Machine:
    described = case.machine
    own = [
        Resource(label=r.name, level=r.level, contiguous=r.kind == "contiguous", blocks=r.total)
        for r in described.resources
    ]
    return Machine(
        compute_units=described.modules(),
        simds_a_unit=described.units,
        vgprs_a_unit=MANY * described.units,
        sgprs_a_unit=MANY * described.units,
        waves_a_unit=MANY * described.units,
        segments=MANY,
        workgroups_a_unit=MANY,
        wave_size=1,
        vgpr_granule=1,
        sgpr_granule=1,
        barriers_a_module=described.barriers_a_module,
        dies=tuple(described.dies),
        more_resources=tuple(own),
    )


def _options(case: Case) -> Any:
    levers = case.levers
    return Dispatch.options(
        dispatches_a_round=levers.dispatches_a_round or MANY,
        round_cycles=levers.round_cycles,
        concurrency=levers.concurrency,
        pending_depth=levers.pending_depth,
        spread=levers.spread,
        progress=_progress(levers.progress),
    )


def _progress(given: dict[str, Any]) -> Progress:
    if given["name"] == "constant":
        return Constant()
    law = {
        "linear": lambda value: Linear(slope=float(value)),
        "capacity": lambda value: Capacity(full_rate=float(value)),
        "table": lambda value: RateTable(rates=tuple(map(float, value))),
    }[given["law"]]
    return SharedRate(law=law(given["value"]), of=given["of"])


def _policies(case: Case, machine: Machine) -> dict[str, Any]:
    levers, labels = case.levers, [resource.label for resource in machine.resources()]
    at = labels.index(levers.choice_resource) if levers.choice_resource else 0
    choices = {
        "first_module": FirstModule(),
        "round_robin": RoundRobin(),
        "most_free": ByFree(at=at, sign=1),
        "best_fit": ByFree(at=at, sign=-1),
    }
    selections = {
        "in_turn": ChannelRoundRobin(),
        "strict_priority": StrictPriority(),
        "strict_blocking": StrictBlocking(equals="lowest"),
        "served_marks": ServedMarks(pick="lowest"),
    }
    stuck: Any = NeverSplit()
    if levers.split_threshold is not None:
        stuck = SplitWhenStuck(threshold=levers.split_threshold, priority=levers.split_priority)
    return {
        "probe": ExactRun(),
        "placement": RefusesEven() if levers.refuses_even else FirstFit(),
        "shared_placement": RefusesEven() if levers.refuses_even else FirstFit(),
        "priority": NoPriority() if levers.selection == "in_turn" else StaticPriority(),
        "selection": selections[levers.selection],
        "stuck": stuck,
        "units": NoRotation() if levers.rotation == "none" else RotatedSplit(pointer=levers.rotation),
        "choice": choices[levers.choice],
        "admission": _admission(levers, machine.compute_units),
        "die": _die(levers.die),
    }


def _admission(levers: Levers, modules: int) -> Any:
    given = levers.admission
    if given["name"] == "share_by_channel":
        return ShareByChannel(share=float(given["share"]), round=given["round"])
    if given["name"] in ("open_to_all", "exclusive"):
        return Exclusive() if given["name"] == "exclusive" else OpenToAll()
    kind = PartitionByChannel if given["name"] == "partition_by_channel" else PartitionByKernel
    numbers = range(1 + max(given["modules"], default=0))
    parts = " | ".join(",".join(map(str, given["modules"].get(number, []))) for number in numbers)
    return kind(parts=parts or "|", others=given["others"])


def _die(given: dict[str, Any]) -> Any:
    levers = {name: value for name, value in given.items() if name != "name"}
    kinds = (AnyDie, RoundRobinDies, ContiguousDies, MostFreeDie, FirstDie)
    return next(kind for kind in kinds if kind.name == given["name"])(**levers)


def of_engine(record: Any) -> dict[str, Any]:
    """What the engine says: of every dispatch its group, dispatch, start, end and module, and of a hang the reasons."""
    between = record.between
    rows = zip(record.group, record.cycle, record.starts(), record.ends(), record.module, strict=True)
    summary: dict[str, Any] = {"rows": sorted(tuple(map(int, row)) for row in rows)}
    if between is None or not between.hung:
        return {**summary, "outcome": "finished", "failed_rounds": record.failed_rounds}
    lacks = [tuple(map(int, row)) for row in zip(*between.lacking, strict=True)]
    return {
        **summary,
        "outcome": "hung",
        "hung_at_cycle": between.hung_at_cycle,
        "never_started": len(between.never_started),
        "at_barrier": len(between.at_barrier),
        "reasons": sorted({(group, WHY[why]) for group, why, *_ in lacks}),
        "missing": sorted((g, m, record.resources[r], n) for g, why, m, r, n, _ in lacks if WHY[why] == "lacks"),
        "dies": sorted((group, die) for group, why, *_, die in lacks if WHY[why] == "told_to_wait"),
    }


NEVER = -1
TURN = ("blocked", "queue_full", "cluster", "behind")
"""Reasons of the twin that are one word of the engine: a group lacks nothing but its turn."""


def of_twin(result: Result) -> dict[str, Any]:
    """The same of the twin."""
    split = {row.group for row in result.parts}
    each = [row for row in result.groups if row.group not in split] + result.parts
    rows = [(row.group, row.dispatched, row.start, row.end, row.module) for row in each if row.dispatched is not None]
    known = [tuple(NEVER if value is None else value for value in row) for row in rows]
    summary: dict[str, Any] = {"rows": sorted(known)}
    if result.outcome != "hung":
        return {**summary, "outcome": result.outcome, "failed_rounds": result.failed_rounds}
    lacking = [lack for lack in result.lacks if lack.why == "lacks"]
    waiting = [lack for lack in result.lacks if lack.why == "told_to_wait"]
    return {
        **summary,
        "outcome": "hung",
        "hung_at_cycle": result.hung_at_cycle,
        "never_started": result.groups_never_started,
        "at_barrier": result.groups_at_barrier,
        "reasons": sorted({(lack.group, "behind" if lack.why in TURN else lack.why) for lack in result.lacks}),
        "missing": sorted((lack.group, lack.module, *missing) for lack in lacking for missing in lack.missing.items()),
        "dies": sorted((lack.group, NEVER if lack.die is None else lack.die) for lack in waiting),
    }


def differences(case: Case, result: Result) -> dict[str, Any]:
    """What differs between the twin and the engine: nothing, where all is well."""
    record = simulated(case)
    if record is None:
        return {} if result.outcome == "starved" else {"outcome": (result.outcome, "starved")}
    one, other = of_twin(result), of_engine(record)
    names = sorted(one.keys() | other.keys())
    return {name: (one.get(name), other.get(name)) for name in names if one.get(name) != other.get(name)}
