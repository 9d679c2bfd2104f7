"""What p-values are worth among many: Holm's correction and the false discovery rate."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from itertools import accumulate
from typing import TypeVar

from workbench.errors import wrong_value

Name = TypeVar("Name", bound=Hashable)


def holm(p_values: Mapping[Name, float]) -> dict[Name, float]:
    """Compute the adjusted p-value of every test, in the order given (Holm 1979); equal p-values stay equal.

    The smallest p is multiplied by the number of tests, the next by one less and so on, none falls below its
    predecessor, none exceeds 1. Rejecting what is below alpha then makes any false rejection in the whole family no
    more likely than alpha, however the tests depend on each other.

    Raises
    ------
    InputError
        A p-value outside [0, 1] or NaN.

    References
    ----------
    spec 1, section 6: "Holm correction over the family".

    Examples
    --------
    >>> holm({"a": 0.01, "b": 0.04, "c": 0.03, "d": 0.005})
    {'a': 0.03, 'b': 0.06, 'c': 0.06, 'd': 0.02}
    """
    ascending = sorted(_checked(p_values), key=lambda name: p_values[name])
    weighted = (min(1.0, (len(ascending) - k) * p_values[name]) for k, name in enumerate(ascending))
    adjusted = dict(zip(ascending, accumulate(weighted, max)))
    return {name: adjusted[name] for name in p_values}


def false_discovery(p_values: Mapping[Name, float]) -> dict[Name, float]:
    """Compute the adjusted p-value of every test, in the order given (Benjamini and Hochberg 1995, by SciPy).

    Rejecting what is below alpha then makes the expected share of false ones among the rejected at most alpha, where
    the tests are independent or depend on each other positively, as cells of a map do. It rejects more than `holm`,
    which bounds the chance of any false rejection at all.

    Raises
    ------
    InputError
        A p-value outside [0, 1] or NaN.

    Examples
    --------
    >>> adjusted = false_discovery({"a": 0.01, "b": 0.04, "c": 0.03, "d": 0.005})
    >>> {name: round(p, 9) for name, p in adjusted.items()}
    {'a': 0.02, 'b': 0.04, 'c': 0.04, 'd': 0.02}
    """
    from scipy.stats import false_discovery_control

    if not _checked(p_values):
        return {}
    return dict(zip(p_values, false_discovery_control([*p_values.values()]).tolist(), strict=True))


def _checked(p_values: Mapping[Name, float]) -> Mapping[Name, float]:
    for name, p in p_values.items():
        if not 0 <= p <= 1:
            raise wrong_value("", f"the p-value of {name}", "must be a number from 0 to 1", p)
    return p_values
