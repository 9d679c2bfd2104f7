"""How many of the discoveries are false? Benjamini and Hochberg's correction over a family of tests."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from itertools import accumulate
from typing import TypeVar

from workbench.errors import wrong_value

Name = TypeVar("Name", bound=Hashable)


def false_discovery(p_values: Mapping[Name, float]) -> dict[Name, float]:
    """Compute the adjusted p-value of every test, in the order given (Benjamini and Hochberg 1995); equal ones stay
    equal.

    Rejecting what is below alpha then makes the expected share of false ones among the rejected at most alpha, where
    the tests are independent or depend on each other positively, as cells of a map do. It rejects more than `holm`,
    which bounds the chance of any false rejection at all.

    Raises
    ------
    InputError
        A p-value outside [0, 1] or NaN.

    Examples
    --------
    >>> false_discovery({"a": 0.01, "b": 0.04, "c": 0.03, "d": 0.005})
    {'a': 0.02, 'b': 0.04, 'c': 0.04, 'd': 0.02}
    """
    for name, p in p_values.items():
        if not 0 <= p <= 1:
            raise wrong_value("", f"the p-value of {name}", "must be a number from 0 to 1", p)
    descending = sorted(p_values, key=lambda name: p_values[name], reverse=True)
    count = len(descending)
    shared = (min(1.0, p_values[name] * count / (count - k)) for k, name in enumerate(descending))
    adjusted = dict(zip(descending, accumulate(shared, min)))
    return {name: adjusted[name] for name in p_values}
