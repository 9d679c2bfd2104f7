"""Routines called by address do what they do called by name, whatever tuple they run on."""

from copy import deepcopy
from typing import NamedTuple

import numpy as np
import pytest

from tests.slow import compiled_only
from workbench.compiled import bound, kernel, routine
from workbench.compiled.kernel import INTERPRETED
from workbench.compiled.memory_access import Referent, call, entry_of
from workbench.compiled.question import RAISED


class Cells(NamedTuple):
    words: np.ndarray


class Scaled(NamedTuple):
    by: int
    words: np.ndarray


@routine
def add(cells: Cells, place: int, number: int) -> int:
    cells.words[place] += number
    return cells.words[place]


@routine
def add_scaled(cells: Scaled, place: int, number: int) -> int:
    cells.words[place] += cells.by * number
    return cells.words[place]


@routine
def total(cells: Cells) -> int:
    result = 0
    for word in cells.words:
        result += word
    return result


@routine
def nothing(cells: Cells) -> int:
    cells.words[0] = 0
    return 0


@routine
def half(cells: Cells) -> float:
    return cells.words[0] / 2


@kernel
def add_to_all(table: np.ndarray, number: int) -> int:
    result = 0
    for row in range(len(table)):
        result += call(table[row][0], table[row][1], (1, number))
    return result


def _table(*entries):
    return list(entries) if INTERPRETED else np.array(entries, np.int64)


def test_one_compiled_loop_calls_routines_over_different_tuples():
    plain, scaled = Referent(Cells(np.array([1, 10]))), Referent(Scaled(3, np.array([0, 100])))
    table = _table(entry_of(add, plain), entry_of(add_scaled, scaled))
    assert add_to_all(table, 2) == 12 + 106
    assert plain.whole.words.tolist() == [1, 12]
    assert scaled.whole.words.tolist() == [0, 106]


def test_the_number_of_arguments_is_the_routines():
    cells = Referent(Cells(np.array([4, 5])))
    assert call(*entry_of(total, cells), ()) == 9
    assert call(*entry_of(add, cells), (0, -4)) == 0


def test_narrower_numbers_are_widened():
    cells = Referent(Cells(np.array([4, 5])))
    assert call(*entry_of(add, cells), (np.int32(1), np.int64(1))) == 6


@compiled_only
def test_what_returns_no_whole_number_is_refused():
    with pytest.raises(TypeError, match="half must return a whole number"):
        entry_of(half, Referent(Cells(np.array([1]))))


def test_raised_is_no_result_of_a_sum():
    assert RAISED < -(1 << 61)


def test_an_entry_runs_on_what_its_tuple_was_renewed_with():
    cells = Referent(Cells(np.array([4, 5])))
    entry, again = entry_of(total, cells), bound(total, cells)
    cells.renew(Cells(np.array([1, 2, 3])))
    assert call(*entry, ()) == again() == 6


def test_a_routine_may_return_the_same_number_each_time():
    cells = Referent(Cells(np.array([4])))
    assert call(*entry_of(nothing, cells), ()) == cells.whole.words[0] == 0


def test_a_copy_of_what_is_lent_is_apart():
    cells = Referent(Cells(np.array([4, 5])))
    copied = deepcopy(cells)
    call(*entry_of(add, copied), (0, 10))
    assert [call(*entry_of(total, of), ()) for of in (cells, copied)] == [9, 19]
