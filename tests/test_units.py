"""Conversions against exact fractions, for single values and for arrays."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from workbench.units import (
    cycles_each,
    cycles_from_ns,
    given_out,
    granule_bytes,
    kib,
    segments_for,
    segments_in,
    waves_for,
    workgroups_for,
)

CLOCKS = st.sampled_from([1.0, 1000.0, 1410.0, 1700.0, 2400.5])


def test_the_documents_memory_has_granules_of_512_bytes():  # spec 1, V1
    assert granule_bytes(kib(64), 128) == 512
    assert segments_in(kib(64), 512) == 128


def test_kib_takes_halves():
    assert (kib(0.5), kib(228)) == (512, 233_472)


@given(st.integers(0, 1 << 40), st.integers(1, 1 << 20))
def test_rounding_up_is_the_least_count_that_holds_all(size, unit):
    for rounded in (segments_for(size, unit), waves_for(size, unit), workgroups_for(size, unit)):
        assert rounded * unit >= size > (rounded - 1) * unit
    assert given_out(size, unit) == segments_for(size, unit) * unit


@given(st.lists(st.integers(0, 1 << 40), min_size=1, max_size=5), st.integers(1, 1 << 20))
def test_arrays_give_what_single_values_give(sizes, unit):
    array = np.array(sizes)
    for convert in (segments_for, waves_for, workgroups_for, given_out):
        assert convert(array, unit).tolist() == [convert(size, unit) for size in sizes]


@given(st.integers(1, 10**12), CLOCKS)
def test_cycles_are_the_nearest_whole_ones_and_never_none(time_ns, clock_mhz):
    exact = Fraction(time_ns) * Fraction(clock_mhz) / 1000
    assert abs(cycles_from_ns(time_ns, clock_mhz) - exact) <= max(Fraction(1, 2), 1 - exact) + exact * Fraction(
        1, 1 << 50
    )
    assert cycles_from_ns(time_ns, clock_mhz) >= 1


@given(st.lists(st.integers(-5, 10**12), min_size=1, max_size=6), CLOCKS)
def test_cycles_of_an_array_are_those_of_each(times, clock_mhz):
    assert cycles_each(np.array(times), clock_mhz).tolist() == [cycles_from_ns(time, clock_mhz) for time in times]


@pytest.mark.parametrize(("time_ns", "cycles"), [(0, 0), (0.1, 1), (2.5, 2), (3.5, 4), (1000, 1000), (-3, 0)])
def test_cycles_at_one_gigahertz(time_ns, cycles):
    assert cycles_from_ns(time_ns, 1000) == cycles


def test_a_half_is_rounded_alike_alone_and_in_an_array():
    """5,750 ns at 1,410 MHz are 8,107.5 cycles exactly; dividing the clock first loses the half."""
    assert cycles_from_ns(5750, 1410.0) == 8108
    assert cycles_each(np.array([5750, 11550, 22950]), 1410.0).tolist() == [8108, 16286, 32360]
