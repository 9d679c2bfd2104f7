"""The parts of the circuit, one by one: masks, window tests, leading-one searches, comparator, cost (spec 1)."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.oracles.placement import feasible
from workbench.errors import InputError
from workbench.policies.placement.circuit import (
    cost,
    highest_by_scan,
    highest_raw_by_halving,
    lowest_by_halving,
    lowest_by_scan,
    mask_test,
    padded,
    release_mask,
    shift_test,
    size_mask,
    trace,
    window_masks,
    window_test,
)
from workbench.structures.bitmaps import mark_free, packed, unpacked

states = st.lists(st.booleans(), min_size=2, max_size=200)


@given(st.integers(2, 200), st.data())
def test_r9_release_mask_sets_what_a_release_frees(segments, data):
    length = data.draw(st.integers(1, segments))
    start = data.draw(st.integers(0, segments - length))
    mask = release_mask(segments, start, length)
    assert mask.tolist() == [start <= k < start + length for k in range(segments)]
    words = packed(np.zeros(segments, bool))
    mark_free(words, start, length)
    assert unpacked(words, segments).tolist() == mask.tolist()


def test_e6_release_shifts_by_the_base():
    assert release_mask(8, 5, 2).tolist() == [False] * 5 + [True] * 2 + [False]
    assert release_mask(8, 0, 2).tolist() == size_mask(8, 2).tolist()


@given(st.integers(2, 60), st.data())
def test_r10_to_r12_window_masks(segments, data):
    m = data.draw(st.integers(1, segments))
    masks = window_masks(segments, m)
    assert masks.tolist() == [[i <= k < i + m for k in range(segments)] for i in range(segments - m + 1)]
    assert masks[0].tolist() == size_mask(segments, m).tolist()


@given(states, st.data())
def test_r13_to_r15_every_test_agrees(free, data):
    m = data.draw(st.integers(1, len(free)))
    bits = np.array(free)
    starts, rows = feasible(free, m), range(len(free) - m + 1)
    masks = window_masks(len(free), m)
    for taken_is_one in (False, True):
        displayed = ~bits if taken_is_one else bits
        assert [i for i in rows if mask_test(displayed, masks[i], taken_is_one)] == starts
        assert [i for i in rows if window_test(displayed, i, m, taken_is_one)] == starts
        assert np.flatnonzero(shift_test(displayed, m, taken_is_one)).tolist() == starts


@given(states.filter(any), st.sampled_from([1, 2, 4, 8, 16, 64]))
def test_r24_to_r28_searches(bits, lut_bits):
    vector = np.array(bits)
    wide = padded(vector)
    lowest, highest = bits.index(True), len(bits) - 1 - bits[::-1].index(True)
    assert wide.size == 2 ** math.ceil(math.log2(len(bits)))
    assert lowest_by_halving(wide, lut_bits) == lowest_by_scan(vector, 0, len(bits)) == lowest
    assert wide.size - 1 - highest_raw_by_halving(wide, lut_bits) == highest_by_scan(vector, 0, len(bits)) == highest


@given(states, st.data(), st.sampled_from(["window_edge", "start_bit"]))
def test_r22_both_comparators_agree(free, data, distance):
    m = data.draw(st.integers(1, len(free)))
    wires = trace(free, m, distance=distance)
    assert wires.avail_en == bool(feasible(free, m))
    assert wires.comparator is wires.raw_comparator
    if wires.avail_en:
        assert wires.base == (wires.i if wires.low_distance <= wires.high_distance else wires.j)


def test_r27_undefined_wires_are_none():
    wires = trace("0000", 1)
    assert not wires.avail_en
    assert (wires.i, wires.j, wires.base, wires.comparator, wires.raw_comparator) == (None,) * 5


def test_r28_padding_leaves_i_and_j():
    wires = trace("01110011011", 2)  # 11 segments, searched as 16
    assert (wires.i, wires.j, wires.base) == (1, 9, 9)
    assert len(wires.llop) == 4
    assert int(wires.mlop_raw, 2) == 15 - 9


@pytest.mark.parametrize(("segments", "stages"), [(8, 1), (16, 2), (128, 5), (1824, 9), (4096, 10)])
def test_h1_8_stages(segments, stages):
    assert cost(segments, lut_bits=8).search_stages == stages
    assert cost(segments, leading_one="linear").search_stages == segments


def test_cost_of_the_window_tests():
    masked, windowed = cost(16, 4, probe="mask_or_and"), cost(16, 4, probe="window_and")
    assert masked.rows == windowed.rows == 13
    assert masked.test_gates == 13 * (16 + 16 + 15)  # inverters, ORs, an AND tree a row
    assert masked.test_depth == 1 + 1 + 4
    assert windowed.test_gates == 13 * 3
    assert windowed.test_depth == 2
    assert (masked.mask_bits, masked.mask_steps) == (13 * 16, 0)
    on_the_fly = cost(16, 4, probe="mask_or_and", mask_source="on_the_fly")
    assert (on_the_fly.mask_bits, on_the_fly.mask_steps) == (0, 12)
    assert (windowed.mask_bits, windowed.mask_steps) == (0, 0)


def test_cost_of_the_shift_chain():
    chain = cost(16, 4, probe="shift_and")
    assert (chain.test_gates, chain.test_depth) == (16 * 3, 3)


@pytest.mark.parametrize("wrong", [0, 17, True, 1.5, "4"])
def test_cost_refuses_what_does_not_exist(wrong):
    with pytest.raises(InputError, match="length must be a whole number from 1 to 16"):
        cost(16, wrong)
    with pytest.raises(InputError, match="segments"):
        cost(1)
