"""The twin's parts alone beside the single engines, on workloads by chance: equal to the cycle (spec 6, R17).

The twin was written without a look at an engine, and is compared with what an engine answers, through the public words.
"""

from __future__ import annotations

import csv
from collections.abc import Callable
from pathlib import Path
from random import Random
from typing import Any

import pandas as pd
import pytest

import workbench as wb
from tests.oracles.node.calendar import Calendar, Key, Rank
from tests.oracles.node.description import Card, Dispatch, Kernel, Link, Machine, Policies
from tests.oracles.node.description import Heap as HeapMachine
from tests.oracles.node.description import Pool as Service
from tests.oracles.node.dispatcher import Dispatcher
from tests.oracles.node.heap import Call, Heap
from tests.oracles.node.links import Links
from tests.oracles.node.log import Log, Row
from tests.oracles.node.pool import Pool, Region
from tests.oracles.test_node_translation import Bench
from tests.slow import compiled_only, seeds

SEEDS = seeds(3, 37)
COLUMNS = "arrival channel priority waves independent duration vgpr_blocks sgpr_blocks shared_segments"
PLACEMENTS = ("first_fit", "nearest_boundary", "best_fit")


@pytest.fixture
def events(tmp_path: Path) -> Callable[..., pd.DataFrame]:
    """Run an engine on rows and return its event log."""

    def run(engine: str, columns: str, rows: list[Any], **sweep: Any) -> pd.DataFrame:
        path = tmp_path / "rows.csv"
        with path.open("w", newline="") as file:
            csv.writer(file).writerows([columns.split(), *rows])
        results = wb.run({"engine": engine, "workload": {"file": str(path)}, "seeds": 1} | sweep, workers=0)
        assert list(results.table.status) == ["done"], results.table.error[0]
        return results.events(results.table.run_id[0])

    return run


@compiled_only
@pytest.mark.parametrize("seed", SEEDS)
def test_translation(seed: int, events: Callable[..., pd.DataFrame]) -> None:
    """Accesses of cores that share pages: who serves each, and after how many cycles."""
    random = Random(seed)
    cores, knows, pushes = random.choice([1, 2, 4]), random.random() < 0.6, random.random() < 0.5
    machine = {
        "private_entries": random.choice([2, 4]),
        "private_ways": random.choice([0, 2]),
        "shared_ways": 0,
        "shared_entries": random.choice([0, 6]),
        "walkers": random.choice([1, 2]),
        "walk_queue": random.choice([0, 1, 2]),
        "network": random.choice(["crossbar", "ring"]),
        "hop_cycles": random.choice([0, 1, 5]),
        "private_cycles": random.choice([1, 3]),
        "shared_cycles": random.choice([0, 12]),
    }
    registers, walk, look_up, tries = (random.choice(values) for values in ([1, 2, 4], [30, 400], [0, 2], [1, 2]))
    eviction, pages = random.choice(["lru", "mru"]), random.choice([4, 12])
    rows = sorted((random.randrange(1500), random.randrange(cores), random.randrange(pages)) for _ in range(60))
    locate = {"directory": {"scope": "oracle", "look_up_cycles": look_up, "max_remote_tries": tries}}
    log = events(
        "translation", "cycle core page", rows, measures=["latency_mean_cycles"], options={"news": "free"},
        machine=machine | {"cores": cores, "private_mshrs": registers, "walk_levels": 1, "level_cycles": walk},
        policy={
            "locate": locate if knows and cores > 1 else "no_directory", "eviction": eviction,
            "fill": {"push_pair": {"fill_threshold": 2}} if pushes else "demand_always",
        },
    )  # fmt: skip
    access = log[log.kind == "access"]
    expected = sorted(zip(access.cycle, access.core, access.page, access.served_by, access.latency))
    policies = {"locate": "directory" if knows and cores > 1 else "no_directory", "eviction": eviction}
    policies["fill"] = "push_pair" if pushes else "demand_always"
    times = {"registers": registers, "walk_cycles": walk, "directory_cycles": look_up, "remote_tries": tries}
    bench = Bench(cores, policies, **machine, **times)
    latencies = bench.run(*rows)
    assert sorted((*row, bench.served[k], latencies[k]) for k, row in enumerate(rows)) == expected


class Task:
    """A group of the dispatcher alone, which runs for a known time."""

    def __init__(
        self, bench: tuple[Calendar, Dispatcher], key: Key, kernel: Kernel, duration: int, urgency: int
    ) -> None:
        self.key, self.kernel, self.urgency = key, kernel, urgency
        self.waves = kernel.waves if key.wave < 0 else 1
        self._bench, self._duration = bench, duration

    def started(self, module: int) -> None:
        calendar, dispatcher = self._bench
        end = calendar.now + self._duration
        calendar.at(end, Rank.RELEASE, self.key, lambda: dispatcher.release(self.key))

    def split(self) -> list[Any]:
        keys = [self.key._replace(wave=wave) for wave in range(self.waves)]
        return [Task(self._bench, key, self.kernel, self._duration, 4) for key in keys]


@compiled_only
@pytest.mark.parametrize("seed", SEEDS)
def test_dispatch(seed: int, events: Callable[..., pd.DataFrame]) -> None:
    """Groups of four channels, some of which are split: who goes when, where, on which blocks."""
    random = Random(seed)
    modules, units, slots = random.choice([1, 2, 4]), random.choice([1, 2]), random.choice([4, 6])
    options = {"dispatches_a_round": random.choice([1, 3]), "round_cycles": random.choice([1, 5])}
    splits, threshold = random.random() < 0.5, random.choice([4, 40])
    registers, shared = random.choice(PLACEMENTS), random.choice(PLACEMENTS)
    choice, rows, at = random.choice(["first_module", "balanced"]), [], 0
    for _ in range(40):
        at, priority = at + random.choice([0, 0, 3, 20]), random.choice([1, 2, 3, 4])
        held = [random.choice([1, 3]), 1, random.choice([0, 5, 11])]
        waves, independent, duration = random.choice([1, 2, 3, 4]), random.randrange(2), random.choice([5, 90])
        rows.append([at, priority - 1, priority, waves, independent, duration, *held])
    machine = {"preset": "patent_dispatch", "compute_units": modules, "simds_a_unit": units, "segments": 16}
    sizes = {"waves_a_unit": slots * units, "vgprs_a_unit": 4096 * units, "sgprs_a_unit": 256 * units}
    log = events(
        "dispatch", COLUMNS, rows, machine=machine | sizes | {"workgroups_a_unit": 100}, options=options,
        measures=["makespan_cycles"],
        policy={
            "priority": "static_priority", "selection": "strict_priority", "units": "rotated_split",
            "choice": {"balanced": "least_waves"}.get(choice, choice),
            "placement": registers, "shared_placement": shared,
            "stuck": {"split_when_stuck": {"threshold": threshold}} if splits else "never_split",
        },
    )  # fmt: skip
    calendar = Calendar()
    alone = Log(calendar)
    stuck = {"stuck": "split_when_stuck" if splits else "never_split", "stuck_threshold": threshold}
    limits = {"wave_slots": slots, "vgpr_blocks": 16, "sgpr_blocks": 16, "shared_segments": 16}
    policies = Policies(choice=choice, registers=registers, shared=shared, **stuck)
    dispatcher = Dispatcher(calendar, 0, Dispatch(modules=modules, units=units, **limits, **options), policies, alone)
    for group, (at, _, priority, waves, independent, duration, vgprs, sgprs, segments) in enumerate(rows):
        kernel = Kernel(1, waves, vgprs, sgprs, segments, bool(independent))
        task = Task((calendar, dispatcher), Key(0, 0, 0, 0, group), kernel, duration, priority)
        calendar.at(at, Rank.STEP, task.key, lambda task=task: dispatcher.enter([task], task.urgency))
    calendar.run()
    names = ("module", "unit", "resource", "start", "amount")
    contiguous = log[(log.kind == "take") & log.resource.isin(["vgpr", "sgpr", "shared"])]
    taken = [(row.cycle, row.key.group, *map(row.value, names)) for row in alone.of("dispatch", "take")]
    assert sorted(row for row in taken if row[4] != "waves") == sorted(
        zip(contiguous.cycle, contiguous.group, *(contiguous[name] for name in names))
    )
    began = log[log.kind == "dispatch"]
    dispatched = [(row.cycle, row.key.group, row.value("module")) for row in alone.of("dispatch", "dispatch")]
    assert sorted(dispatched) == sorted(zip(began.cycle, began.group, began.module))


@compiled_only
@pytest.mark.parametrize("seed", SEEDS)
def test_malloc(seed: int, events: Callable[..., pd.DataFrame]) -> None:
    """Calls of warps that compete for the lock of a heap that is sometimes full: when each enters, what it gets."""
    random = Random(seed)
    serve, placement = random.choice(["per_thread", "warp_aggregated"]), random.choice(PLACEMENTS)
    times = {"split_cycles": random.choice([0, 3]), "scan_step_cycles": random.choice([0, 2])}
    hold, at, calls = random.choice([3, 10]), 0, []
    for warp in range(40):
        at += random.choice([0, 5, 140])
        lanes = [random.choice([1, 5, 900, 3000]) for _ in range(random.choice([1, 3, 8]))]
        calls.append((at, warp, lanes, at + random.choice([1500, 1900, 3000])))
    rows = [(at, warp * 32 + lane, size, end) for at, warp, lanes, end in calls for lane, size in enumerate(lanes)]
    heap = {"granule_bytes": 1024, "heap_bytes": 64 * 1024}
    log = events(
        "malloc", "arrival thread bytes free_at", rows, machine="h100", options=times | heap,
        measures=["lock_attempts"],
        policy={
            "serve": serve, "heap": {"bitmap_arena": {"placement": placement}},
            "lock": {"trylock_spin": {"hold_cycles": hold, "drawn_from": 1}},
        },
    )  # fmt: skip
    calendar = Calendar()
    alone = Log(calendar)
    machine = HeapMachine(hold_cycles=hold, **times, **heap)
    part = Heap(calendar, 0, machine, Policies(serve=serve, heap=placement), alone)

    def freed(call: Call, end: int) -> None:
        calendar.at(max(end, calendar.now), Rank.FREE, call.key, lambda: part.free(call.key, call.blocks))

    def call(warp: int, lanes: list[int], end: int) -> None:
        part.call(Key(group=warp), lanes, lambda one: freed(one, end))

    for at, *values in calls:
        calendar.at(at, Rank.MALLOC_REQUEST, Key(group=values[0]), lambda values=values: call(*values))
    calendar.run()
    entered = log[log.kind == "acquire"]
    threads = [(row.cycle, row.key.group * 32 + row.value("lane")) for row in alone.of("malloc", "acquire")]
    assert sorted(threads) == sorted(zip(entered.cycle, entered.thread))
    granted = log[log.kind == "grant"]
    places = [(row.cycle - hold, row.value("start") * 1024) for row in alone.of("malloc", "grant")]
    grants = [(cycle, address) for cycle, address in places if address >= 0]
    assert sorted(grants) == sorted(zip(granted.cycle, granted.address))


@compiled_only
@pytest.mark.parametrize("seed", SEEDS)
def test_pool(seed: int, events: Callable[..., pd.DataFrame]) -> None:
    """Requests and releases one after the other: which card, which address, from the cache or from the driver."""
    random = Random(seed)
    count, limit = random.choice([1, 2, 3]), random.choice([None, 0, 200])
    target, at, live, rows = random.choice(["max_bandwidth", "most_free", "local_only"]), 0, [], []
    for handle in range(60):
        at += random.choice([100, 150])
        if live and random.random() < 0.48:
            app, freed = live.pop(random.randrange(len(live)))
            rows.append((at, app, f"g{app}", "free", freed, 0))
        else:
            live.append((random.randrange(count), handle))
            app = live[-1][0]
            rows.append((at, app, f"g{app}", "alloc", handle, random.choice([16, 64, 100, 300])))
    links = [(a, b, random.choice([10, 25])) for b in range(count) for a in range(b)]
    idle = "keep_all" if limit is None else {"least_recently_used": {"limit_bytes_a_card": limit}}
    log = events(
        "pool", "time app card action handle bytes", rows, options={"max_hops": 3}, measures=["completed_rate"],
        machine={
            "cards": [{"card": {"id": f"g{k}", "kind": "gpu", "memory_bytes": 1000}} for k in range(count)],
            "links": [{"link": {"between": f"g{a} g{b}", "gbps": gbps, "kind": "nvlink"}} for a, b, gbps in links],
        },
        policy={"target": target, "cache": "split_and_coalesce", "cache_fit": "best_fit", "idle_release": idle},
    )  # fmt: skip
    answers = log[log.kind.isin(["grant", "refuse"])]
    alone = pool_alone(rows, links, count, limit, target)
    assert [(row.cycle, row.key.kernel, row.kind) for row in alone] == list(
        zip(answers.cycle, answers.handle, answers.kind)
    )
    grants = log[log.kind == "grant"]
    places = zip(grants.card, grants.identifier, grants.source)
    granted = [row for row in alone if row.kind == "grant"]
    assert [(row.card, row.value("identifier"), row.value("source")) for row in granted] == list(places)


def pool_alone(rows: list[Any], links: list[Any], count: int, limit: int | None, target: str) -> list[Row]:
    """Return the grants and refusals of the twin's pool, in cards of 1,000 bytes."""
    calendar = Calendar()
    log = Log(calendar)
    service = Service(idle_limit_bytes=limit)
    machine = Machine((Card(memory_bytes=1000),) * count, tuple(Link((a, b), gbps) for a, b, gbps in links), service)
    bandwidth = Links(calendar, machine, log).bandwidth
    pool = Pool(
        calendar, machine, 1, Policies(target=target), log,
        bandwidth, None, lambda region, block: None,
    )  # fmt: skip
    granted: dict[int, Region | None] = {}

    def ask(app: int, action: str, handle: int, size: int) -> None:
        if action == "alloc":
            pool.allocate(Key(kernel=handle), app, size, lambda region: granted.update({handle: region}))
        elif granted[handle] is not None:
            pool.release(granted[handle], Key(kernel=handle), lambda: None)

    for number, (at, app, _, action, handle, size) in enumerate(rows):
        values = (app, action, handle, size)
        calendar.at(at, Rank.POOL_REQUEST, Key(kernel=number), lambda values=values: ask(*values))
    calendar.run()
    return log.of("pool", "grant", "refuse")
