"""Fresh copies of what a run begins with: made once for a setup, and copied for each of its runs.

A copy takes few instructions of Python, however many arrays there are.
"""

from __future__ import annotations

from collections.abc import Iterator
from operator import methodcaller
from typing import Any, Generic, TypeVar

import numpy as np

Whole = TypeVar("Whole", bound=tuple[Any, ...])
LARGE = 1 << 12
"""Bytes of an array above which it is kept as one number if it holds no other."""
_CHANGES = (np.ndarray, list)
"""What a run may write to."""
_copied = methodcaller("copy")


class Template(Generic[Whole]):
    """What copies of a tuple are made from; no copy shares an array with another one.

    Parameters
    ----------
    whole : tuple
        Of arrays in C order, lists, such tuples, and values that never change. Its arrays and lists are copied now. One
        that stands at two places is one in each copy, too; otherwise arrays do not overlap.

    Examples
    --------
    >>> template = Template((2, np.array([-1, 5]), (np.zeros(3),)))
    >>> first, second = template.copy(), template.copy()
    >>> first[1][0] = 7
    >>> second
    (2, array([-1,  5]), (array([0., 0., 0.]),))
    """

    def __init__(self, whole: Whole) -> None:
        leaves = {id(leaf): leaf for leaf in _leaves(whole)}
        alike = {key: leaf for key, leaf in leaves.items() if _is_alike(leaf)}
        zeros = {key: array for key, array in alike.items() if not array.flat[0]}
        filled = {key: leaf for key, leaf in leaves.items() if isinstance(leaf, _CHANGES) and key not in zeros}
        others = {key: leaf for key, leaf in leaves.items() if not isinstance(leaf, _CHANGES)}
        self._zeros = [array.shape for array in zeros.values()], [array.dtype for array in zeros.values()]
        self._filled = [_one_number(alike[key]) if key in alike else leaf.copy() for key, leaf in filled.items()]
        self._others = [*others.values()]
        self._tuples = list[tuple[type, list[int]]]()
        self._enter(whole, {key: place for place, key in enumerate((*zeros, *filled, *others))})

    def _enter(self, value: Any, places: dict[int, int]) -> int:
        """Return the place of a value among those that a copy is made of; enter the tuples within it, then itself."""
        if id(value) not in places:
            inside = [self._enter(field, places) for field in value]
            self._tuples.append((type(value), inside))
            places[id(value)] = len(places)
        return places[id(value)]

    @property
    def nbytes(self) -> int:
        """Return the bytes of the arrays that are kept, without those of equal numbers."""
        arrays = [one for one in self._filled if isinstance(one, np.ndarray)]
        return sum(one.nbytes for one in arrays if any(one.strides))

    def copy(self) -> Whole:
        """Return a copy with arrays and lists of its own."""
        values = [*map(np.zeros, *self._zeros), *map(_copied, self._filled), *self._others]
        for kind, places in self._tuples:
            values.append(tuple.__new__(kind, map(values.__getitem__, places)))
        return values[-1]


def _leaves(value: Any) -> Iterator[Any]:
    """Yield the values in a tuple and in the tuples within it; of those that hold nothing that changes, the tuple."""
    if _may_change(value):
        for field in value:
            yield from _leaves(field)
    else:
        yield value


def _may_change(value: Any) -> bool:
    """Return whether a value is a tuple that holds an array or a list."""
    return isinstance(value, tuple) and any(isinstance(one, _CHANGES) or _may_change(one) for one in value)


def _is_alike(leaf: Any) -> bool:
    """Return whether a leaf is a large array of equal whole numbers."""
    # No floats: -0.0 equals 0.0, but its copy must have the sign.
    large = isinstance(leaf, np.ndarray) and leaf.nbytes > LARGE and leaf.dtype.kind in "iub"
    return large and bool((leaf == leaf.flat[0]).all())


def _one_number(array: np.ndarray) -> np.ndarray:
    """Return a view of the first number of an array that has its shape."""
    return np.broadcast_to(array.flat[0], array.shape)
