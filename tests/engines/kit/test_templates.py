"""Copies of what a run begins with: equal to it, and alone with their arrays and lists."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from workbench.engines.kit.templates import LARGE, Template


class Inner(NamedTuple):
    answers: list[Any]
    order: np.ndarray
    same: np.ndarray


class Whole(NamedTuple):
    rules: tuple[int, ...]
    inner: Inner
    zeros: np.ndarray
    alike: np.ndarray
    shares: np.ndarray
    nothing: np.ndarray


def whole() -> Whole:
    order = np.array([[3, 1], [-1, 2]], np.int32)
    inner = Inner([print, 0], order, order)
    zeros, alike = np.zeros((2, LARGE), np.uint64), np.full((LARGE, 2), -1)
    return Whole((1, 2), inner, zeros, alike, np.array([0.0, -0.0, np.nan]), np.zeros((0, 3), bool))


def arrays_of(one: Whole) -> list[np.ndarray]:
    return [one.inner.order, one.zeros, one.alike, one.shares, one.nothing]


def test_a_copy_is_equal_and_of_the_same_types():
    copy = Template(whole()).copy()
    assert type(copy) is Whole
    assert type(copy.inner) is Inner
    assert copy.rules == (1, 2)
    assert copy.inner.answers == [print, 0]
    for one, other in zip(arrays_of(copy), arrays_of(whole()), strict=True):
        assert (one.tobytes(), one.dtype, one.shape) == (other.tobytes(), other.dtype, other.shape)
        assert one.flags.c_contiguous
        assert one.flags.writeable


def test_what_is_written_into_the_tuple_or_a_copy_is_in_no_other_copy():
    given = whole()
    template = Template(given)
    first = template.copy()
    for one in (given, first):
        one.inner.answers[0] = len
        for array in arrays_of(one):
            array[...] = 1
    second = template.copy()
    assert second.inner.answers == [print, 0]
    assert [array.tobytes() for array in arrays_of(second)] == [array.tobytes() for array in arrays_of(whole())]


def test_an_array_that_stands_at_two_places_is_one_array_in_a_copy():
    template = Template(whole())
    first, second = template.copy(), template.copy()
    assert first.inner.order is first.inner.same
    assert first.inner.order is not second.inner.order


def test_large_arrays_of_equal_numbers_take_no_room():
    assert Template(whole()).nbytes == 4 * 4 + 3 * 8
