"""The vectors V1-V16 of spec 4, by number; those of a path are played by the engine."""

from __future__ import annotations

import numpy as np
import pytest

from tests.engines.translation_cases import simulate
from tests.oracles.translation_load_eviction import Protection
from workbench.errors import PolicyError
from workbench.policies.translation import (
    FirstBit,
    GateAny,
    GatePair,
    Nearest,
    PushPair,
    SharingAwareEviction,
    degree,
    record_bits,
)
from workbench.policies.translation.eviction.plain_set import PlainSet
from workbench.policies.translation.eviction.victim import ENDLESS, choose_victim
from workbench.records.translation import ACCESS, SERVED_BY

FOUR = {"cores": 4, "private_entries": 4, "shared_entries": 16}
ALL = {"locate": {"directory": {"scope": "oracle"}}, "fill": "demand_always"}
FILL_TWO = [(0, 1, 0x10), (1000, 2, 0x10)]
"""c1 and c2 come to hold page 0x10."""


def test_v1_the_first_holder_is_asked_and_the_shared_tlb_is_not():
    assert FirstBit().ask("0110", core=0) == 1
    before = simulate(FILL_TWO, FOUR, ALL)
    record = simulate([*FILL_TWO, (2000, 0, 0x10)], FOUR, ALL, events=True)
    assert record.served[0].tolist() == [0, 0, 1, 0, 0]
    last = record.log[record.log[:, 1] == ACCESS][-1]
    assert last[[0, 2, 3, 4, 5]].tolist() == [2000, 0, 0x10, SERVED_BY.index("peer"), 1]
    assert record.shared_accesses == before.shared_accesses


def test_v2_the_nearest_holder():
    assert Nearest().ask("0110", core=0, hops=(0, 3, 1, 2)) == 2


def test_v3_a_record_of_the_core_alone_names_no_peer():
    assert FirstBit().ask("1000", core=0) is None


def test_v4_without_a_record_the_shared_tlb_then_the_walk_queue():
    record = simulate([(0, 0, 0x10)], FOUR, ALL)
    assert (record.shared_accesses, record.walks, record.remote_requests) == (1, 1, 0)


@pytest.mark.parametrize(("tries", "asked"), [(1, 1), (2, 2)])
def test_v5_stale_bits_are_cleared_until_the_tries_are_spent(tries, asked):
    one_entry = {"cores": 4, "private_entries": 1, "shared_entries": 16}
    slow_news = {"scope": "oracle", "update": {"message": 10_000}, "max_remote_tries": tries}
    both_gone = [(20_000, 1, 0x20), (20_001, 2, 0x30), (21_000, 0, 0x10)]
    policy = {"locate": {"directory": slow_news}, "fill": "demand_always"}
    rows = [*FILL_TWO, *both_gone]
    record = simulate(rows, one_entry, policy)
    assert (record.remote_requests, record.stale) == (asked, asked)
    assert record.served[0].tolist() == [0, 0, 0, 1, 0]
    again = simulate([*rows, (21_500, 0, 0x40), (22_000, 0, 0x10)], one_entry, policy)
    assert again.remote_requests == 2, "a bit that was cleared is not asked again"


def test_v6_the_local_core_counts():
    assert (degree("0111"), degree("1000"), degree("1111")) == (3, 1, 4)


@pytest.mark.parametrize(
    ("degrees", "threshold", "fallback", "victim"),
    [
        pytest.param((3, 2, 1, 1), 2, "plain_base", 2, id="V7"),
        pytest.param((3, 2, 1, 1), 3, "plain_base", 1, id="V8"),
        pytest.param((3, 2, 1, 1), 4, "plain_base", 0, id="V9"),
        pytest.param((2, 2, 3, 4), 2, "plain_base", 0, id="V10"),
        pytest.param((2, 2, 3, 4), 2, "lowest_degree", 0, id="V11"),
    ],
)
def test_v7_to_v11_the_victim(degrees, threshold, fallback, victim):
    policy = SharingAwareEviction(base="mru", candidates=4, share_threshold=threshold, fallback=fallback)
    assert policy.victim(degrees=degrees) == victim
    assert compiled_victim(policy, degrees) == victim
    assert Protection(policy).victim(iter(range(4)), 4, degrees.__getitem__) == victim


def compiled_victim(policy: SharingAwareEviction, degrees: tuple[int, ...]) -> int:
    """The victim of a set whose newest entry is the first, as engines choose it."""
    ways = len(degrees)
    one = PlainSet(policy.base, ways)
    for page in reversed(range(ways)):
        one.use(page)
    at, first, count, newest, oldest, earliest, entries, *_ = one.fields()
    holders = np.array([(1 << shared) - 1 for shared in degrees], np.uint64)
    ready = policy.ready(1, ways)
    entry = int(choose_victim(ready, at, first, count, newest, oldest, earliest, entries, holders, 1, 0, 1))
    return entry if entry < 0 else next(page for page, where in one.where.items() if where == entry)


def test_v12_the_literal_loop_is_stopped_by_name():
    literal = SharingAwareEviction(base="mru", share_threshold=2, fallback="loop")
    with pytest.raises(PolicyError, match="never ends"):
        literal.victim(degrees=(2, 2, 3, 4))
    assert compiled_victim(literal, (2, 2, 3, 4)) == ENDLESS
    assert literal.victim(degrees=(2, 2, 1, 4)) == compiled_victim(literal, (2, 2, 1, 4)) == 2
    everybody = [(100 * t, core, page) for t, (page, core) in enumerate((p, c) for p in range(5) for c in range(2))]
    config = {"sharing_aware_eviction": {"fallback": "loop"}}
    with pytest.raises(PolicyError, match=r"fallback=loop\) \(eviction\) never ends.*core 0"):
        simulate(everybody, {"cores": 2, "private_entries": 4, "shared_entries": 16}, {**ALL, "eviction": config})


def test_v13_four_bitmaps_threshold_3():
    bitmaps = ["1100", "1010", "1000", "1001"]
    assert GateAny(fill_threshold=3).decide(bitmaps).fills
    assert not GatePair(fill_threshold=3).decide(bitmaps).fills


def test_v14_three_entries_shared_with_one_core():
    bitmaps = ["1100", "1110", "1100", "1000"]
    assert GateAny(fill_threshold=3).decide(bitmaps).fills
    assert GatePair(fill_threshold=3).decide(bitmaps).fills
    assert PushPair(fill_threshold=3).decide(bitmaps) == (True, (1,))


@pytest.mark.parametrize("rule", ["gate_any", "gate_pair"])
@pytest.mark.parametrize("threshold", [2, 3, 4])
def test_v15_an_empty_tlb_is_never_filled(rule, threshold):
    rows = [(1000 * t, t % 4, 0x10 + t // 4 % 3) for t in range(24)]
    record = simulate(rows, FOUR, {**ALL, "fill": {rule: {"fill_threshold": threshold}}})
    assert record.fills == 0
    assert record.refused_fills == len(rows)
    assert record.served[:, SERVED_BY.index("private")].sum() == 0


def test_v16_bits_of_a_record():
    assert [record_bits(36, cores) for cores in (4, 16, 80)] == [41, 53, 117]
