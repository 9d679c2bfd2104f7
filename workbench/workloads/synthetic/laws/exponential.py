"""Exponential: memoryless times, rounded up to whole numbers."""

from __future__ import annotations

import math

import numpy as np

from workbench.levers import lever
from workbench.workloads.synthetic.laws.law import LARGEST, Law
from workbench.workloads.synthetic.logarithm import waiting


class Exponential(Law):
    """An exponential time of a mean, rounded up to a whole number; none is above `most`.

    With `most` at its default nothing is cut off; else the law is the exponential given that it is at most `most`, not
    one that piles up there. At rank u it is ceil(-mean ln(1 - u F)), at least 1, with F = 1 - exp(-most / mean).
    Rounding up lifts the mean by about a half: without a cut it is 1 / (1 - exp(-1 / mean)).

    References
    ----------
    spec 1, section 6: run-time law {uniform, exponential, correlated with size}.

    Examples
    --------
    >>> Exponential(mean=100).draw(np.array([0.0, 0.5, 0.99]))
    array([  1,  70, 461])
    """

    largest = "most"
    brief = ("mean",)
    mean: float = lever(50.0, least=1, most=LARGEST, scale="log", description="the mean before rounding")
    most: int = lever(LARGEST, least=1, most=LARGEST, scale="log", description="the largest number that may come")

    def quantile(self, ranks: np.ndarray) -> np.ndarray:
        return memoryless(ranks, self.mean, self.most)

    def span(self) -> tuple[int, int]:
        return 1, self.most


def memoryless(ranks: np.ndarray, mean: float, most: int) -> np.ndarray:
    """Draw exponential times of a mean, given that they are at most `most`, rounded up: int64[count], at least 1."""
    inside = -math.expm1(-most / mean)
    return np.clip(np.ceil(mean * waiting(ranks * inside)), 1, most).astype(np.int64)
