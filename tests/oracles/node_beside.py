"""The engine `node` beside its twin: one description for both, and their logs row by row (spec 6, R19)."""

from __future__ import annotations

import copy
from collections.abc import Iterable
from typing import Any, NamedTuple

import numpy as np

from tests.oracles.node import draws
from tests.oracles.node.calendar import Key, Rank
from tests.oracles.node.description import Application, Card, Node, Phase, Step
from tests.oracles.node.log import Row
from tests.oracles.node.node import Simulation, simulate
from workbench.engines.kit import Attempt
from workbench.engines.kit.engine import Setup, defaults_of, question_of
from workbench.engines.kit.order import cycle_of, rank_of
from workbench.engines.node.engine import Node as Engine
from workbench.engines.node.engine import Play
from workbench.engines.node.options import NodeOptions, Slots
from workbench.machine import Board, Machine, TranslationMachine
from workbench.machine.board import Card as BoardCard
from workbench.machine.board import Link
from workbench.machine.node import NodeMachine
from workbench.policies.policy import read_policy
from workbench.records.node import KIND, WORDS, NodeRecord, who_of
from workbench.records.pool import OUTCOMES
from workbench.records.translation import SERVED_BY
from workbench.workloads import application as ours

CLASSES = ("move", "load", "store", "matrix", "compare", "jump")
WINDOWS: Any = {"priority_windows": {"shortest": 64}}
RESIDUAL: Any = {"most_residual": {"weights": [1, 1, 1, 1, 0]}}  # groups of a module are no resource of the twin's
SHARING_AWARE: Any = "sharing_aware_eviction"
WAVE, GRANULE = 32, 4
"""Threads a wave, registers a block of a thread."""


class Described:
    """The applications of a description as a workload, with its laws drawn as the twin draws them (N22)."""

    def __init__(self, node: Node) -> None:
        self.node = node

    def applications(self, machine: Any, streams: Any) -> ours.Applications:
        """Return the applications."""
        return tuple(_application(self.node, n, one) for n, one in enumerate(self.node.applications))


def _application(node: Node, number: int, given: Application) -> ours.Application:
    names = [step.allocate for stream in given.streams for step in stream if step.allocate is not None]
    numbers = {name: place for place, name in enumerate(names)}
    streams = tuple(
        tuple(_step(node, (number, s, k), step, numbers, given) for k, step in enumerate(steps))
        for s, steps in enumerate(given.streams)
    )
    return ours.Application(streams, given.home, given.priority, given.arrival)


def _step(node: Node, path: tuple[int, int, int], step: Step, numbers: dict[str, int], given: Application) -> ours.Step:
    if step.allocate is not None:
        return ours.Allocate(numbers[step.allocate], step.bytes)
    if step.free is not None:
        return ours.Free(numbers[step.free])
    if step.wait is not None:
        upto = len(given.streams[step.wait]) if step.upto is None else step.upto
        return ours.Wait(step.wait, upto)
    kernel = step.kernel
    assert kernel is not None
    phases = tuple(_phase(node, path, p, phase, kernel.groups, numbers) for p, phase in enumerate(kernel.phases))
    demand = {"vgpr": kernel.vgpr_blocks, "sgpr": kernel.sgpr_blocks, "shared": kernel.shared_segments}
    names = tuple(numbers[name] for name in kernel.tensors)
    return ours.Launch(ours.Kernel(kernel.groups, phases, kernel.waves, demand, kernel.independent, names))


def _phase(
    node: Node, path: tuple[int, int, int], number: int, phase: Phase, groups: int, numbers: dict[str, int]
) -> ours.Phase:
    cycles = [draws.drawn(phase.compute, g, node.seed, *path, g, 0, number) for g in range(groups)]
    touches = tuple(
        ours.Touch(
            numbers[one.tensor], one.pattern, one.halo, one.stride, one.count, one.element_bytes, one.skew, one.bytes
        )
        for one in phase.touches
    )
    counts = dict(phase.instructions)
    instructions = tuple(counts.get(name, 0) for name in CLASSES)
    return ours.Phase(np.array(cycles, np.int64), touches, tuple(phase.mallocs), instructions)


def alike(values: dict[str, Any]) -> dict[str, Any]:
    """Return a description that a node of the engine can have.

    Its cards are alike but for their memory, and so are the latencies of its links; a section of a heap takes a cycle
    at least, and a heap has two granules; what no cache reuses goes back at once.
    """
    values = copy.deepcopy(values)
    cards = values["machine"]["cards"]
    if values.get("policies", {}).get("cache") == "no_cache":
        values["machine"]["pool"]["idle_limit_bytes"] = 0  # what nothing reuses goes back at once
    for link in values["machine"].get("links", []):
        link["latency_ns"] = values["machine"]["links"][0].get("latency_ns", 0)
    own = [card.get("memory_bytes") for card in cards]
    values["machine"]["cards"] = [{**copy.deepcopy(cards[0]), "memory_bytes": memory} for memory in own]
    for card in values["machine"]["cards"]:
        heap = card.setdefault("heap", {})
        if "hold_cycles" in heap:
            heap["hold_cycles"] = max(heap["hold_cycles"], 1)
        if "heap_bytes" in heap:
            heap["heap_bytes"] = max(heap["heap_bytes"], 2 * heap.get("granule_bytes", 256))
    if None in own:
        for card in values["machine"]["cards"]:
            card.pop("memory_bytes")
    return values


def setup_of(node: Node) -> Setup:
    """Return the engine's setup of a description."""
    card = node.machine.cards[0]
    policies = {slot: read_policy(question_of(Slots, slot), given, slot) for slot, given in _policies(node).items()}
    return Setup("node", _machine(node, card), Described(node), policies, _options(node, card))


def _machine(node: Node, card: Card) -> NodeMachine:
    d, t = card.dispatch, card.translation
    cards = tuple(
        BoardCard(id=f"g{k}", kind="gpu", memory_bytes=one.memory_bytes) for k, one in enumerate(node.machine.cards)
    )
    links = tuple(
        Link(between=f"g{a} g{b}", gbps=one.gbps, kind="nvlink") for one in node.machine.links for a, b in [one.cards]
    )
    machine = Machine(
        compute_units=d.modules, simds_a_unit=d.units, waves_a_unit=d.wave_slots * d.units, wave_size=WAVE,
        vgprs_a_unit=d.vgpr_blocks * WAVE * GRANULE * d.units, vgpr_granule=GRANULE,
        sgprs_a_unit=d.sgpr_blocks * 16 * d.units, sgpr_granule=16, segments=d.shared_segments,
        workgroups_a_unit=1024, clock_mhz=float(node.machine.clock_mhz),
    )  # fmt: skip
    translation = TranslationMachine(
        cores=d.modules, private_entries=t.private_entries, private_ways=t.private_ways,
        private_cycles=t.private_cycles, private_mshrs=t.registers, shared_entries=t.shared_entries,
        shared_ways=t.shared_ways, shared_cycles=t.shared_cycles, walkers=t.walkers, walk_queue=t.walk_queue,
        walk_levels=1, level_cycles=t.walk_cycles, network=t.network, hop_cycles=t.hop_cycles,
    )  # fmt: skip
    return NodeMachine(board=Board(cards=cards, links=links), card=machine, translation=translation)


def _options(node: Node, card: Card) -> NodeOptions:
    c, heap, pool = node.couplings, card.heap, node.machine.pool
    return NodeOptions.read(
        {
            **{name: getattr(c, name) for name in (
                "memory", "pages", "shootdown_cycles", "shootdown_to", "touches_hold", "remote", "malloc", "history",
                "pages_known", "touches_a_phase", "kernel_card", "free_in_use", "chunk_bytes",
            )},
            "walk_bytes": node.machine.walk_bytes, "line_bytes": node.machine.line_bytes,
            "local_cycles": node.machine.local_cycles,
            "horizon": node.horizon or 0,
            "dispatch": {
                "dispatches_a_round": min(card.dispatch.dispatches_a_round, 64),
                "round_cycles": card.dispatch.round_cycles,
            },
            "translation": {"news": "free"},
            "heap": {
                "heap_bytes": max(heap.heap_bytes, heap.granule_bytes), "granule_bytes": heap.granule_bytes,
                "split_cycles": heap.split_cycles, "scan_step_cycles": heap.scan_step_cycles,
            },
            "link_latency_ns": max((link.latency_ns for link in node.machine.links), default=0),
            "release_ns": pool.release_ns,
            "pool": {
                "service_ns": pool.request_ns, "driver_alloc_ns": pool.driver_ns, "when_full": pool.when_full,
                "max_hops": pool.max_hops, "path_metric": "bottleneck",
            },
        }
    )  # fmt: skip


def _policies(node: Node) -> dict[str, Any]:
    p, card = node.policies, node.machine.cards[0]
    t, limit = card.translation, node.machine.pool.idle_limit_bytes
    each = dict(card.dispatch.weights)
    weights = [each.get(name, 1.0) for name in (*CLASSES, "translation_stall", "lock_wait")]
    energy = {"least_recent_activity": {"nx": card.dispatch.history_cycles, "weights": weights}}
    choices = {"balanced": "least_waves", "most_residual": RESIDUAL, "least_energy": energy}
    shares = SHARING_AWARE if card.dispatch.modules > 1 else "mru"  # of one core nothing is shared
    told: dict[str, Any] = {
        "selection": "strict_priority",
        "priority": {"static": "static_priority", "windows": WINDOWS}.get(p.order, p.order),
        "units": {"rotated": "rotated_split", "unrotated": "no_rotation"}[p.split],
        "choice": choices.get(p.choice, p.choice),
        "placement": p.registers, "shared_placement": p.shared,
        "stuck": {"split_when_stuck": {"threshold": p.stuck_threshold}} if p.stuck != "never_split" else p.stuck,
        "serve": p.serve, "heap": {"bitmap_arena": {"placement": p.heap}},
        "lock": {"trylock_spin": {"hold_cycles": card.heap.hold_cycles, "drawn_from": 1}},
        "locate": "no_directory", "fill": {"push_pair": {"fill_threshold": 2}},
        "eviction": {"sharing_aware": shares}.get(p.eviction, p.eviction),
        "shared_eviction": p.shared_eviction, "target": p.target, "residency": p.residency,
        "cache": {"best_fit": "split_and_coalesce"}.get(p.cache, p.cache), "cache_fit": "best_fit",
        "frames": p.frames,
        "idle_release": "keep_all" if limit is None else {"least_recently_used": {"limit_bytes_a_card": limit}},
    }  # fmt: skip
    if p.fill != "push_pair":
        told["fill"] = p.fill
    if p.locate != "no_directory":
        directory = {"look_up_cycles": t.directory_cycles, "max_remote_tries": t.remote_tries, "scope": "oracle"}
        told["locate"] = {"directory": directory}
    if p.locate == "nearest_holder":
        told["peer"] = "nearest"
    return defaults_of(Slots) | told


def rows_of(node: Node, record: NodeRecord) -> list[Row]:
    """Return the messages of a record as the twin writes them."""
    names = [step.allocate for one in node.applications for steps in one.streams for step in steps if step.allocate]
    return [_row(names, record, row) for row in record.messages.tolist()]


def _row(names: list[str], record: NodeRecord, row: list[int]) -> Row:
    time, kind, card, first, second, *numbers = row
    part, word, *fields = WORDS[KIND._fields[kind]]
    values = dict(zip(fields, numbers))
    if word == "answer" and part == "translation":
        values["served_by"] = SERVED_BY[values["served_by"]]
    if part == "pool" and word == "grant":
        values["source"] = OUTCOMES[values["source"]]
    if part == "pool" and word == "answer":
        values["granted"] = bool(values["granted"])
    if word == "map":
        pairs = record.details[values["first"] : values["first"] + 2 * values["count"], 0].reshape(-1, 2)
        values = {"tensor": names[values["tensor"]], "pages": tuple((a, b) for a, b in pairs.tolist())}
    if word in ("unmap", "held"):
        values = {"pages": tuple(record.details[values["first"] : values["first"] + values["count"], 0].tolist())}
    if word == "call":
        values = {}
    return Row(
        cycle_of(time), Rank(rank_of(time)), part, card, word, Key(*who_of(first, second)), tuple(values.items())
    )


KNOWN = {words[:2] for words in WORDS.values()} - {("translation", "walk_times"), ("malloc", "section")}
"""Part and word of the rows that both have; times of walks and sections are told by the engine alone."""


class Difference(NamedTuple):
    """The first rows in which two logs differ, and the ones before."""

    at: int
    twin: Any
    engine: Any


def first_difference(twin: Iterable[Row], engine: list[Row], known: set[tuple[str, str]] = KNOWN) -> Difference | None:
    """Return the first rows that differ among those of kinds that both keep."""
    ours_, theirs = [plain(row) for row in engine if (row.part, row.kind) in known], []
    theirs = [plain(row) for row in twin if (row.part, row.kind) in known]
    for at, (a, b) in enumerate(zip(theirs, ours_)):
        if a != b:
            return Difference(at, a, b)
    if len(theirs) != len(ours_):
        at = min(len(theirs), len(ours_))
        return Difference(at, theirs[at] if at < len(theirs) else None, ours_[at] if at < len(ours_) else None)
    return None


def plain(row: Row) -> tuple[Any, ...]:
    """Return a row in plain values."""
    values = () if row.kind == "call" else tuple(row.values)
    return (row.cycle, int(row.rank), row.part, row.card, row.kind, tuple(row.key), values)


class Both(NamedTuple):
    """A run of the twin and one of the engine."""

    twin: Simulation
    play: Play
    record: NodeRecord

    @property
    def difference(self) -> Difference | None:
        """Return the first rows in which the logs differ."""
        return first_difference(self.twin.log.rows, rows_of(self.twin.node, self.record))


def run_both(values: dict[str, Any]) -> Both:
    """Run twin and engine on one description; of a run that waits for ever the engine's log is kept too."""
    node = Node.of(alike(values))
    engine, room = Engine(), {"messages": 1 << 15, "details": 1 << 18, "event_heap": 1 << 12, "tasks": 1 << 10}
    room |= {"accesses": 1 << 12, "pages": 1 << 12, "links": 1 << 12, "spans": 1 << 12}
    reading = engine.read(engine.given(setup_of(node), node.seed))
    room["tickets"] = engine.room(reading)["tickets"]
    play = engine.begin(reading, Attempt(room, events=True, checked=False))
    engine.loop(play)
    return Both(simulate(node), play, engine.record(reading, play))
