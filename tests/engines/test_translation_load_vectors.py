"""The event-driven translation twin against latencies and counts worked out by hand (spec 4, T1-T13, V1-V15)."""

from __future__ import annotations

from typing import Any

import pytest

from tests.engines.translation_load_cases import Case
from tests.oracles.translation_load import Load, Row
from workbench.policies.translation import (
    MRU,
    CentralDirectory,
    Clustered,
    Directory,
    GateAny,
    GatePair,
    LeaderFollower,
    LeastLoaded,
    Message,
    Nearest,
    Never,
    OnResponse,
    Oracle,
    OwnPlusAffine,
    PushNeighbours,
    PushPair,
    RingProbe,
)

HIT, LOOK, HOP, SHARED, WALK = 1, 1, 1, 12, 400
"""Cycles of the machine as it comes: own look-up, directory, hop, shared TLB, walk."""


def oracle(**levers: Any) -> dict[str, Any]:
    return {"locate": Directory(scope=Oracle(), look_up_cycles=LOOK, **levers)}


def run(rows: list[tuple[Any, ...]], machine: dict[str, Any] | None = None, **parts: Any) -> Load:
    small = {"cores": 4, "private_entries": 4, **(machine or {})}
    return Case([Row(*row) for row in rows], small, **parts).twin()


def latencies(load: Load) -> list[int]:
    """Return latencies in the order of the trace; every row of these traces has a cycle and core of its own."""
    by_start = {(row[0], row[2]): row[6] for row in load.log if row[1] == 0}
    return [by_start[row.cycle, row.core] for row in load.rows if not row.unmap]


def happened(load: Load, kind: int) -> list[tuple[int, int, int]]:
    """Return cycle, core and page of what is logged of a kind."""
    return [(row[0], row[2], row[3]) for row in load.log if row[1] == kind]


FILL, PUSH, EVICT, INVALIDATE = 1, 2, 3, 4


# One access in an idle machine (T13: "as before")


def test_own_hit() -> None:
    assert latencies(run([(0, 0, 5), (1000, 0, 5)])) == [HIT + SHARED + WALK, HIT]


def test_shared_hit() -> None:
    assert latencies(run([(0, 0, 5), (1000, 1, 5)]))[1] == HIT + SHARED


def test_walk_without_a_shared_tlb() -> None:
    assert latencies(run([(0, 0, 5)], {"shared_entries": 0})) == [HIT + WALK]


@pytest.mark.parametrize(("network", "far", "hops"), [("mesh", 3, 2), ("ring", 3, 1), ("crossbar", 3, 1)])
def test_peer_hit(network: str, far: int, hops: int) -> None:
    load = run([(0, 0, 5), (1000, far, 5)], {"network": network}, policies=oracle())
    assert latencies(load)[1] == HIT + LOOK + 2 * hops * HOP + HIT
    assert load.shared.accesses == 1


def test_parallel_look_up_hides_the_directory() -> None:
    load = run([(0, 0, 5), (1000, 1, 5)], policies={"locate": Directory(scope=Oracle(), look_up="parallel")})
    assert latencies(load)[1] == HIT + 2 * HOP + HIT


def test_stale_peer() -> None:
    load = run(
        [(0, 0, 5), (1000, 0, 6), (1420, 1, 5)], {"private_entries": 1}, policies=oracle(update=Message(delay=20))
    )
    assert happened(load, EVICT)[0] == (1000 + HIT + LOOK + SHARED + WALK, 0, 5)
    assert latencies(load)[2] == HIT + LOOK + HOP + HIT + HOP + SHARED
    assert load.counted["stale"] == 1


def test_centre() -> None:
    load = run([(0, 0, 5), (1000, 1, 5)], policies={"locate": CentralDirectory(look_up_cycles=2)})
    assert latencies(load) == [HIT + HOP + 2 + SHARED + WALK, HIT + 2 * HOP + 2 + HOP + HIT + HOP]
    assert load.network.messages == {"request": 3, "answer": 1, "update": 2}


def test_ring_probe() -> None:
    load = run([(0, 2, 5), (1000, 0, 5)], {"network": "ring"}, policies={"locate": RingProbe(reach=2)})
    own, probes = HIT, 2 * (HOP + HIT)
    assert latencies(load) == [own + probes + SHARED + WALK, own + probes + 2 * HOP]


def test_cluster() -> None:
    locate = Clustered(cores=2, look_up_cycles=4)
    load = run([(0, 0, 5), (1000, 1, 5), (2000, 2, 5)], policies={"locate": locate})
    assert latencies(load) == [HIT + 4 + SHARED + WALK, HIT + 4, HIT + 4 + SHARED]


# T13


def test_registers_are_freed_by_answers() -> None:
    rows = [(0, 0, 1), (1, 0, 2), (2, 0, 5), (3, 0, 6), (4, 1, 3), (5, 1, 4)]
    load = run(rows, {"cores": 2, "shared_entries": 0, "walkers": 2, "private_mshrs": 1})
    assert latencies(load) == [401, 800, 1199, 1598, 401, 800]


def test_a_walk_is_joined_whatever_was_evicted() -> None:
    load = run([(0, 0, 1), (1, 1, 2), (2, 2, 1), (3, 3, 2)], {"shared_entries": 1, "walkers": 1})
    assert (load.walkers.walks, load.walkers.joined) == (2, 2)
    assert latencies(load) == [413, 812, 411, 810]


# Vectors V1-V5, V13-V15


def test_v1_first_bit_and_v2_nearest() -> None:
    rows = [(0, 1, 16), (1000, 2, 16), (2000, 0, 16)]
    ring = {"cores": 6, "network": "ring"}
    assert run(rows, ring, policies=oracle()).log[-2][4:6] == (2, 1)
    far_first = [(0, 3, 16), (1000, 5, 16), (2000, 0, 16)]
    load = run(far_first, ring, policies={**oracle(), "peer": Nearest()})
    assert load.log[-2][4:6] == (2, 5)
    assert load.shared.accesses == 1


def test_v3_nobody_else_goes_to_the_shared_tlb() -> None:
    load = run([(0, 0, 16), (1000, 0, 17), (2000, 0, 16)], {"private_entries": 1}, policies=oracle())
    assert (load.counted["remote_requests"], latencies(load)[2]) == (0, HIT + LOOK + SHARED)


@pytest.mark.parametrize(("tries", "stale", "more"), [(1, 1, 0), (2, 2, 3)])
def test_v5_stale_peers(tries: int, stale: int, more: int) -> None:
    rows = [(0, 1, 16), (1000, 2, 16), (2000, 1, 1), (2000, 2, 2), (2420, 0, 16)]
    locate = oracle(update=Message(delay=20), max_remote_tries=tries)
    load = run(rows, {"private_entries": 1}, policies=locate)
    assert load.counted["stale"] == stale
    assert latencies(load)[4] == HIT + LOOK + 3 + SHARED + more


V13, V14 = ["1100", "1010", "1000", "1001"], ["1100", "1110", "1100", "1000"]


@pytest.mark.parametrize(
    ("bitmaps", "fill", "filled", "pushed"),
    [
        (V13, GateAny(fill_threshold=3), True, []),
        (V13, GatePair(fill_threshold=3), False, []),
        (V14, GateAny(fill_threshold=3), True, []),
        (V14, GatePair(fill_threshold=3), True, []),
        (V14, PushPair(fill_threshold=3), True, [1]),
    ],
)
def test_v13_v14_fills(bitmaps: list[str], fill: Any, filled: bool, pushed: list[int]) -> None:
    twin = _holding(Case([Row(0, 0, 99)], {"cores": 4, "private_entries": 8}, {**oracle(), "fill": fill}), bitmaps)
    assert [core for _, core, _ in happened(twin, FILL)] == [0] * filled
    assert [core for _, core, _ in happened(twin, PUSH)] == pushed


def _holding(case: Case, bitmaps: list[str]) -> Load:
    """Run a case whose TLBs hold pages 0, 1, ... from the start, as bitmaps say."""
    twin = case.load()
    for page, bits in enumerate(bitmaps):
        for core in (core for core, bit in enumerate(bits) if bit == "1"):
            twin.cores[core].tlb.enter(page)
            twin.directories.made(core, page, -1)
    return twin.run()


@pytest.mark.parametrize("fill", [GateAny(), GatePair()])
def test_v15_cold_for_ever(fill: Any) -> None:
    rows = [(1000 * at, at % 4, at // 4) for at in range(8)]
    load = run(rows, policies={**oracle(), "fill": fill})
    assert (load.counted["fills"], load.counted["refused_fills"]) == (0, 8)


# Under load


@pytest.mark.parametrize(("news", "second"), [("links", 16), ("free", 15)])
def test_requests_queue_for_a_link(news: str, second: int) -> None:
    """Core 2 waits 10 cycles for the link into core 0; the news of core 1's copy holds the link back by one more."""
    machine = {"network": "crossbar", "link_cycles": 10}
    rows = [(0, 0, 5), (1000, 0, 6), (3000, 1, 5), (3000, 2, 6)]
    assert latencies(run(rows, machine, policies=oracle(), options={"news": news}))[2:] == [5, second]


def test_peers_come_before_own_look_ups_at_a_port() -> None:
    machine = {"network": "crossbar", "private_ports": 1}
    rows = [(0, 0, 5), (1000, 0, 6), (3000, 1, 5), (3000, 2, 6), (3003, 0, 5)]
    load = run(rows, machine, policies=oracle())
    assert latencies(load)[2:] == [5, 6, 3]
    assert load.counted["port_wait_cycles"] == 2


def test_a_bank_serves_in_order() -> None:
    rows = [(0, 0, 2), (1000, 0, 3), (2000, 1, 2), (2000, 2, 2), (2000, 3, 3)]
    machine = {"shared_banks": 2, "shared_ports": 1, "private_entries": 1}
    assert latencies(run(rows, machine))[2:] == [13, 14, 13]


def test_a_full_queue_sends_requests_back_in_order() -> None:
    rows = [(0, core, core + 1) for core in range(4)]
    load = run(rows, {"shared_entries": 0, "walkers": 1, "walk_queue": 1})
    assert latencies(load) == [401, 801, 1201, 1601]
    assert load.walkers.queue_cycles == 400 + 800 + 1200


def test_who_was_sent_back_joins_a_walk() -> None:
    rows = [(0, 0, 1), (1, 1, 2), (2, 2, 3), (3, 3, 3), (4, 4, 1)]
    load = run(rows, {"cores": 5, "walkers": 1, "walk_queue": 1})
    assert latencies(load) == [413, 812, 1211, 1210, 409]
    assert (load.walkers.walks, load.walkers.joined) == (3, 2)


def test_who_was_sent_back_finds_its_page_in_the_shared_tlb() -> None:
    """Core 4 waits behind page 4, which enters the queue when the walk of page 3 begins; then page 3 has come."""
    rows = [(0, 0, 1), (1, 1, 2), (2, 2, 3), (3, 3, 4), (4, 4, 3)]
    load = run(rows, {"cores": 5, "walkers": 1, "walk_queue": 1})
    assert latencies(load) == [413, 812, 1211, 1610, 1209]
    assert load.served[4] == [0, 0, 0, 1, 0]


def test_levels_that_a_walk_cache_holds_are_not_read() -> None:
    rows = [(0, 0, 5), (1000, 0, 6), (2000, 0, 512), (3000, 0, 1 << 18)]
    load = run(rows, {"shared_entries": 0, "walk_cache_entries": 3})
    assert latencies(load) == [401, 101, 201, 301]


def test_what_is_unmapped_under_way_answers_and_fills_nothing() -> None:
    rows = [(0, 0, 5), (100, 1, 5, True), (200, 2, 5), (300, 0, 5), (301, 3, 6)]
    load = run(rows)
    assert latencies(load) == [413, 413, 313, 413]
    assert happened(load, FILL) == [(613, 0, 5), (613, 2, 5), (714, 3, 6)]
    assert load.walkers.walks == 3


def test_a_core_that_unmaps_waits_for_the_last_acknowledgement() -> None:
    load = run([(0, 0, 5), (1000, 3, 5, True), (1001, 3, 6)])
    assert happened(load, INVALIDATE) == [(1002, 0, 5)]
    assert latencies(load)[1] == 1000 + 2 * HOP + HIT + 2 * HOP - 1001 + HIT + SHARED + WALK
    assert load.network.messages == {"shootdown": 6}


@pytest.mark.parametrize(
    ("news", "delay", "known"),
    [("free", 0, 414), ("free", 20, 434), ("links", 0, 424), ("links", 7, 424), ("links", 20, 434)],
)
@pytest.mark.parametrize("late", [-1, 0])
def test_a_directory_knows_of_an_entry_once_it_is_told(news: str, delay: int, known: int, late: int) -> None:
    """Core 0 is filled at 414; its news takes 10 cycles on its link, and as long as the delay at least."""
    machine = {"network": "crossbar", "hop_cycles": 10}
    rows = [(0, 0, 5), (known - HIT + late, 1, 5)]
    load = run(rows, machine, policies=oracle(update=Message(delay=delay)), options={"news": news})
    assert [row[5] for row in load.log if row[1:3] == (0, 1)] == [late]


def test_a_page_that_was_pushed_meanwhile_is_not_entered_twice() -> None:
    load = run([(0, 0, 5), (1, 1, 5)], policies={"fill": PushNeighbours()})
    assert load.network.messages["push"] == 2
    assert happened(load, PUSH) == [(415, 2, 5)]
    assert (load.counted["pushes"], load.counted["fills"]) == (1, 3)


def test_a_joined_access_is_answered_with_its_miss() -> None:
    load = run([(0, 0, 5), (10, 0, 5), (412, 0, 5), (413, 0, 5)])
    assert latencies(load) == [413, 403, 1, 1]
    assert load.served[0] == [1, 2, 0, 0, 1]


def test_closed_loop_waits_for_a_warp() -> None:
    load = run([(0, 0, 5), (0, 0, 6), (0, 0, 5)], warps=(1, 10))
    assert [row[:3] for row in load.log if row[1] == 0] == [(0, 0, 0), (423, 0, 0), (846, 0, 0)]


def test_an_inclusive_tlb_takes_private_entries_along() -> None:
    load = run([(0, 0, 5), (1000, 1, 6)], {"shared_entries": 1}, options={"inclusive": True})
    assert happened(load, INVALIDATE) == [(1413 + HOP, 0, 5)]


def test_affine_records_name_everybody() -> None:
    """Core 1 is close to core 0: it finds pages of cores 0 and 3 at either, but none that core 3 has alone."""
    affine = Directory(scope=OwnPlusAffine(threshold=2, fills=1))
    held = [(0, 5), (1, 5), (0, 6), (1, 6), (3, 9), (0, 7), (3, 7), (0, 8), (3, 8)]
    rows = [(1000 * at, core, page) for at, (core, page) in enumerate([*held, (1, 9), (1, 7), (1, 8)])]
    policies = {"locate": affine, "peer": LeastLoaded(), "remote_fill": Never()}
    load = run(rows, {"cores": 5}, policies=policies)
    assert [row[4:6] for row in load.log if row[1] == 0][-3:] == [(3, -1), (2, 0), (2, 3)]


def test_answers_teach_directories() -> None:
    """Core 2 learns from the shared TLB that cores 0 and 1 were given the page, core 0 that core 2 was."""
    load = run([(0, 0, 5), (1000, 1, 5), (2000, 2, 5)], policies=oracle(update=OnResponse()))
    assert [load.directories.heard[core][5] for core in range(3)] == [set(), {0}, {0, 1}]


def test_leaders_lose_confidence_in_copies_that_leave_unused() -> None:
    rows = [(1000 * at, 0, at) for at in range(4)]
    load = run(rows, {"cores": 2, "private_entries": 1}, policies={"fill": LeaderFollower()})
    assert [load.counted[name] for name in ("pushes", "pushes_unused")] == [2, 1]


def test_mru_evicts_what_was_filled_last() -> None:
    load = run([(1000 * at, 0, at) for at in range(3)], {"private_entries": 2}, policies={"eviction": MRU()})
    assert happened(load, EVICT) == [(2413, 0, 1)]


def test_a_remote_hit_may_leave_no_copy() -> None:
    load = run([(0, 0, 5), (1000, 1, 5)], policies={**oracle(), "remote_fill": Never()})
    assert happened(load, FILL) == [(414, 0, 5)]
