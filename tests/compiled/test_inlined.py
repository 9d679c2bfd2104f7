"""Functions that are compiled inside their callers alone."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from tests.slow import compiled_only
from workbench.compiled import by_reference, inlined, kernel, noinline


class Shelf(NamedTuple):
    books: np.ndarray
    most: int


@inlined
def first_above(shelf, pages):
    if pages < 3:
        return 0
    for place in range(shelf.most):
        if shelf.books[place] > pages:
            return place
    return -1


@inlined
def take(shelf, pages):
    place = first_above(shelf, pages)
    shelf.books[place] = 0
    return place, pages + 1


@noinline
def two(shelf, pages):
    place, more = take(shelf, pages)
    return 100 * place + first_above(shelf, more)


@kernel
def both(shelf, pages):
    return two(by_reference(shelf), pages)


def test_an_early_return_ends_the_function_and_not_its_caller():
    shelf = Shelf(np.arange(10), 10)
    assert both(shelf, 4) == 506
    assert shelf.books.tolist() == [0, 1, 2, 3, 4, 0, 6, 7, 8, 9]
    assert both(shelf, 1) == 0


@compiled_only
def test_it_has_no_machine_code_of_its_own():
    both(Shelf(np.arange(10), 10), 4)
    assert not take.signatures and not first_above.signatures
    assert len(two.signatures) == 1


@kernel
def nth(numbers, place, added):
    return numbers[place] + added


@noinline
def several(numbers):
    return nth(numbers, 0, 1) + nth(numbers, 1, 20) + nth(numbers, numbers.size - 1, numbers.size)


@compiled_only
def test_a_kernel_is_compiled_once_whatever_constants_it_is_called_with():
    assert several(np.array([100, 200, 300])) == 101 + 220 + 303
    assert len(nth.signatures) == 1
