"""Every measure of PyTorch's allocator from a made-up record, request by request and call by call."""

from __future__ import annotations

import math
import random

import numpy as np
import pytest

from tests.slow import seeds
from workbench.metrics.torch_allocator import MEASURES, measure
from workbench.records.torch_allocator import ALLOC, FREE, AllocatorRecord, CallCosts, CardRun, ReplayFidelity

MIB = 1 << 20
COSTS = CallCosts(alloc_ns=20_000, free_ns=7_000, page_ns=2_000, ns_per_mib=500)


def made_up(chance: random.Random, requests: int) -> CardRun:
    """Allocations, a fifth of them refused, and frees; the driver's calls before and within the history."""
    reserved = live = chance.randrange(0, 40) * MIB
    start, rows, calls = reserved, [], []
    for row in range(requests):
        size, draw = chance.randrange(1, 9) * MIB, chance.random()
        if draw < 0.4:
            reserved += size
            calls.append((row, 0, size, chance.choice([0, 0, 3])))
        elif draw < 0.6 and reserved - size >= live:
            reserved -= size
            calls.append((row, 0, -size, chance.choice([0, 0, 2])))
        kind, placed = chance.choice([ALLOC, ALLOC, FREE]), -1
        if kind == ALLOC and live + size <= reserved and chance.random() < 0.8:
            live, placed = live + size, 512 * row
        elif kind == FREE:
            live -= min(size, live)
        rows.append((kind, row, size, placed, live, reserved))
    columns = np.array(rows, np.int64).reshape(-1, 6).T
    made = np.array(calls, np.int64).reshape(-1, 4)
    return CardRun(*columns, start, made, requests // 3, chance.randrange(5), chance.randrange(50))


def plain(record: AllocatorRecord) -> dict[str, float]:
    peaks, most_live, calls, refused, cached = 0, 0, [], 0, 0
    for card in record.cards:
        peaks += max([card.reserved_at_start, *card.reserved.tolist()])
        most_live += max([0, *card.live.tolist()])
        calls += [call for call in card.calls.tolist() if call[0] >= card.before]
        for kind, size, placed, live, reserved in zip(
            *(column.tolist() for column in (card.kind, card.size, card.placed, card.live, card.reserved)), strict=True
        ):
            if kind == ALLOC and placed == -1:
                refused += 1
                cached += size <= reserved - live
    exact = record.reproduced
    return {
        "reserved_peak_bytes": peaks,
        "live_peak_bytes": most_live,
        "fragmentation": (peaks - most_live) / peaks if peaks else math.nan,
        "driver_calls": len(calls),
        "driver_ns": sum(cost_of(size, pages) for _, _, size, pages in calls),
        "pages_mapped": sum(card.pages_mapped for card in record.cards),
        "flushes": sum(card.flushes for card in record.cards),
        "refused": refused,
        "refused_though_cached": cached,
        "recorded_reserved_peak_bytes": exact.recorded_reserved_peak_bytes if exact else math.nan,
        "segment_allocs": exact.segment_allocs if exact else math.nan,
        "segment_allocs_reproduced": exact.segment_allocs_reproduced if exact else math.nan,
        "allocs": exact.allocs if exact else math.nan,
        "addresses_reproduced": exact.addresses_reproduced if exact else math.nan,
    }


def cost_of(size: int, pages: int) -> float:
    """A call's nanoseconds: pages cost each, a segment of its own once, and what is got by the MiB."""
    once = pages * COSTS.page_ns if pages else COSTS.alloc_ns if size > 0 else COSTS.free_ns
    return once + max(size, 0) / MIB * COSTS.ns_per_mib


@pytest.mark.parametrize("seed", seeds(30, 100))
def test_every_measure_equals_its_slow_twin(seed):
    chance = random.Random(seed)
    cards = tuple(made_up(chance, chance.choice([0, 1, 40])) for _ in range(chance.choice([1, 2])))
    exact = ReplayFidelity(*(chance.randrange(100) for _ in range(5))) if seed % 2 else None
    record = AllocatorRecord(cards, exact, COSTS)
    measures, expected = measure(record), plain(record)
    assert measures.keys() == expected.keys() == MEASURES.keys()
    for name, value in expected.items():
        assert measures[name] == pytest.approx(value, rel=1e-12, nan_ok=True), name
