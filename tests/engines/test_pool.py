"""The engine `pool` against its slow twin: the same record, field by field, for every policy and lever."""

from __future__ import annotations

import random
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.engines.pool_cases import Case, assert_access_times, assert_same, crowd, line
from tests.oracles import pool_memory
from tests.slow import examples
from workbench.engines.pool import Pool
from workbench.engines.pool.loop import simulate
from workbench.machine import Board, Card, Link
from workbench.metrics.pool import cached, in_use, reserved
from workbench.policies import placement
from workbench.policies.catalogue import load_all
from workbench.policies.policy import policies
from workbench.policies.pool import (
    BandwidthThenMostFree,
    BestFit,
    Bfc,
    BinaryBuddies,
    Bind,
    ConsistentHashing,
    ExactFit,
    ExpandableSegments,
    FirstFit,
    FirstTouch,
    HostOffload,
    Interleave,
    KeepAll,
    Largest,
    LeastBorrowed,
    LeastLoaded,
    LeastRecentlyUsed,
    LimitedFit,
    LocalOnly,
    ManagedMemory,
    MaxBandwidth,
    MigrateBack,
    MostFree,
    Nearest,
    NoCache,
    Preferred,
    PytorchCaching,
    RandomCard,
    RmmPool,
    RoundRobin,
    SizeClasses,
    SmallestSufficient,
    SplitAndCoalesce,
    Stay,
    Stitching,
    TwoChoices,
    WeightedCards,
    WorstFit,
)
from workbench.records.pool import STITCHED, borrowed, granted

MIB = 1 << 20
EVERY: dict[str, list[Any]] = {
    "cache_fit": [BestFit(), FirstFit(), WorstFit(), ExactFit(), LimitedFit(waste=0.25)],
    "cache": [
        SplitAndCoalesce(coalesce=False),
        SplitAndCoalesce(align=8, min_remainder=16, flush_before_remote=True),
        SplitAndCoalesce(split=False),
        NoCache(),
        SizeClasses(classes=4),
        BinaryBuddies(segment=64),
        Bfc(first_region=256),
        RmmPool(initial=256),
        PytorchCaching(),
        Stitching(least_piece=MIB, chunk=MIB // 4),
        ExpandableSegments(),
        ExpandableSegments(large_page=5 * MIB + 512),
    ],
    "idle_release": [
        KeepAll(),
        LeastRecentlyUsed(limit_bytes_a_card=60),
        Largest(limit_bytes_a_card=60),
        SmallestSufficient(limit_bytes_a_card=60),
    ],
    "driver": [
        placement.ByteCounter(),
        placement.FirstFit(),
        placement.LastFit(),
        placement.NextFit(),
        placement.BestFit(),
        placement.WorstFit(),
    ],
    "residency": [
        Stay(),
        MigrateBack(),
        MigrateBack(order="largest", at_most=1),
        MigrateBack(order="slowest_link"),
        ManagedMemory(),
        ManagedMemory(back=True),
        ManagedMemory(to="target", back=True),
    ],
    "target": [
        MaxBandwidth(),
        MaxBandwidth(shape="square"),
        MostFree(),
        LeastBorrowed(),
        BandwidthThenMostFree(threshold_gbps=20),
        WeightedCards(weights=(1, 0.5, 0.25)),
        WeightedCards(normalise=False, filtered=False),
        WeightedCards(choices=(LeastBorrowed(shape="share"), MostFree(shape="square_root")), weights=(2, 1)),
        WeightedCards(choices=(LeastBorrowed(shape="halving"), RandomCard()), weights=(2, 1)),
        Nearest(),
        FirstTouch(),
        Interleave(),
        RoundRobin(),
        RandomCard(),
        TwoChoices(),
        LeastLoaded(),
        LocalOnly(),
        HostOffload(),
        Preferred(cards="gpu1"),
        Bind(cards="gpu1 cpu0"),
        ConsistentHashing(),
    ],
}
LARGE = ("pytorch_caching", "expandable_segments", "stitching", "bfc", "rmm_pool")
"""Caches whose constants are for requests of MiB."""
RING = Board(
    cards=[
        Card(id="cpu0", kind="cpu", memory_bytes=300),
        Card(id="gpu0", memory_bytes=200, used_bytes=20),
        Card(id="gpu1", memory_bytes=250, port_gbps=30),
        Card(id="switch", kind="switch", memory_bytes=0),
    ],
    links=[
        Link(between="cpu0 gpu0", gbps=12),
        Link(between="gpu0 gpu1", gbps=25, count=2),
        Link(between="gpu1 switch", gbps=30),
        Link(between="switch cpu0", gbps=30),
    ],
)
USUAL = {"touches": 1.0, "ipc_ns": 3, "driver_alloc_ns": 50}
EACH = [(slot, policy) for slot, listed in EVERY.items() for policy in listed]


def scaled(board: Board, factor: int) -> Board:
    cards = [it.but(memory_bytes=it.memory_bytes * factor, used_bytes=it.used_bytes * factor) for it in board.cards]
    return board.but(cards=tuple(cards))


def assert_lawful(record: Any) -> None:
    """No byte is lost or used twice, whatever the policy."""
    for card, capacity in enumerate(record.capacity):
        had, used = reserved(record)[card], in_use(record)[card]
        assert (used >= 0).all()
        assert (used <= had).all()
        assert (had <= capacity).all()
        assert cached(record)[card].max(initial=0) == record.peak_cached[card]
    live: dict[int, tuple[int, int, int]] = {}
    for row, what, region, card, start, size in pool_memory.changes(record):
        if what == "leaves":
            live.pop(region, None)
        elif record.outcome[region] != STITCHED or row != region:
            for other, begin, length in live.values():
                assert card != other or begin + length <= start or start + size <= begin, "used twice"
            live[region] = card, start, size


@pytest.mark.parametrize(("slot", "policy"), EACH, ids=lambda value: value if isinstance(value, str) else value.short())
def test_every_policy_in_a_crowd(slot: str, policy: Any) -> None:
    factor = MIB // 2 if policy.name in LARGE else 1
    rows = [row for row in crowd(len(policy.short()), 3, 150, 110 * factor) if row[2] != 3]
    case = Case(rows, scaled(RING, factor), {slot: policy}, {**USUAL, "driver_granule": 16 * factor})
    record = assert_same(case)
    assert granted(record).sum() > 30, "hardly anything is granted: the case tests nothing"
    assert_lawful(record)
    assert_access_times(case, record)
    if slot == "residency":
        assert (len(record.moves) > 4) == policy.rules().moves(), "hardly anything moves: the case tests nothing"
    if slot == "target" and policy.name != "local_only":
        assert borrowed(record).sum() > 4, "hardly anything is borrowed: the case tests nothing"


def test_every_registered_policy_is_in_the_crowd() -> None:
    load_all()
    for slot in ("cache_fit", "cache", "idle_release", "target"):
        listed = EVERY[slot]
        built_in = {name for name, cls in policies(slot).items() if cls.built_in}
        assert built_in == {policy.name for policy in listed}


@st.composite
def cases(draw: Any) -> Case:
    chance = random.Random(draw(st.integers(0, 1 << 20)))
    policies = {slot: draw(st.sampled_from(EVERY[slot])) for slot in EVERY}
    factor = MIB // 2 if policies["cache"].name in LARGE else 1
    if policies["cache"].name == "expandable_segments":
        policies["driver"] = placement.ByteCounter()
    options = {
        "driver_granule": factor * chance.choice([1, 16, 64]),
        "path_metric": chance.choice(["bottleneck", "hop_penalised", "sum_of_paths", "direct_only"]),
        "max_hops": chance.randint(1, 4),
        "free_metric": chance.choice(["largest_cached_or_physical"] * 2 + ["sum_cached_or_physical", "sum_all"]),
        "target_tie": chance.choice(["lowest_id", "most_free"]),
        "cpus_lend": chance.random() < 0.8,
        "history_window": chance.choice([0, 5, 20]),
        "history_weight": chance.choice(["grants", "bytes"]),
        "ipc_ns": chance.choice([0, 7]),
        "service_ns": chance.choice([0, 40]),
        "driver_alloc_ns": chance.choice([0, 100]),
        "driver_free_ns": chance.choice([0, 30]),
        "driver_ns_per_mib": chance.choice([0, 9]),
        "driver_map_ns": chance.choice([0, 5]),
        "pointer_mode": chance.choice(["identifier", "mapped_pointer"]),
        "map_ns": chance.choice([0, 13]),
        "unmap_ns": chance.choice([0, 8]),
        "zero_gbps": chance.choice([0, 0.5]),
    }
    rows = crowd(chance.randrange(1 << 30), 3, draw(st.integers(1, 60)), 110 * factor)
    return Case(rows, scaled(RING, factor), policies, options, seed=chance.randrange(1 << 20))


@pytest.mark.bounds
@examples(13, 200)
@given(cases())
def test_equals_the_slow_twin(case: Case) -> None:
    assert_lawful(assert_same(case))


@pytest.mark.slow
def test_the_same_bits_every_time_and_with_every_index_checked() -> None:
    case = Case(crowd(5, 3, 120, 110), RING, {"target": TwoChoices(), "idle_release": Largest(limit_bytes_a_card=50)})
    one, other = case.simulate(), Pool().simulate(case.setup(), case.seed, checked=True)
    for name, column in one._asdict().items():
        np.testing.assert_array_equal(column, getattr(other, name), err_msg=name)


def test_the_loop_is_compiled_once_for_all_policies_and_requests() -> None:
    for rows, chosen in (([], {}), (crowd(1, 3, 30, 20), {"cache": SizeClasses(), "target": WeightedCards()})):
        Case(rows, line(100, 100, 100), chosen).simulate()
    assert len(getattr(simulate, "signatures", [])) <= 1, "every other layout of an argument costs 20 s"


def test_no_request_at_all() -> None:
    record = Case([], line(10, 10)).simulate()
    assert record.time.size == len(record.calls) == 0
