"""What every run of the engine `node` conserves (spec 6); the engine itself looks at R18 in every test."""

from __future__ import annotations

import itertools
from collections.abc import Mapping
from fractions import Fraction
from math import ceil, floor
from typing import Any

import numpy as np

from tests.engines.conservation.laws import Law, Run, Suite
from tests.engines.conservation.malloc import joined
from workbench.engines.kit.engine import Setup, defaults_of, question_of
from workbench.engines.node.engine import Node
from workbench.engines.node.options import NodeOptions, Slots
from workbench.machine.node import NodeMachine
from workbench.policies.policy import read_policy
from workbench.records.node import KIND
from workbench.workloads.application import (
    Allocate,
    Application,
    Applications,
    Free,
    Kernel,
    Launch,
    Phase,
    Step,
    Touch,
    Wait,
)

KIB, MIB = 1 << 10, 1 << 20
SIZES = (3 * MIB, 40 * KIB)
MOVED = 5000
"""Bytes that each touch of a group moves."""


class Fixed:
    """Applications given as they are."""

    name = "fixed"

    def __init__(self, given: Applications) -> None:
        self.given = given

    def applications(self, machine: Any, streams: Any) -> Applications:
        return self.given


def application(home: int, groups: int, cycles: list[int], waves: int = 3, arrival: int = 0) -> Application:
    """Return one of two streams: of two tensors, one is in slices of its groups, one is touched by all of them."""
    slices = Touch(0, "slice", bytes=MOVED)
    whole = Touch(1, "shared", bytes=MOVED)
    first = Phase(np.resize(cycles, groups), (slices, whole), (24, 700), (1, 2, 3, 7, 5, 1))
    second = Phase(np.full(groups, 9), (whole,), (), (0, 0, 0, 7, 0, 0))
    split = Kernel(groups, (first, second), waves, {"vgpr": 3, "shared": 4}, independent=True)
    small = Kernel(2, (Phase(np.array([0, 30])),), 1, {"vgpr": 1}, names=(0,))
    main: tuple[Step, ...] = (Allocate(0, SIZES[0]), Allocate(1, SIZES[1]), Launch(split), Launch(small), Wait(1, 1))
    frees = tuple(Free(tensor) for tensor in range(len(SIZES)))
    return Application(((*main, *frees), (Launch(small),)), home=home, priority=1 + home % 2, arrival=arrival)


COUPLED: dict[str, Any] = {"memory": "wait", "pages": "64k", "touches_hold": "group", "remote": "link"}
COUPLED |= {"malloc": "wait", "history": True}
POWER = {"power": "class_power", "heat": {"rc_heat": {"step_cycles": 64}}}
SPLITS: dict[str, Any] = {"stuck": {"split_when_stuck": {"threshold": 1}}}


def world(
    applications: Applications, cards: int, modules: int, policies: Mapping[str, Any] = {}, **options: Any
) -> Setup:
    ids = [f"gpu{n}" for n in range(cards)]
    links = [{"between": f"{a} {b}", "gbps": 20, "kind": "nvlink"} for a, b in itertools.pairwise(ids)]
    translation = {"cores": modules, "private_entries": 4, "private_mshrs": 2, "walkers": 1, "shared_entries": 8}
    machine = {
        "card": {"compute_units": modules, "simds_a_unit": 2, "waves_a_unit": 8, "segments": 16, "clock_mhz": 1000},
        "translation": {**translation, "walk_levels": 2, "level_cycles": 20},
        "board": {"cards": [{"id": one, "memory_bytes": 64 * MIB} for one in ids], "links": links},
    }
    read = {"dispatch": POWER, "translation": {"news": "free"}, "heap": {"heap_bytes": 64 * KIB, "granule_bytes": 16}}
    usual = {"choice": {"least_recent_energy": {"nx": 64}}, "shared_placement": "first_fit"}
    chosen = {**defaults_of(Slots), **usual, **policies}
    every = {slot: read_policy(question_of(Slots, slot), name, slot) for slot, name in chosen.items()}
    given: Any = Fixed(applications)
    return Setup("node", NodeMachine.read(machine), given, every, NodeOptions.read({**read, **options}))


ALIKE = tuple(application(home % 3, 6, [40]) for home in range(3))
SKEWED = (application(0, 9, [400, 0, 7, 90]), application(0, 3, [11], waves=8, arrival=50))
WORLDS = {
    "one card of a module, skewed, split": world(SKEWED, 1, 1, SPLITS, **COUPLED),
    "three cards of eight modules, ties": world(ALIKE, 3, 8, **COUPLED, kernel_card="most_bytes"),
    "one card of three modules, skewed, neutral": world(SKEWED, 1, 3),
}


def kernels(run: Run) -> list[Kernel]:
    steps = (step for one in run.setup.workload.given for stream in one.streams for step in stream)
    return [step.kernel for step in steps if isinstance(step, Launch)]


def added(run: Run, of_phase: Any) -> Any:
    """Add up what all phases of all kernels have."""
    return sum(of_phase(kernel, phase) for kernel in kernels(run) for phase in kernel.phases)


def pages_of(touch: Touch, group: int, groups: int, page: int) -> int:
    """R7: return how many pages hold one of the bytes that a group touches."""
    size = SIZES[touch.tensor]
    if touch.pattern == "shared":
        return ceil(Fraction(size, page))
    return floor(Fraction((group + 1) * size // groups - 1, page)) - floor(Fraction(group * size // groups, page)) + 1


def touches_due(run: Run) -> int:
    page = 2 * MIB if run.setup.options.pages == "neutral" else 64 * KIB

    def of(kernel: Kernel, phase: Phase) -> int:
        every = [(touch, group) for touch in phase.touches for group in range(kernel.groups)]
        return sum(pages_of(touch, group, kernel.groups, page) for touch, group in every)

    return int(added(run, of))


def energy_due(run: Run) -> float:
    each = run.record.power.energies_pj()
    return float(added(run, lambda kernel, phase: kernel.groups * np.array(phase.instructions) @ each))


def holds(run: Run) -> bool:
    """Return whether groups wait for their touches (R12); else the path to a group's end may leave computing out."""
    return bool(run.setup.options.touches_hold == "group")


def told(run: Run, kind: int, value: int) -> int:
    """Return the sum of a value over the messages of a kind."""
    rows = run.record.messages
    return int(rows[rows[:, 1] == kind, 5 + value].sum())


def count(run: Run, kind: int) -> int:
    return int((run.record.messages[:, 1] == kind).sum())


def check(run: Run) -> None:
    """E2: no application is refused, and all end."""
    assert not run.record.refused.any() and (run.record.left >= 0).all()


SLOWER = "spec 3, R13: paged memory is an ablation, whose accesses the lever access_penalty charges"

LAWS = [
    Law(
        "groups that end",
        "spec 6, R18, E2",
        got=lambda run: [run.record.counts["put_forward"], run.record.counts["groups_ended"]],
        due=lambda run: [sum(kernel.groups for kernel in kernels(run))] * 2,
    ),
    Law(
        "steps that end",
        "spec 6, R5",
        got=lambda run: run.record.counts["steps"],
        due=lambda run: sum(len(stream) for one in run.setup.workload.given for stream in one.streams),
    ),
    Law(
        "cycles of compute in the times of all groups, where groups wait for their touches",
        "spec 6, R7, R12, R18, E6",
        got=lambda run: int(run.record.times[:, 2].sum()) if holds(run) else 0,
        due=lambda run: int(added(run, lambda kernel, phase: phase.cycles.sum())) if holds(run) else 0,
        allowed=dict.fromkeys(("placement=paged_memory", "shared_placement=paged_memory"), SLOWER),
    ),
    Law(
        "energy of all instructions",
        "spec 6, R7, E6; spec 3, R76",
        got=lambda run: float(run.record.spent.sum()),
        due=energy_due,
        within=lambda run: 1e-9 * energy_due(run),
    ),
    Law(
        "translations asked and answered",
        "spec 6, R7",
        got=lambda run: [run.record.counts["touches"], int(run.record.served.sum())],
        due=lambda run: [touches_due(run)] * 2,
    ),
    Law(
        "bytes that touches move",
        "spec 6, R7",
        got=lambda run: run.record.counts["touched_bytes"],
        due=lambda run: added(run, lambda kernel, phase: MOVED * kernel.groups * len(phase.touches)),
    ),
    Law(
        "calls of malloc",
        "spec 6, R7",
        got=lambda run: run.record.counts["calls"],
        due=lambda run: added(run, lambda kernel, phase: kernel.groups * kernel.waves * bool(phase.mallocs)),
    ),
    Law(
        "requests to the pool that are answered and given back",
        "spec 6, R18",
        got=lambda run: [count(run, kind) for kind in (KIND.pool_grant, KIND.pool_answer, KIND.pool_released)],
        due=lambda run: [count(run, KIND.pool_request)] * 3,
    ),
    Law(
        "bytes asked of the pool for tensors",
        "spec 6, R5, R18",
        got=lambda run: told(run, KIND.pool_request, 0) - run.record.counts["chunks"] * run.setup.options.chunk_bytes,
        due=lambda run: len(run.setup.workload.given) * sum(SIZES),
    ),
]
FITTED: dict[str, tuple[dict[str, Any], ...]] = {
    "split_when_stuck": ({"threshold": 1}, {"threshold": 1, "into": "halves"}),
    "grouped_run": ({"groups": 4},),
    "grouped_sampled_run": ({"groups": 4},),
    "slabs": ({"slabs": 4},),
    "basic_blocks": ({"smallest_bytes": 16, "superblock_blocks": 2},),
    **dict.fromkeys(("bind", "preferred"), ({"cards": "gpu0"},)),
}
MOVES = "spec 1, section 7: a bound for one shared memory; what modules and drivers gave stays where it is"
ALONE = "spec 4, R23: there is one shared TLB, whose entries nobody shares"
REFUSED = {
    **dict.fromkeys(("placement=compaction", "shared_placement=compaction", "driver=compaction"), MOVES),
    "shared_eviction=protect_low_degree": ALONE,
    "shared_eviction=sharing_aware_eviction": ALONE,
    "serve=block_aggregated": "R14: a wave waits for its malloc, so each asks by itself",
}
SUITE = Suite(Node(), WORLDS, LAWS, FITTED, REFUSED, check, changes=False, joined=joined)
