"""What a person may ask a policy in plain Python: whole numbers in their range, lists of them, one sentence otherwise.

Engines ask checked questions and never come here; these functions stand at the door of the methods by which a policy is
tried out (`place`, `split`, `offsets`, ...).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from workbench.errors import wrong_value
from workbench.levers import Lever

MOST = 1 << 62
"""The largest number that compiled code can still add to."""
MOST_BYTES = 1 << 50
MOST_WAVES, MOST_UNITS, MOST_LEVELS, MOST_CORES, MOST_ENTRIES = 1 << 20, 4096, 4096, 4096, 1 << 24


def whole(name: str, value: Any, least: int | None = 0, most: int | None = MOST) -> int:
    """Return a whole number within its range.

    Parameters
    ----------
    name : str
        The argument, as the sentence names it.
    least, most : int, optional
        The ends of the range; None = open.

    Raises
    ------
    InputError
        It is none, or lies outside.

    Examples
    --------
    >>> whole("waves", -1)
    Traceback (most recent call last):
    workbench.errors.InputError: waves must be a whole number from 0 to 4611686018427387904. Got -1. Nearest: 0.
    """
    number: int = Lever(name, "integer", least=least, most=most).check(value)
    return number


def seed_of(seed: Any) -> int:
    """Return the seed of policies that draw: a whole number that fits in 63 bits."""
    return whole("seed", seed, 0, (1 << 63) - 1)


def wholes(name: str, values: Any, least: int = 0, most: int = MOST, count: int | None = None) -> list[int]:
    """Return a list of whole numbers within a range, `count` of them if that is given.

    Raises
    ------
    InputError
        It is no list of numbers, has another length, or one of them lies outside.

    Examples
    --------
    >>> wholes("load", [1, 2], count=3)
    Traceback (most recent call last):
    workbench.errors.InputError: load must be a list of 3 numbers. Got [1, 2].
    """
    numbers = list(Lever(name, "integers", least=least, most=most).check(values))
    return _counted(name, numbers, values, count)


def reals(name: str, values: Any, count: int | None = None) -> list[float]:
    """Return a list of finite numbers, `count` of them if that is given; errors as of `wholes`."""
    return _counted(name, list(Lever(name, "numbers").check(values)), values, count)


def truths(name: str, values: Any, count: int) -> list[bool]:
    """Return a list of `count` truth values.

    >>> truths("active", [True, 0], 2)
    [True, False]
    """
    items = listed(name, values, f"must be a list of {count} truth values")
    if len(items) != count or any(not _is_truth(item) for item in items):
        raise wrong_value("", name, f"must be a list of {count} truth values", values)
    return [bool(item) for item in items]


def table(name: str, rows: Any) -> list[list[float]]:
    """Return rows of numbers, of whatever lengths; errors as of `wholes`."""
    items = listed(name, rows, "must be a list of rows of numbers")
    return [reals(f"{name}[{k}]", row) for k, row in enumerate(items)]


def listed(name: str, values: Any, expected: str = "must be a list") -> list[Any]:
    """Return a list of whatever it holds; a text or a mapping is none."""
    if isinstance(values, (str, bytes, Mapping)) or not hasattr(values, "__len__") or not hasattr(values, "__iter__"):
        raise wrong_value("", name, expected, values)
    return list(values)


def one_of(name: str, value: Any, known: tuple[str, ...]) -> str:
    """Return one of several names."""
    chosen: str = Lever(name, "choice", choices=known).check(value)
    return chosen


def _is_truth(item: Any) -> bool:
    return isinstance(item, bool) or type(item).__name__ == "bool" or (isinstance(item, int) and item in (0, 1))


def _counted(name: str, numbers: list[Any], values: Any, count: int | None) -> list[Any]:
    if count is not None and len(numbers) != count:
        raise wrong_value("", name, f"must be a list of {count} numbers", values)
    return numbers
