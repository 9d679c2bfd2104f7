"""The vectors V1 to V14, the prefix table and the contention arithmetic of spec 2, section 4, by number."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest

from tests.engines.malloc_cases import batch, simulate
from workbench.metrics.malloc import measure
from workbench.policies.malloc import PerThread, WarpAggregated
from workbench.records.malloc import address

M = 1 << 20


def exclusive(**levers):
    return WarpAggregated(**{"min_alloc": 4, "align": 1, **levers})


def as_written(**levers):
    return exclusive(prefix="as_written", **levers)


@pytest.mark.parametrize(
    ("rule", "offsets"),
    [("exclusive", [0, 5, 13, 22]), ("inclusive", [5, 13, 22, 24]), ("as_written", [0, 8, 17, 19])],
)
def test_three_statements_of_the_prefix_sum(rule, offsets):
    assert exclusive(prefix=rule, min_alloc=1).offsets([5, 8, 9, 2]) == [(24, offsets)]


def test_the_written_rule_is_safe_where_sizes_are_equal_and_nowhere_else():
    """as_written[k] - exclusive[k] = req[k] - req[0]; all of 4 lanes with sizes 1 to 4."""
    for sizes in product(range(1, 5), repeat=4):
        (_, good), (_, bad) = exclusive(min_alloc=1).offsets(sizes)[0], as_written(min_alloc=1).offsets(sizes)[0]
        assert [b - g for b, g in zip(bad, good, strict=True)] == [size - sizes[0] for size in sizes]
        pieces = [set(range(start, start + size)) for start, size in zip(bad, sizes, strict=True)]
        safe = len(set().union(*pieces)) == sum(sizes) and max(max(p) for p in pieces) < sum(sizes)
        assert safe == (len(set(sizes)) == 1)


def test_what_the_written_rule_does_to_the_table():
    measures = measure(simulate(batch([5, 8, 9, 2]), as_written(min_alloc=1)))
    assert (measures["overlap_bytes"], measures["out_of_bounds_bytes"]) == (2, 2)


@pytest.mark.parametrize("policy", [exclusive(), as_written()])
def test_v1_v2_figure_5(policy):
    assert policy.offsets([2] * 64) == [(128, list(range(0, 128, 4)))] * 2


@pytest.mark.parametrize(("base", "last"), [(0x7BABCD0000, 0x7BABCD007C), (0x7BBCDE0000, 0x7BBCDE007C)])
def test_v3_v4_addresses(base, last):
    result = address(simulate(batch([2] * 32), exclusive(), base_address=base, granule_bytes=4))
    assert result[:4].tolist() == [base, base + 4, base + 8, base + 12]
    assert result[31] == last
    assert result[31] + 3 == base + 0x7F


def test_v5_v6_sixty_threads():
    first, second = exclusive().offsets([2] * 60)
    assert (first, len(second[1]), second[0], second[1][27]) == ((128, list(range(0, 128, 4))), 28, 112, 108)
    assert exclusive(pad=True).offsets([2] * 60)[1][1][28:] == [112] * 4
    assert as_written(pad=True).offsets([2] * 60)[1][1][28:] == [108] * 4


def test_v7_figure_3():
    assert exclusive().offsets([M, 2 * M, M]) == [(4 * M, [0, M, 3 * M])]
    assert as_written().offsets([M, 2 * M, M]) == [(4 * M, [0, 2 * M, 3 * M])]
    measures = measure(simulate(batch([M, 2 * M, M]), as_written()))
    assert measures["overlap_bytes"] == M


def test_v8_two_warps_two_calls():
    sizes = [M, 2 * M, M, *[46 * M // 29] * 29]
    record = simulate(batch([*sizes, *[30 * M // 32] * 32]), exclusive(), heap_bytes=1 << 28)
    assert record.total.tolist() == [sum(sizes), 30 * M]
    assert record.heap_atomics == 2


def test_v9_v10_the_code_example():
    good, bad = exclusive().offsets(range(1, 65)), as_written().offsets(range(1, 65))
    assert good[0][0] == 534 and good[0][1][:8] == [0, 4, 8, 12, 16, 21, 27, 34] and good[0][1][31] == 502
    assert bad[0][1][31] == 530
    assert good[1][0] == 1552 and good[1][1][:8] == [0, 33, 67, 102, 138, 175, 213, 252] and good[1][1][31] == 1488
    assert bad[1][1][31] == 1519
    by_warp = [
        measure(simulate([(0, t, t + 1, -1) for t in threads], as_written())) for threads in (range(32), range(32, 64))
    ]
    assert [result["out_of_bounds_bytes"] for result in by_warp] == [28, 31]
    starts, sizes = bad[1][1], list(range(33, 65))
    covered = set().union(*(range(start, start + size) for start, size in zip(starts, sizes, strict=True)))
    assert len(set(range(1552)) - covered) == 31


def test_v11_ten_threads():
    assert exclusive(min_alloc=1).offsets(range(1, 11)) == [(55, [0, 1, 3, 6, 10, 15, 21, 28, 36, 45])]
    assert as_written(min_alloc=1).offsets(range(1, 11))[0][1][9] == 54
    measures = measure(simulate(batch(list(range(1, 11))), as_written(min_alloc=1)))
    assert measures["out_of_bounds_bytes"] == 9


def test_v12_figure_1():
    assert simulate(batch([4] * 10), PerThread()).acquisitions == 10
    assert simulate(batch([4] * 10), exclusive()).acquisitions == 1


@pytest.mark.parametrize(
    ("threads", "warp", "atomics"), [(64, 32, 2), (1024, 32, 32), (60, 32, 2), (1000, 32, 32), (64, 64, 1)]
)
def test_v13_atomics(threads, warp, atomics):
    calls = batch([4] * threads)
    assert simulate(calls, exclusive(warp_size=warp)).heap_atomics == atomics
    assert simulate(calls, PerThread()).heap_atomics == threads


def test_v14_internal_fragmentation():
    measures = measure(simulate(batch([2] * 64), exclusive(), granule_bytes=4))
    assert (measures["internal_fragmentation"], measures["peak_heap_bytes"]) == (0.5, 256)


@pytest.mark.parametrize(("threads", "alone", "together"), [(10, 45, 0), (64, 2016, 1), (1024, 523_776, 496)])
def test_contention_arithmetic(threads, alone, together):
    """Everybody who waits tries once a critical section: c (c - 1) / 2 in vain."""
    calls = batch([4] * threads)
    assert simulate(calls, PerThread()).tried_in_vain == alone == threads * (threads - 1) // 2
    assert simulate(calls, exclusive()).tried_in_vain == together
    if together > 1:
        assert np.isclose(alone / together, 1056)
