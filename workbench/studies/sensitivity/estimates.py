"""Estimates with the limits of their intervals, and the check that no output is missing."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from workbench.errors import InputError

LEVEL = 0.95
MOST_RESAMPLES, MOST_NUMBERS = 1000, 4_000_000
"""Of the bootstrap: so many resamples, and fewer where the numbers of all of them would be too many at once."""


class Estimates(NamedTuple):
    """Numbers with 95 % intervals: normal ones, as wide as the bootstrap over pairs or walks spreads."""

    value: np.ndarray
    """float64[axes], or float64[axes, axes] for pairs of them."""
    low: np.ndarray
    high: np.ndarray


def around(value: np.ndarray, half: np.ndarray) -> Estimates:
    """Return estimates with intervals to both sides of the same width."""
    value, half = np.asarray(value, float), np.asarray(half, float)
    return Estimates(value, value - half, value + half)


def resamples(size: int) -> int:
    """Return how many bootstrap resamples of so many numbers.

    >>> resamples(64), resamples(16384)
    (1000, 244)
    """
    return min(MOST_RESAMPLES, max(100, MOST_NUMBERS // size))


def checked(outputs: np.ndarray, rows: int) -> np.ndarray:
    """Return the outputs, as many as the design has rows, every one finite, not all equal.

    SALib answers one NaN among thousands of outputs with indices of zero and no word (SALib/SALib#134, #273).

    Raises
    ------
    InputError
        A number is missing or not finite, or all are the same, so that there is nothing to explain.
    """
    values = np.asarray(outputs, float)
    if values.shape != (rows,):
        raise InputError(f"sensitivity needs one output a row of the design ({rows}). Got {values.size}.")
    bad = np.flatnonzero(~np.isfinite(values))
    if bad.size:
        raise InputError(f"sensitivity needs finite outputs. Got {values[bad[0]]:g} in row {bad[0]} of {rows}.")
    if values.min() == values.max():
        raise InputError(f"sensitivity needs outputs that differ; all {rows} are {values[0]:g}.")
    return values
