"""A node without couplings, and what each part of it was asked as a workload of its engine alone (spec 6, R17)."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any
from unittest import mock

import numpy as np

from tests.engines.dispatch_stepping import record_of as dispatch_record
from tests.engines.node.test_pool_part import asked as asked_of_pool
from tests.engines.node.test_pool_part import record_of as record_of_pool
from tests.engines.pool_cases import Fixed
from tests.engines.translation_load_cases import Row, Trace
from tests.engines.translation_stepping import record_of as translation_record
from workbench.engines.dispatch import Dispatch
from workbench.engines.kit import Attempt
from workbench.engines.kit.engine import Setup, defaults_of, question_of
from workbench.engines.kit.order import cycle_of
from workbench.engines.malloc import Malloc, prepare
from workbench.engines.node import beginnings
from workbench.engines.node.engine import Node, Play
from workbench.engines.node.options import NodeOptions, Slots
from workbench.engines.node.parts import Table, sub_setup
from workbench.engines.node.plan import plan_of
from workbench.engines.node.prepare import Reading
from workbench.engines.pool import Pool
from workbench.engines.translation import Translation
from workbench.machine.node import NodeMachine
from workbench.policies.malloc import PageQueue, ParallelHeap, WordByWord
from workbench.policies.policy import Policy, read_policy
from workbench.records.node import KIND, who_of
from workbench.workloads.application import Allocate, Application, Applications, Kernel, Launch, Phase, Step, Touch
from workbench.workloads.workload import Groups, Mallocs

CARDS, MODULES, GROUPS, KERNELS = 2, 4, 5, 3
ROOM = {"messages": 1 << 14, "details": 1 << 12}
MIB = 1 << 20
LAST = 1 << 20
"""Cycles of a last group that touches nothing; it keeps the tensors from being given back."""
OPTIONS = {
    "heap": {"heap_bytes": 4096, "granule_bytes": 16},
    "pool": {"service_ns": 30, "driver_alloc_ns": 20},
    "translation": {"news": "free"},
    "dispatch": {"round_cycles": 3, "power": "class_power", "heat": {"rc_heat": {"step_cycles": 64}}},
}
MACHINE = {
    "card": {"compute_units": MODULES, "simds_a_unit": 2, "waves_a_unit": 8, "segments": 64, "clock_mhz": 1000},
    "translation": {
        "cores": MODULES, "private_entries": 4, "private_mshrs": 2, "walkers": 1, "shared_entries": 6,
        "private_ways": 4, "shared_ways": 6,
        "walk_levels": 2, "level_cycles": 40,
    },
    "board": {"cards": [{"id": f"gpu{n}", "memory_bytes": 80 * MIB} for n in range(CARDS)],
              "links": [{"between": "gpu0 gpu1", "gbps": 50, "kind": "nvlink"}]},
}  # fmt: skip


class Given:
    """On each card an application of two streams, whose groups touch the same tensors and allocate."""

    name = "given"

    def applications(self, machine: Any, streams: Any) -> Applications:
        """Return the applications."""
        return tuple(self._application(card, np.random.default_rng(card)) for card in range(CARDS))

    def _application(self, card: int, random: np.random.Generator) -> Application:
        steps: list[list[Step]] = [[Allocate(0, 12 * MIB), Allocate(1, 9 * MIB)], []]
        for stream in steps:
            stream.extend(self._kernel(random, len(stream)) for _ in range(KERNELS))
        quiet = Launch(Kernel(1, (Phase(np.array([LAST])),), waves=1, demand={"vgpr": 1}))
        return Application((*map(tuple, [*steps, (quiet,)]),), home=card, priority=1 + card)

    def _kernel(self, random: np.random.Generator, number: int) -> Step:
        touches = (Touch(0, "slice"), Touch(1, "gather", count=2, skew=0.7), Touch(number % 2, "shared"))
        cycles, waves = int(random.integers(20, 400)), int(random.integers(1, 7))
        instructions = tuple((random.integers(0, 4, 6) * cycles * waves).tolist())  # whole ones a cycle: see N10
        mallocs = tuple(random.integers(1, 200, 3).tolist())
        phase = Phase(np.full(GROUPS, cycles), touches, mallocs, instructions)
        demand = {"vgpr": int(random.integers(1, 9)), "shared": int(random.integers(0, 30))}
        return Launch(Kernel(GROUPS, (phase,), waves, demand, independent=bool(number % 2)))


def setup_with(slot: str, policy: Policy) -> Setup:
    """Return the node with a policy in a slot, beside some that make all parts work."""
    chosen = {
        **defaults_of(Slots), "shared_placement": "first_fit", "locate": "directory", "selection": "strict_priority",
        "serve": {"warp_aggregated": {"warp_size": 64}}, "heap": "bitmap_arena",
    }  # fmt: skip
    policies = {name: read_policy(question_of(Slots, name), one, name) for name, one in chosen.items()}
    if isinstance(policy, ParallelHeap):
        policies["lock"] = WordByWord()
    elif isinstance(policy, WordByWord):
        policies["heap"] = PageQueue()
    return Setup("node", NodeMachine.read(MACHINE), Given(), {**policies, slot: policy}, NodeOptions.read(OPTIONS))


class Neutral:
    """A run of such a node with all messages."""

    def __init__(self, setup: Setup, horizon: int = 0, seed: int = 3) -> None:
        engine, self.seed = Node(), seed
        setup = setup._replace(options=NodeOptions.read({**OPTIONS, "horizon": horizon}))
        self.reading: Reading = engine.read(engine.given(setup, seed))
        room = {**engine.room(self.reading), **ROOM}
        with mock.patch.object(beginnings, "kept", {}), mock.patch.object(beginnings, "MOST_BYTES", -1):
            # A part that is copied has no table of its groups, which records are made of.
            self.play: Play = engine.begin(self.reading, Attempt(room, events=True, checked=False))
        self.cycles = plan_of(self.reading.applications).cycles
        """As they were given: what pages its registers takes longer."""
        engine.loop(self.play)
        engine.check(self.reading, self.play.state.counters, self.play.state)

    def messages(self, kind: int, card: int) -> list[list[int]]:
        """Return the rows of a kind, of a card."""
        rows = self.play.state.messages.tolist()
        return [row for row in rows[: self._count()] if row[1] == kind and row[2] == card]

    def _count(self) -> int:
        from workbench.engines.node.state import COUNT

        return int(self.play.state.counters[COUNT.messages])

    def part(self, number: int) -> Any:
        """Return a part by its number."""
        member = self.play.members.each[number]
        assert member is not None
        return member.part

    def alone(self, kind: str, machine: Any, workload: Any, options: Any) -> Setup:
        """Return the setup of a part's engine by itself."""
        return sub_setup(self.reading, kind, machine, workload, options)

    # dispatch

    def _group_of(self, row: list[int]) -> int:
        plan, fields = self.play.run.plan, who_of(row[3], row[4])
        step = plan.first_step[plan.first_stream[fields[1]] + fields[2]] + fields[3]
        return int(plan.first_group[plan.what[step]] + fields[4])

    def dispatchers(self, card: int) -> tuple[dict[str, Any], dict[str, Any]]:
        """Return what happened in a card's dispatcher, and in the engine that is given its groups."""
        plan = self.play.run.plan
        entered = self.messages(KIND.enter, card)
        order = np.array([self._group_of(row) for row in entered])
        part, table = dispatch_record(self.part(card)), self.part(card).run.groups
        phase = plan.first_phase[plan.kernel_of[order]]
        cycles = self.cycles[plan.first_cycles[phase] + order - plan.first_group[plan.kernel_of[order]]]
        groups = Groups(
            arrival=np.array([cycle_of(row[0]) for row in entered]), channel=table.channel[order],
            priority=table.priority[order], waves=table.waves[order], independent=table.independent[order],
            duration=cycles, demand={name: column[order] for name, column in table.demand.items()},
            instructions=plan.instructions.reshape(-1, 6)[phase], channels=table.channels, levels=table.levels,
            kernel=None if table.kernel is None else table.kernel[order],
        )  # fmt: skip
        given = self.reading.given
        setup = self.alone("dispatch", given.machine.card, Table(groups=groups), given.options.dispatch)
        alone = Dispatch().simulate(setup, self.seed)
        names = ("cycle", "module", "sent", "level", "shared_out", "over_promised", "refused_by_fragmentation")
        ours = {name: _plain(getattr(part, name)) for name in names} | {"group": part.group.tolist()}
        return ours, {name: _plain(getattr(alone, name)) for name in names} | {"group": order[alone.group].tolist()}

    # translation

    def translations(self, card: int) -> tuple[dict[str, Any], dict[str, Any]]:
        """Return the record of a card's translation, and of the engine that is given its accesses."""
        rows = self.messages(KIND.request, card)
        pages = {tag: page for page, tag in enumerate(sorted({row[6] for row in rows}))}
        trace = [Row(cycle_of(row[0]), row[5], pages[row[6]], False) for row in rows]
        given = self.reading.given
        setup = self.alone("translation", given.machine.translation, Trace(trace), given.options.translation)
        alone = Translation().simulate(setup, self.seed)
        part = translation_record(self.part(CARDS + card))
        skipped = ("log",)
        return (
            {name: _plain(value) for name, value in part._asdict().items() if name not in skipped},
            {name: _plain(value) for name, value in alone._asdict().items() if name not in skipped},
        )

    # malloc

    def heaps(self, card: int) -> tuple[dict[str, Any], dict[str, Any]]:
        """Return what a heap gave, call by call, and what the engine gave that is given the calls."""
        heap = self.part(2 * CARDS + card * CARDS + card)
        part = Malloc().record(heap.run, heap.play)
        order = np.argsort(part.arrival, kind="stable")
        mallocs = Mallocs(part.arrival[order], part.thread[order], part.asked[order], part.free_at[order])
        given = self.reading.given
        setup = self.alone("malloc", given.machine.card, Table(mallocs=mallocs), given.options.heap)
        with mock.patch.object(prepare, "resident_blocks", return_value=0):  # the node's dispatcher placed them
            alone = Malloc().simulate(setup, self.seed)
        assert (part.arrival >= 0).all()
        return _by_call(part, order), _by_call(alone, np.arange(order.size))

    # pool

    def pools(self) -> tuple[dict[str, Any], dict[str, Any]]:
        """Return the record of the pool, and of the engine that is given its requests."""
        part, given = self.part(len(self.play.members.each) - 1), self.reading.given
        record = record_of_pool(part)
        setup = self.alone("pool", given.machine.board, Fixed(asked_of_pool(part)), given.options.pool)
        alone = Pool().simulate(setup, self.seed)
        return tuple({name: _plain(value) for name, value in one._asdict().items()} for one in (record, alone))  # type: ignore[return-value]


def _by_call(record: Any, order: np.ndarray) -> dict[str, Any]:
    """Return what each call got and when, whatever the numbers of requests and blocks are."""
    request, block = record.request[order], record.block[order]
    here, got = np.maximum(request, 0), np.maximum(block, 0)
    columns = SimpleNamespace(**record._asdict())
    times = {name: np.where(request >= 0, getattr(columns, name)[here], -1) for name in ("acquired", "ended", "ready")}
    places = {
        name: np.where(block >= 0, getattr(columns, name)[got], -1)
        for name in ("base", "granules", "granted", "returned")
    }
    own = {name: getattr(columns, name)[order] for name in ("arrival", "asked", "size", "offset")}
    totals = {name: getattr(columns, name) for name in ("acquisitions", "tried_in_vain")}
    return {name: _plain(value) for name, value in (times | places | own | totals).items()}


def _plain(value: Any) -> Any:
    return value.tolist() if isinstance(value, np.ndarray) else value
