"""Heaps that grow out of their card: where every byte of every piece lies, and how serving keeps warps whole."""

from __future__ import annotations

import math

import pytest

from tests.engines.pool_cases import Case, line
from workbench.engines.malloc import Malloc
from workbench.errors import InputError
from workbench.experiments.plan import make_plan
from workbench.experiments.sweep import read_sweep
from workbench.explain.heap_growth import HeapGrowth, heaps_on_pool, pieces_on_cards, segment_requests
from workbench.policies.pool import LocalOnly, RoundRobin
from workbench.records.malloc import address

GROWTH = HeapGrowth(segment_bytes=1024, clock_mhz=2000.0)
BATCHES = {
    "synthetic": "random_mallocs",
    "threads": 96,
    "batches": 2,
    "batch_cycles": 5000,
    "size": {"uniform": [1, 90]},
}


def heap(serve, seed=0):
    config = {"engine": "malloc", "machine": "h100", "workload": BATCHES, "policy": {"serve": serve}, "seeds": 1}
    options = {"heap_bytes": 1 << 16, "base_address": 4096}
    return Malloc().simulate(make_plan(read_sweep({**config, "options": options})).points[0].setup, seed)


def on_pool(heaps, target, *left):
    requests = segment_requests(heaps, GROWTH)
    rows = list(zip(*(column.tolist() for column in requests), strict=True))
    return requests, Case(rows, line(*left), {"target": target}).simulate()


def slow_growth(heaps):
    """(ns, card, segment) as blocks first touch segments, byte by byte."""
    result = {}
    for card, record in heaps.items():
        for base, granules, cycle in zip(record.base, record.granules, record.granted, strict=True):
            for granule in range(int(base), int(base + granules)):
                segment = granule * record.granule_bytes // 1024
                result[card, segment] = min(result.get((card, segment), math.inf), int(cycle) // 2)
    return sorted((time, card, segment) for (card, segment), time in result.items())


def slow_pieces(card, record, lies):
    """Calls, those that straddle, bytes on other cards, bytes refused and all bytes, byte by byte."""
    calls, away, refused, bytes_of_all = {}, 0, 0, 0
    for row, start in enumerate(address(record).tolist()):
        if record.block[row] < 0 or not record.size[row]:
            continue
        call = calls.setdefault((int(record.thread[row]) // 32, int(record.arrival[row])), set())
        for byte in range(start - 4096, start - 4096 + int(record.size[row])):
            place = lies.get((card, byte // 1024), -1)
            bytes_of_all += 1
            refused += place < 0
            away += place not in (-1, card)
            call |= {place} - {-1}
    return len(calls), sum(len(call) > 1 for call in calls.values()), away, refused, bytes_of_all


@pytest.mark.parametrize("serve", ["warp_aggregated", "per_thread"])
@pytest.mark.parametrize("target", [RoundRobin(), LocalOnly()], ids=lambda it: it.name)
def test_segments_and_pieces_are_what_is_counted_byte_by_byte(serve, target):
    heaps = {0: heap(serve), 2: heap(serve, seed=1)}
    requests, record = on_pool(heaps, target, 3000, 20_000, 8000, 20_000)
    requested = zip(requests.time.tolist(), requests.card.tolist(), requests.handle.tolist(), strict=True)
    assert list(requested) == slow_growth(heaps)
    lies = dict(zip(zip(requests.card.tolist(), requests.handle.tolist()), record.card.tolist(), strict=True))
    for result in pieces_on_cards(heaps, record, GROWTH):
        calls, straddling, away, refused, all_bytes = slow_pieces(result.card, heaps[result.card], lies)
        assert result.calls == calls and result.straddling_percent == pytest.approx(100 * straddling / calls)
        assert result.remote_percent == pytest.approx(100 * away / all_bytes)
        assert result.refused_percent == pytest.approx(100 * refused / all_bytes)
        mine = [place for (card, _), place in lies.items() if card == result.card]
        assert result.segments == len(mine) > 3
        assert result.remote_segments == sum(place not in (-1, result.card) for place in mine)
        assert (away > 0, refused > 0) == ((True, False) if target.name == "round_robin" else (False, True))


def test_a_warp_that_is_served_as_one_straddles_less_and_large_segments_help():
    mixed = {"synthetic": "random_mallocs", "threads": 512}
    few = {"workload": mixed, "machine": "table_300", "left_bytes": 1 << 14}
    cards = heaps_on_pool(targets=["round_robin"], segments=[1 << 11, 1 << 14], **few)
    small, large, small_apart, large_apart = (one.heap for one in cards)
    assert [one.serve for one in cards] == ["warp_aggregated"] * 2 + ["per_thread"] * 2
    assert 0 < large.straddling_percent < small.straddling_percent
    assert small.straddling_percent <= small_apart.straddling_percent
    assert large_apart.remote_percent > 50 and large.refused_percent == 0


def test_what_cannot_be_compared_is_said():
    with pytest.raises(InputError, match=r"segment_requests needs the heap of at least one card\. Got none\."):
        segment_requests({})
    with pytest.raises(InputError, match="needs the record of what segment_requests asks"):
        pieces_on_cards({0: heap("per_thread")}, Case([], line(9, 9)).simulate())
    with pytest.raises(InputError, match="heaps_on_pool needs at least one way to serve"):
        heaps_on_pool(serves=[])
