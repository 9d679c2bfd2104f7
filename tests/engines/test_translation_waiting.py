"""Misses under way are joined, and an unmapped page leaves nothing behind (spec 4, E14, E15)."""

from __future__ import annotations

import pytest

from tests.engines.translation_cases import simulate
from workbench.records.translation import SERVED_BY, events

MACHINE = {"cores": 2, "private_entries": 4, "shared_entries": 16, "shared_cycles": 12}


def served(record, core):
    return {source: int(count) for source, count in zip(SERVED_BY, record.served[core], strict=False) if count}


@pytest.mark.parametrize("fill", ["gate_any", "demand_always"])
def test_overlapping_accesses_of_a_core_to_a_page_are_one_miss(fill):
    record = simulate([(0, 0, 7), (1, 0, 7), (2, 0, 7)], MACHINE, {"fill": fill}, events=True)
    assert served(record, 0) == {"walk": 1, "merged": 2}
    assert (record.shared_accesses, record.walks) == (1, 1)
    log = events(record)
    ends = (log["cycle"] + log["latency"])[log["kind"] == "access"]
    assert ends.tolist() == [1 + 1 + 12 + 400] * 3


def test_overlapping_misses_that_a_peer_serves_are_one_request():
    policy = {"locate": {"directory": {"scope": "oracle"}}, "fill": "demand_always", "remote_fill": "never"}
    record = simulate([(0, 1, 7), (900, 0, 7), (901, 0, 7), (990, 0, 7)], MACHINE, policy)
    assert served(record, 0) == {"peer": 2, "merged": 1}
    assert record.remote_requests == 2


def test_a_miss_that_is_done_is_not_joined_and_takes_no_register():
    machine = {**MACHINE, "private_mshrs": 1}
    record = simulate([(0, 0, 7), (414, 0, 7), (900, 0, 8)], machine, {"fill": "gate_any"})
    assert served(record, 0) == {"walk": 2, "shared": 1}
    assert record.mshr_wait_cycles == 0


def test_a_core_that_waits_for_a_page_needs_no_second_register():
    machine = {**MACHINE, "private_mshrs": 1}
    record = simulate([(0, 0, 7), (5, 0, 7)], machine, {"fill": "gate_any"})
    assert served(record, 0) == {"walk": 1, "merged": 1}
    assert record.mshr_wait_cycles == 0


def test_a_miss_of_a_page_unmapped_since_is_not_joined():
    record = simulate([(0, 0, 7), (1, 1, 7, True), (2, 0, 7)], MACHINE, {"fill": "gate_any"})
    assert served(record, 0) == {"walk": 2}


def directory_of(records):
    return {"locate": {"directory": {"scope": "oracle", "entries": records}}, "fill": "demand_always"}


def test_an_unmapped_page_takes_no_room_in_directories():
    rows = [(0, 1, 20), (1000, 0, 10), (2000, 1, 10), (3000, 2, 10, True), (4000, 0, 20)]
    record = simulate(rows, {"cores": 3, "private_entries": 2}, directory_of(3))
    assert served(record, 0) == {"walk": 1, "peer": 1}


def test_a_page_that_an_inclusive_shared_tlb_evicts_takes_no_room_in_directories():
    rows = [(0, 0, 10), (1000, 1, 10), (2000, 1, 20), (3000, 2, 30), (4000, 0, 20)]
    machine = {"cores": 3, "private_entries": 2, "shared_entries": 2}
    record = simulate(rows, machine, directory_of(4), inclusive=True)
    assert served(record, 0) == {"walk": 1, "peer": 1}
