"""Measures of a heap against their slow twin, and by hand."""

from __future__ import annotations

import math

import pytest
from hypothesis import given, settings

from tests.engines.malloc_cases import batch, cases, simulate
from tests.oracles import malloc_measures as slow
from workbench.metrics.malloc import MEASURES, measure
from workbench.policies.malloc import PerThread, WarpAggregated


@settings(max_examples=60, deadline=None)
@given(cases())
def test_every_measure_equals_its_slow_twin(case):
    record = simulate(case.rows, **case.policies, **case.options)
    measures, expected = measure(record), slow.measures(record)
    assert measures.keys() == expected.keys() == MEASURES.keys()
    for name, value in expected.items():
        assert measures[name] == pytest.approx(value, rel=1e-12, nan_ok=True), name


def test_nobody_calls():
    measures = measure(simulate([]))
    assert math.isnan(measures["latency_mean_cycles"]) and math.isnan(measures["internal_fragmentation"])
    assert measures["peak_heap_bytes"] == measures["failures"] == 0


def test_a_block_is_held_until_its_last_piece_is_given_up():
    """Spec 2, E3: 31 lanes give up at 5,000, one at 9,000; per thread only the last one's memory is held until then."""
    rows = [(0, t, 16, 9000 if t == 31 else 5000) for t in range(32)] + [(7000, 0, 64, -1)]
    together, alone = (measure(simulate(rows, serve)) for serve in (WarpAggregated(), PerThread()))
    assert together["held_by_partly_freed_bytes"] == 31 * 16
    assert together["peak_heap_bytes"] == 512 + 64
    assert alone["held_by_partly_freed_bytes"] == 0
    assert alone["peak_heap_bytes"] <= 512 + 16 * 32


def test_a_refused_warp_is_32_failures():
    measures = measure(simulate(batch([16] * 64), heap_bytes=600))
    assert (measures["failures"], measures["failure_rate"]) == (32, 0.5)
