"""The event-driven translation twin against queueing theory, and against laws of every run (spec 4, T1-T12)."""

from __future__ import annotations

import heapq

import numpy as np
import pytest

from tests.engines.translation_load_cases import Case, drawn
from tests.oracles.translation_load import Load, Row

pytestmark = pytest.mark.slow

WALK = 50
"""Cycles of a walk where walks are all that takes time."""


def _arrivals(load: float, count: int, seed: int) -> list[int]:
    """Return arrivals of about a Poisson process that keeps one walker busy for such a share of its time."""
    gaps = np.random.default_rng(seed).exponential(WALK / load, count)
    return np.cumsum(gaps).astype(np.int64).tolist()


def _walks_alone(arrivals: list[int], walkers: int) -> Load:
    """Run accesses of pages that all differ, where nothing but walks takes time."""
    machine = {
        "cores": 4,
        "private_cycles": 0,
        "private_mshrs": 4096,
        "shared_entries": 0,
        "walkers": walkers,
        "walk_levels": 1,
        "level_cycles": WALK,
    }
    return Case([Row(cycle, at % 4, at) for at, cycle in enumerate(arrivals)], machine).twin()


def lindley(arrivals: list[int]) -> list[int]:
    """Return what each customer of a queue with one server of constant service waits (Lindley, 1952)."""
    waits, last = [0], arrivals[0]
    for cycle in arrivals[1:]:
        waits.append(max(waits[-1] + WALK - (cycle - last), 0))
        last = cycle
    return waits


def kiefer_wolfowitz(arrivals: list[int], servers: int) -> list[int]:
    """Return the same for several servers, each taking whoever came first (Kiefer and Wolfowitz, 1955)."""
    free, waits = [0] * servers, []
    for cycle in arrivals:
        start = max(heapq.heappop(free), cycle)
        waits.append(start - cycle)
        heapq.heappush(free, start + WALK)
    return waits


@pytest.mark.parametrize("load", [0.3, *(pytest.param(load, marks=pytest.mark.slow) for load in (0.8, 0.97, 1.2))])
def test_one_walker_is_the_queue_m_d_1(load: float) -> None:
    arrivals = _arrivals(load, 3000, seed=int(100 * load))
    twin, waits = _walks_alone(arrivals, 1), lindley(arrivals)
    in_order = sorted((start, latency) for start, *_, latency in twin.log if latency >= 0)
    assert in_order == sorted((cycle, wait + WALK) for cycle, wait in zip(arrivals, waits, strict=True))
    assert twin.walkers.queue_cycles == sum(waits)


MANY = [pytest.param(walkers, load, marks=pytest.mark.slow) for walkers, load in ((3, 2.5), (8, 7.8))]


@pytest.mark.parametrize(("walkers", "load"), [(2, 1.9), *MANY])
def test_several_walkers_are_the_queue_m_d_c(walkers: int, load: float) -> None:
    arrivals = _arrivals(load, 3000, seed=walkers)
    twin, waits = _walks_alone(arrivals, walkers), kiefer_wolfowitz(arrivals, walkers)
    assert twin.walkers.queue_cycles == sum(waits)
    assert sorted(twin.latencies.elements()) == sorted(wait + WALK for wait in waits)


def test_the_mean_wait_is_that_of_pollaczek_and_khinchine() -> None:
    """Half load: S * rho / (2 * (1 - rho)) = 25 cycles, within four standard errors of 30 seeds."""
    means = [np.mean(lindley(_arrivals(0.5, 4000, seed))) for seed in range(30)]
    assert abs(np.mean(means) - 25) < 4 * np.std(means) / np.sqrt(len(means))


SEEDS = range(80)


@pytest.fixture(scope="module")
def runs() -> list[tuple[Case, Load]]:
    return [(case, case.twin()) for case in map(drawn, SEEDS)]


def test_every_access_is_served_once(runs: list[tuple[Case, Load]]) -> None:
    for case, load in runs:
        accesses = sum(not row.unmap for row in case.rows)
        assert sum(map(sum, load.served)) == sum(load.latencies.values()) == accesses, case.seed
        assert sum(load.latency_sums) == sum(length * count for length, count in load.latencies.items())


def test_no_core_misses_more_at_once_than_it_has_registers(runs: list[tuple[Case, Load]]) -> None:
    for case, load in runs:
        assert all(core.registers == 0 and not core.awaited for core in load.cores), case.seed
        assert not load.walkers.live and not load.walkers.sent_back and load.walkers.idle == case.machine["walkers"]


def test_each_request_at_the_walkers_walks_or_joins_or_finds_its_page(runs: list[tuple[Case, Load]]) -> None:
    for case, load in runs:
        walked = sum(row[4] for row in load.served)
        assert walked == load.walkers.walks + load.walkers.joined, case.seed


def test_truth_is_what_private_tlbs_hold(runs: list[tuple[Case, Load]]) -> None:
    for case, load in runs:
        for core in load.cores:
            assert load.directories.held[core.number] == set(core.tlb.ways), case.seed
            assert load.counted["fills"] >= len(core.tlb)
        left = load.counted["evictions"] + load.counted["shot_down"] + sum(len(core.tlb) for core in load.cores)
        assert load.counted["fills"] == left, case.seed


def test_walkers_never_work_more_than_there_is_time(runs: list[tuple[Case, Load]]) -> None:
    for case, load in runs:
        assert load.walkers.busy_cycles <= _span(load) * case.machine["walkers"], case.seed


def test_cases_are_under_load(runs: list[tuple[Case, Load]]) -> None:
    """What the engine must agree on occurs in the cases that are drawn."""
    busy = [load.walkers.busy_cycles > 0.95 * _span(load) * case.machine["walkers"] for case, load in runs]
    assert sum(busy) >= 8
    counted = {
        name: sum(load.counted[name] > 0 for _, load in runs) for name in ("mshr_wait_cycles", "stale", "pushes")
    }
    assert min(counted.values()) >= 8, counted
    waits = [load.network.queue_cycles > 0 for _, load in runs], [load.walkers.joined > 0 for _, load in runs]
    assert min(map(sum, waits)) >= 8
    assert sum(load.counted["shot_down"] > 0 for _, load in runs) >= 8


def _span(load: Load) -> int:
    return load.last_cycle - (load.first_cycle or 0)
