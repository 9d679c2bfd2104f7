"""Rivals at the walkers against latencies worked out by hand: merging, batches of a node, walks in software."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from tests.engines.translation_cases import DrawnPages, latencies, simulate
from workbench.metrics.translation import measure
from workbench.records.translation import TranslationRecord

PLAIN = {"locate": "no_directory", "fill": "demand_always"}
ALONE = {"cores": 4, "private_entries": 4, "shared_entries": 0, "walkers": 1}
"""Nothing behind private TLBs but one walker of four levels, 100 cycles each."""
WITH_SHARED = {**ALONE, "shared_entries": 16}


def run(rows: Any, machine: dict[str, Any], **options: Any) -> TranslationRecord:
    return simulate(rows, machine, PLAIN, events=True, **options)


def same(one: TranslationRecord, other: TranslationRecord) -> bool:
    return all(np.array_equal(mine, its) for mine, its in zip(one, other, strict=True))


# merge_walks

TWICE = [(0, 0, 7), (5, 1, 7)]


@pytest.mark.parametrize(("merges", "walks", "second"), [(True, 1, 396), (False, 2, 401)])
def test_a_page_walked_twice_at_a_time(merges, walks, second):
    record = run(TWICE, {**ALONE, "walkers": 2}, merge_walks=merges)
    assert (record.walks, record.walks_joined) == (walks, 2 - walks)
    assert latencies(record) == [401, second]


def test_walks_that_are_not_merged_queue_one_by_one():
    record = run(TWICE, WITH_SHARED, merge_walks=False)
    assert record.walks == 2
    assert latencies(record) == [413, 413 + 400 - 5]


def test_accesses_of_one_core_join_its_miss_all_the_same():
    record = run([(0, 0, 7), (5, 0, 7)], WITH_SHARED, merge_walks=False)
    assert (record.walks, latencies(record)) == (1, [413, 408])


@pytest.mark.parametrize(("unmaps", "again"), [(False, 13), (True, 413)])
def test_every_walk_of_an_unmapped_page_fills_nothing(unmaps, again):
    """One walk is under way, one waits; were the second not marked, it would make the shared entry at 813."""
    rows = [*TWICE, (50, 2, 7 if unmaps else 8, unmaps), (2000, 3, 7)]
    record = run(rows, WITH_SHARED, merge_walks=False)
    assert latencies(record)[-1] == again


def test_without_merging_a_burst_on_one_page_is_a_queue_of_its_own():
    """Kiefer and Wolfowitz: 4 requests at once, 2 walkers of 400 cycles; private look-up 1."""
    rows = [(0, core, 7) for core in range(4)]
    record = run(rows, {**ALONE, "walkers": 2}, merge_walks=False)
    assert sorted(latencies(record)) == [401, 401, 801, 801]
    assert record.walk_queue_cycles == 800


# walk_order

A, B, C, D, E = 0, 1000, 1, 1001, 2
"""A, C and E lie in one node of the lowest level, B and D in the next."""


def by_node(**levers: int) -> dict[str, Any]:
    return {"walk_order": {"by_node": levers}}


def one_a_core(*pages: int) -> list[tuple[int, int, int]]:
    return [(core, core, page) for core, page in enumerate(pages)]


@pytest.mark.parametrize(
    ("order", "expected", "levels"),
    [
        ({}, [401, 800, 1199, 1598], 16),
        (by_node(most=1), [401, 800, 1199, 1598], 16),
        (by_node(), [401, 900, 499, 998], 10),
        (by_node(level=2), [401, 600, 799, 998], 10),
    ],
)
def test_walks_of_a_node_go_together(order, expected, levels):
    """By node: A ends at 401, C follows with one level until 501, B reads four until 901, D follows until 1001."""
    record = run(one_a_core(A, B, C, D), ALONE, **order)
    assert (latencies(record), record.walk_levels) == (expected, levels)


def test_a_full_batch_ends():
    """C is the second of A's batch, so B comes before E, which begins another."""
    record = run(one_a_core(A, B, C, E), ALONE, **by_node(most=2))
    assert latencies(record) == [401, 900, 499, 1301 - 3]


def test_a_batch_reads_no_more_than_the_walk_cache_leaves():
    machine = {**ALONE, "walk_cache_entries": 8}
    record = run(one_a_core(A, B, C), machine, **by_node(level=2))
    assert latencies(record) == [401, 600, 699]
    assert record.walk_levels == 4 + 2 + 1


def test_large_pages_have_nodes_of_their_own():
    """Two pages of 2 MiB share a node one level up: the second reads one level, the base page between four."""
    sizes = {"page_sizes": {"by_range": {"ranges": [{"begin": 0, "end": 2 << 20}, {"begin": 4 << 20, "end": 6 << 20}]}}}
    record = run(one_a_core(5, 600, 1024), ALONE, **by_node(), **sizes)
    assert latencies(record) == [301, 801 - 1, 401 - 2]


def test_a_dead_walk_holds_its_place_in_the_queue():
    rows = [*one_a_core(A, B, C), (50, 3, C, True)]
    record = run(rows, ALONE, **by_node())
    assert latencies(record) == [401, 900, 499]


def test_the_rest_of_the_queue_keeps_its_order():
    rows = [(0, 0, A), *((1 + at, 0, page) for at, page in enumerate([B, 5000, C, 9000]))]
    record = run(rows, ALONE, **by_node())
    assert latencies(record) == [401, 901 - 1, 1301 - 2, 501 - 3, 1701 - 4]


def test_a_full_queue_takes_in_who_waits():
    """The queue has two places: E waits for one, and takes it when C has gone; then it follows C."""
    rows = [(0, 0, A), *((1 + at, 0, page) for at, page in enumerate([B, C, E]))]
    record = run(rows, {**ALONE, "walk_queue": 2}, **by_node())
    assert latencies(record) == [401, 1001 - 1, 501 - 2, 601 - 3]


# walks_by


def software(**levers: Any) -> dict[str, Any]:
    return {"walks_by": {"software": {"walks": 1, "start_cycles": 50, "level_cycles": 200, **levers}}}


def of_core(core: int, *pages: int) -> list[tuple[int, int, int]]:
    return [(at, core, page) for at, page in enumerate(pages)]


def test_a_core_walks_when_no_walker_is_free():
    """A walk in software takes 850 cycles; core 0's third page waits for the walker, core 1 walks itself."""
    record = run([*of_core(0, 1, 2, 3), (4, 1, 4)], ALONE, **software())
    assert latencies(record) == [401, 851, 799, 851]
    assert record.walk_levels == 16


def test_a_core_goes_on_with_its_own_walks_and_the_walker_with_any():
    record = run(of_core(0, 1, 2, 3, 4, 5), ALONE, **software())
    assert latencies(record) == [401, 851, 799, 1201 - 3, 852 + 850 - 4]


def test_a_core_does_not_take_the_walks_of_another():
    """At 852 core 0's slot is free, but what waits was opened by core 1: it waits for the walker, free at 801."""
    rows = [(0, 0, 1), (1, 0, 2), (2, 1, 3), (3, 1, 4), (4, 1, 5)]
    record = run(rows, ALONE, **software())
    assert latencies(record) == [401, 851, 851, 801 - 3, 1201 - 4]


def test_a_core_that_may_walk_overtakes_who_waits_for_a_place():
    rows = [*of_core(0, 1, 2, 3, 4), (10, 1, 9)]
    record = run(rows, {**ALONE, "walk_queue": 1}, **software())
    assert latencies(record) == [401, 851, 799, 1201 - 3, 851]


def test_who_waits_for_a_place_walks_in_software_when_its_core_may():
    """Core 1 asks first and fills walker and queue; core 0's third request waits for a place until its slot is free."""
    slow = {**ALONE, "walk_queue": 1, "level_cycles": 1000}
    rows = [(0, 1, 1), (1, 0, 2), (2, 1, 3), (3, 1, 4), (4, 0, 5)]
    record = run(rows, slow, **software())
    assert latencies(record) == [4001, 851, 851, 853 + 850 - 3, 852 + 850 - 4]


def test_walks_in_software_alone():
    record = run(of_core(0, 1, 2), ALONE, **software(only=True))
    assert latencies(record) == [851, 1700]
    assert (record.walkers, record.walk_cycles) == (4, 1700)
    assert measure(record)["walker_utilization"] == 1700 / (4 * 1701)


def test_as_many_walks_as_come_wait_for_nothing():
    record = run(DrawnPages(count=300), ALONE, **software(walks=1024))
    assert record.walk_queue_cycles == record.walk_queue_latency == 0


def test_neutral_values_are_what_is_not_said():
    neutral = {"merge_walks": True, "walk_order": "by_arrival", "walks_by": "hardware", "bypass": "never"}
    same_pages = {"page_sizes": "one_size", "contiguity": "whole_groups"}
    assert same(run(DrawnPages(), WITH_SHARED), run(DrawnPages(), WITH_SHARED, **neutral, **same_pages))
