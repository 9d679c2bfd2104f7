"""Measures of a heap against their slow twin, and by hand."""

from __future__ import annotations

import math

import pytest
from hypothesis import given

from tests.engines.malloc_cases import batch, cases, simulate
from tests.oracles import malloc_measures as slow
from tests.slow import examples
from workbench.metrics.malloc import MEASURES, measure
from workbench.policies.malloc import PerThread, WarpAggregated


@examples(20, 300)
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


def test_a_piece_that_is_given_up_in_a_block_that_is_still_held_is_fragmentation():
    """31 of 32 lanes give up at 5,000, the block is held until 9,000: 31 x 16 of 512 bytes for 4,000 cycles."""
    rows = [(0, t, 16, 9000 if t == 31 else 5000) for t in range(32)]
    record = simulate(rows, WarpAggregated())
    (granted,), (returned,) = record.granted.tolist(), record.returned.tolist()
    wasted = 31 * 16 * (9000 - 5000) + 512 * (returned - 9000)
    assert measure(record)["fragmentation"] == pytest.approx(wasted / (512 * (returned - granted)))
    assert measure(record)["internal_fragmentation"] == 0
    assert measure(record)["power_proxy_cv"] == 0, "there is one warp"


def test_two_warps_of_which_one_waits_for_the_other_are_out_of_balance():
    measures = measure(record := simulate(batch([16] * 64), WarpAggregated()))
    first, second = (32 * int(one) for one in record.ready)
    assert first != second
    assert measures["power_proxy_cv"] == pytest.approx(abs(first - second) / (first + second))


def test_a_refused_warp_is_32_failures():
    measures = measure(simulate(batch([16] * 64), heap_bytes=600))
    assert (measures["failures"], measures["failure_rate"]) == (32, 0.5)
