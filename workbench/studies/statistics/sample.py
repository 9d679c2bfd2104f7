"""A sample is checked at the door: one row of finite numbers, or one sentence that says what is wrong with it."""

from __future__ import annotations

from typing import Any

import numpy as np

from workbench.errors import InputError, wrong_value


def finite_sample(values: Any, name: str = "sample") -> np.ndarray:
    """Return the values as float64[n], every one finite.

    One NaN among thousands can turn a whole analysis into plausible nonsense without a word (SALib/SALib#134, #273), so
    it is refused here, by position. A failed run has no value: leave it out and say how many, as `pair` does.

    Parameters
    ----------
    values : array-like of numbers, shape (n,)
    name : str
        How the message names the sample.

    Raises
    ------
    InputError
        Not one row of numbers, or a value that is not finite.

    Examples
    --------
    >>> finite_sample([1, 2.5])
    array([1. , 2.5])
    >>> finite_sample([1, float("nan")], "drain_cycles")
    Traceback (most recent call last):
    workbench.errors.InputError: drain_cycles[1] must be a finite number; leave failed runs out. Got nan.
    """
    row = as_numbers(values, name)
    bad = np.flatnonzero(~np.isfinite(row))
    if bad.size:
        expected = "must be a finite number; leave failed runs out"
        raise wrong_value("", f"{name}[{bad[0]}]", expected, float(row[bad[0]]))
    return row


def ranked_sample(values: Any, name: str = "sample") -> np.ndarray:
    """Return the values as float64[n], none of them NaN: an infinite one has a rank, though no mean can be taken with
    it."""
    row = as_numbers(values, name)
    bad = np.flatnonzero(np.isnan(row))
    if bad.size:
        raise wrong_value("", f"{name}[{bad[0]}]", "must be a number; leave failed runs out", float(row[bad[0]]))
    return row


def as_numbers(values: Any, name: str) -> np.ndarray:
    """Return the values as float64[n]; None becomes NaN, text and nested rows are refused."""
    try:
        given = np.asarray(values)
        if given.dtype.kind not in "biufO":
            raise TypeError
        row = given.astype(np.float64)
    except (TypeError, ValueError):
        raise wrong_value("", name, "must be numbers", values) from None
    if row.ndim != 1:
        raise wrong_value("", name, "must be one row of numbers", values)
    return row


def check_open(value: float, name: str, below: float = 1.0) -> None:
    """Refuse a level or an error rate outside (0, below), both ends excluded."""
    if not isinstance(value, (int, float)) or not 0.0 < value < below:
        raise InputError(f"{name} must be a number above 0 and below {below:g}. Got {value!r}.")
