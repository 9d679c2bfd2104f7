"""Log-normal: sizes and times whose logarithms are normal, as measured ones often are."""

from __future__ import annotations

import math

import numpy as np

from workbench.errors import InputError, wrong_value
from workbench.levers import lever
from workbench.workloads.synthetic.laws.law import LARGEST, Law

_LEAST_INSIDE = 1e-6


class LogNormal(Law):
    """A log-normal number, rounded to the nearest whole one, given that this lies from `least` to `most`.

    At rank u it is median exp(sigma z), rounded half up, where z is the normal quantile of F(least - 1/2) + u times
    F(most + 1/2) - F(least - 1/2), F being the law before the cut; so nothing piles up at the ends. A range that holds
    less than a millionth of the law is refused. The normal quantile comes from SciPy: on another processor about one
    number in 10^13 may round differently.

    Examples
    --------
    >>> LogNormal(median=20, sigma=1, least=1, most=128).draw(np.array([0.0, 0.5, 0.999]))
    array([  1,  19, 127])
    """

    largest = "most"
    brief = ("median", "sigma")
    median: float = lever(20.0, least=0.01, most=LARGEST, scale="log", description="the median before the cut")
    sigma: float = lever(
        1.0, least=0.01, most=10, step=0.05, description="the standard deviation of the natural logarithm"
    )
    least: int = lever(1, least=1, most=LARGEST, scale="log", description="the smallest number that may come")
    most: int = lever(LARGEST, least=1, most=LARGEST, scale="log", description="the largest number that may come")

    def check(self) -> None:
        if self.most < self.least:
            raise wrong_value("", "log_normal.most", f"must be at least least ({self.least})", self.most, self.least)
        below, above = self._ends()
        if above - below < _LEAST_INSIDE:
            inside = f"least ({self.least}) to most ({self.most}) must hold some of the law with median {self.median:g}"
            raise InputError(f"log_normal: {inside} and sigma {self.sigma:g}; it holds {above - below:.0e} of it.")

    def quantile(self, ranks: np.ndarray) -> np.ndarray:
        from scipy.special import ndtri

        below, above = self._ends()
        numbers = np.floor(self.median * np.exp(self.sigma * ndtri(below + ranks * (above - below))) + 0.5)
        return np.clip(numbers, self.least, self.most).astype(np.int64)

    def span(self) -> tuple[int, int]:
        return self.least, self.most

    def _ends(self) -> tuple[float, float]:
        return self._share_below(self.least - 0.5), self._share_below(self.most + 0.5)

    def _share_below(self, number: float) -> float:
        """Return the share of the law before the cut that lies below a number."""
        return 0.5 * math.erfc(-math.log(number / self.median) / self.sigma / math.sqrt(2))
