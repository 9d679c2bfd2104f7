"""The parts of the circuit, one by one: masks, window tests, leading-one searches, comparator, cost (spec 1)."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.oracles.placement import feasible
from workbench.errors import InputError
from workbench.policies.placement.circuit import cost, trace

states = st.lists(st.booleans(), min_size=2, max_size=200)


@given(st.integers(2, 60), st.data())
def test_r10_to_r12_window_masks(segments, data):
    m = data.draw(st.integers(1, segments))
    expected = ["0" * i + "1" * m + "0" * (segments - m - i) for i in range(segments - m + 1)]
    assert list(trace("1" * segments, m).window_masks) == expected


@given(states, st.data(), st.sampled_from(["window_edge", "start_bit"]))
def test_r22_both_comparators_agree(free, data, distance):
    m = data.draw(st.integers(1, len(free)))
    wires = trace(free, m, distance=distance)
    starts = feasible(free, m)
    assert wires.start_map == "".join("01"[k in starts] for k in range(len(free)))
    assert wires.avail_en == bool(starts)
    assert not starts or (wires.i, wires.j) == (starts[0], starts[-1])
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
