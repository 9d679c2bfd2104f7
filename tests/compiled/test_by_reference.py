"""A lent tuple reads and writes as the tuple does, whatever its arrays are indexed with."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import pytest

from workbench.compiled import bound, by_reference, kernel, routine


class Inner(NamedTuple):
    flags: np.ndarray


class Outer(NamedTuple):
    step: int
    row: np.ndarray
    table: np.ndarray
    inner: Inner


@kernel
def _total(row: np.ndarray) -> int:
    total = 0
    for k in range(row.size):
        total += row[k]
    return total


@routine
def _change(outer: Outer, narrow: Any) -> int:
    for k in range(outer.row.size):
        outer.table[k, 1] = outer.row[k] * outer.step  # a store between reads of the tuple
        outer.inner.flags[k] = outer.table[k, 1] > 10
    outer.row[0], outer.table[narrow, 0] = outer.table[2, 1], outer.table[1][-1]
    return _total(outer.row) + _total(outer.table[narrow])


@kernel
def change(outer: Outer, narrow: Any) -> int:
    return _change(by_reference(outer), narrow)


@pytest.mark.slow
def test_a_lent_tuple_is_the_tuple() -> None:
    """Indices of 32 bits, constants, pairs, rows as ordinary arrays with an index from the end, a tuple within."""
    outer = Outer(3, np.array([1, 2, 5]), np.zeros((3, 2), np.int64), Inner(np.zeros(3, np.bool_)))
    assert change(outer, np.int32(2)) == (15 + 2 + 5) + (6 + 15)
    assert outer.row.tolist() == [15, 2, 5]
    assert outer.table.tolist() == [[0, 3], [0, 6], [6, 15]]
    assert outer.inner.flags.tolist() == [False, False, True]


def _of_fields(*names: str) -> Any:
    """A named tuple class of this name, as each engine has its own."""
    return NamedTuple("Rows", [(name, np.ndarray) for name in names])  # type: ignore[misc]


@routine
def _sizes(rows: Any) -> int:
    return rows.size_of_each[0]


@kernel
def first_size(rows: Any) -> int:
    return _sizes(by_reference(rows))


def test_tuples_of_one_name_and_other_fields_are_not_taken_for_each_other() -> None:
    """Their arrays are of the same types, so the name of the field alone tells which is meant."""
    for fields in (("size_of_each", "begin"), ("begin", "size_of_each")):
        rows = _of_fields(*fields)(size_of_each=np.array([7]), begin=np.array([1]))
        assert first_size(rows) == 7


@routine
def _scale(outer: Outer, place: int, times: int) -> int:
    outer.row[place] *= outer.step * times
    outer.inner.flags[place] = not outer.inner.flags[place]
    return outer.table[place, 1]


def test_a_bound_tuple_is_the_tuple_at_every_call() -> None:
    outer = Outer(3, np.array([1, 2, 5]), np.arange(6).reshape(3, 2), Inner(np.zeros(3, np.bool_)))
    scale = bound(_scale, outer)
    assert (scale(1, 10), scale(2, -1), scale(2, 2)) == (3, 5, 5)
    assert outer.row.tolist() == [1, 60, -90]
    assert outer.inner.flags.tolist() == [False, True, False]
    outer.row[1] = 7
    scale(1, 1)
    assert outer.row[1] == 21
