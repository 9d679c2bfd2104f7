"""Where sliders stop, for any range that a lever may declare."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from workbench.dashboards._slider_stops import ABOVE_DEFAULT, nearest_stop, stops
from workbench.levers import Lever

whole = st.integers(min_value=-(10**6), max_value=10**10)


@st.composite
def integer_levers(draw: st.DrawFn) -> Lever:
    low, high = sorted((draw(whole), draw(whole)))
    default = draw(st.integers(min_value=low, max_value=high))
    return Lever("n", "integer", default, least=low, most=high, scale=draw(st.sampled_from(["linear", "log"])))


@st.composite
def number_levers(draw: st.DrawFn) -> Lever:
    low, high = sorted((draw(st.floats(-1e6, 1e6)), draw(st.floats(-1e6, 1e6))))
    step = draw(st.none() | st.floats(0.001, 10))
    return Lever("x", "number", low, least=low, most=high, step=step, scale=draw(st.sampled_from(["linear", "log"])))


@given(integer_levers())
def test_stops_of_whole_numbers_rise_inside_the_range_and_are_few(lever):
    result = stops(lever)
    assert result == sorted(set(result))
    assert all(isinstance(value, int) and lever.least <= value <= lever.most for value in result)
    assert 1 <= len(result) <= 600


@given(integer_levers())
def test_a_slider_begins_at_the_least_and_ends_at_the_most_or_far_above_the_default(lever):
    result = stops(lever)
    assert result[0] == lever.least
    if lever.least >= 0:
        assert result[-1] == max(lever.least, min(lever.most, ABOVE_DEFAULT * max(lever.default, 1)))


@given(number_levers())
def test_stops_of_real_numbers_stay_inside_the_range(lever):
    result = stops(lever)
    slack = 1e-9 * max(1.0, abs(lever.least), abs(lever.most))
    assert all(lever.least - slack <= value <= lever.most + slack for value in result)
    assert result == sorted(set(result))
    assert len(result) <= 600


@given(st.lists(st.integers(0, 10**6), min_size=1, unique=True), st.integers(-5, 10**6 + 5))
def test_the_nearest_stop_is_nearest(values, value):
    values.sort()
    at = nearest_stop(values, value)
    assert all(abs(values[at] - value) <= abs(other - value) for other in values)


def test_small_numbers_are_all_there_and_large_ones_sixteen_a_doubling():
    result = stops(Lever("segments", "integer", 128, least=2, most=4096))
    assert result[:31] == list(range(2, 33))
    assert [value for value in result if 64 < value <= 128] == list(range(68, 129, 4))


def test_without_a_range_there_is_no_slider():
    assert stops(Lever("seed", "integer", 0, least=0)) == []
