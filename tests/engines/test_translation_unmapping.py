"""A page unmapped while under way answers its waiters and fills nothing, wherever it is by then (spec 4, T12)."""

from __future__ import annotations

from typing import Any

import pytest

from tests.engines.test_translation_load import SIZE, quick, same
from tests.engines.translation_load_cases import Case, differences, drawn_with_unmappings
from tests.oracles.translation_load import FILL, Row
from tests.slow import seeds
from workbench.engines.translation.options import Software
from workbench.policies.translation import Directory, Oracle
from workbench.records.translation import TranslationRecord

HIT, SHARED, WALK = 1, 12, 400
"""Cycles of the machine as it comes: own look-up, shared TLB, walk."""
ALONE = HIT + SHARED + WALK


def run(rows: list[tuple[Any, ...]], machine: dict[str, Any] | None = None, **parts: Any) -> TranslationRecord:
    """Return what the engine records of four small cores, after the twin has found the same."""
    case = Case([Row(*row) for row in rows], {"cores": 4, "private_entries": 4, **(machine or {})}, **parts)
    assert not differences(case)
    return case.engine()


def latencies(record: TranslationRecord) -> list[int]:
    """Return latencies by cycle of the trace, then core."""
    return [row[6] for row in sorted(record.log.tolist(), key=lambda row: (row[0], row[2])) if row[1] == 0]


def fills(record: TranslationRecord) -> list[tuple[int, int, int]]:
    """Return cycle, core and page of every entry that a private TLB made."""
    return [(row[0], row[2], row[3]) for row in record.log.tolist() if row[1] == FILL]


@pytest.mark.parametrize("merges", [True, False])
@pytest.mark.parametrize("cycle", [0, 1, 12, 13, 200, 412])
def test_an_unmapped_miss_fills_neither_its_core_nor_the_shared_tlb(cycle: int, merges: bool) -> None:
    """Core 0 is at the shared TLB from 1 on, and at the walkers from 13 to 413."""
    record = run([(0, 0, 5), (cycle, 1, 5, True), (1000, 2, 5)], options={"merge_walks": merges})
    assert latencies(record) == [ALONE, ALONE]
    assert fills(record) == [(1000 + ALONE, 2, 5)]


def test_an_access_after_the_unmapping_walks_for_itself_and_fills() -> None:
    """Core 2 is at the walkers at 19, where the walk for core 0 is since 13; its own ends at 419."""
    record = run([(0, 0, 5), (5, 1, 5, True), (6, 2, 5), (1000, 3, 5)])
    assert latencies(record) == [ALONE, ALONE, HIT + SHARED]
    assert fills(record) == [(419, 2, 5), (1013, 3, 5)]
    assert (record.walks, record.walks_joined) == (2, 0)


def test_misses_of_before_one_unmapping_join_each_others_walk() -> None:
    record = run([(0, 0, 5), (1, 1, 5), (5, 3, 5, True), (1000, 2, 5)])
    assert latencies(record) == [ALONE, ALONE - 1, ALONE]
    assert fills(record) == [(1000 + ALONE, 2, 5)]
    assert (record.walks, record.walks_joined) == (2, 1)


def test_a_miss_of_before_an_unmapping_does_not_join_a_walk_of_after_it() -> None:
    """Core 0's second access has its register at 413 and is at the walkers at 425; core 2 walks from 33 to 433."""
    record = run([(0, 0, 9), (1, 0, 5), (5, 3, 5, True), (20, 2, 5)], {"private_mshrs": 1})
    assert latencies(record) == [ALONE, 425 + WALK - 1, ALONE]
    assert fills(record) == [(413, 0, 9), (433, 2, 5)]
    assert (record.walks, record.walks_joined) == (3, 0)


def test_a_miss_that_waits_for_a_register_is_under_way() -> None:
    record = run([(0, 0, 9), (1, 0, 5), (5, 3, 5, True), (1000, 2, 5)], {"private_mshrs": 1})
    assert latencies(record) == [ALONE, 413 + SHARED + WALK - 1, ALONE]
    assert fills(record) == [(413, 0, 9), (1000 + ALONE, 2, 5)]


def test_an_access_that_waits_for_a_port_of_its_own_tlb_is_not() -> None:
    """It is looked up at 1, after the unmapping."""
    record = run([(0, 0, 9), (0, 0, 5), (0, 1, 5, True), (1000, 2, 5)], {"private_ports": 1})
    assert sorted(latencies(record)) == [HIT + SHARED, ALONE, ALONE + 1]
    assert fills(record) == [(413, 0, 9), (414, 0, 5), (1013, 2, 5)]


def test_a_miss_that_waits_for_a_bank_of_the_shared_tlb_is_under_way() -> None:
    """Core 1 is looked up at 2, after core 0."""
    banks = {"shared_banks": 1, "shared_ports": 1}
    record = run([(0, 0, 9), (0, 1, 5), (1, 3, 5, True), (1000, 2, 5)], banks)
    assert latencies(record) == [ALONE, ALONE + 1, ALONE]
    assert fills(record) == [(413, 0, 9), (1000 + ALONE, 2, 5)]


def test_a_miss_that_waits_for_a_place_in_the_walk_queue_is_under_way() -> None:
    """Walks end at 413, 813 and 1213, the last one for core 2, which enters the queue at 413."""
    rows = [(0, 0, 1), (1, 1, 2), (2, 2, 3), (100, 3, 3, True), (5000, 3, 3)]
    record = run(rows, {"walkers": 1, "walk_queue": 1})
    assert latencies(record) == [413, 812, 1211, ALONE]
    assert fills(record) == [(413, 0, 1), (813, 1, 2), (5000 + ALONE, 3, 3)]


def test_a_miss_that_is_looked_up_in_its_directory_is_under_way() -> None:
    locate = {"locate": Directory(scope=Oracle(), look_up_cycles=20)}
    record = run([(0, 0, 5), (10, 1, 5, True), (1000, 2, 5)], policies=locate)
    assert latencies(record) == [20 + ALONE, 20 + ALONE]
    assert fills(record) == [(1020 + ALONE, 2, 5)]


def test_what_two_unmappings_part_walks_three_times() -> None:
    """One walker: walks for cores 0, 1 and 2 begin at 13, 413 and 813, each of its own era; core 3 joins the last."""
    rows = [(0, 0, 5), (1, 3, 5, True), (10, 1, 5), (11, 3, 5, True), (20, 2, 5), (100, 3, 5), (5000, 0, 5)]
    record = run(rows, {"walkers": 1})
    assert latencies(record) == [413, 803, 1193, 1113, HIT + SHARED]
    assert fills(record) == [(1213, 2, 5), (1213, 3, 5), (5013, 0, 5)]
    assert (record.walks, record.walks_joined) == (3, 1)


def test_a_walk_that_has_ended_is_joined_by_nobody() -> None:
    """Core 1 walks for page 5 from 110 to 210, then for page 6, whose place in the queue core 2 gets for page 5."""
    rows = [(0, 0, 1), (1, 2, 3), (2, 1, 7), (3, 2, 4), (4, 2, 8), (5, 2, 9), (6, 1, 6), (7, 2, 5), (109, 1, 5)]
    machine = {"shared_entries": 0, "walkers": 1, "walk_queue": 1, "walk_levels": 1, "level_cycles": 150}
    by_cores = Software(walks=1, start_cycles=0, level_cycles=100)
    record = run([*rows, (115, 3, 5, True)], machine, options={"walks_by": by_cores})
    assert latencies(record) == [151, 101, 101, 199, 297, 297, 304, 451 - 7, 101]
    assert record.walks_joined == 0


@pytest.mark.slow
@pytest.mark.parametrize("part", seeds(1, 78))
def test_the_engine_and_its_twin_agree_where_unmappings_follow_misses(part: int) -> None:
    for seed in range(SIZE * part, SIZE * (part + 1)):
        result = differences(drawn_with_unmappings(seed))
        assert not result, (seed, sorted(result))


@pytest.mark.slow
def test_in_most_of_these_cases_misses_come_to_the_walkers_when_their_page_is_unmapped_already() -> None:
    late = sum(drawn_with_unmappings(seed).twin().walkers.opened_late > 0 for seed in range(SIZE))
    assert late > SIZE // 2


@pytest.mark.parametrize("seed", [110, *seeds(12, 280)])
def test_no_shortcut_jumps_over_an_unmapping(seed: int) -> None:
    """The trace of seed 110 ends with an unmapping long after its last access, which no window of time counts."""
    case = drawn_with_unmappings(seed, plain=True)
    same(quick(case), case.engine())


@pytest.mark.parametrize("warps", [None, (1, 0)])
def test_the_last_start_is_that_of_an_access(warps: tuple[int, int] | None) -> None:
    """Nothing is left to drain when an unmapping comes long after the last answer."""
    record = run([(0, 0, 1), (5000, 0, 1, True)], warps=warps)
    assert record.last_start == 0
