"""Log-uniform: sizes over many orders of magnitude, each order equally often."""

from __future__ import annotations

import math

import numpy as np

from workbench.errors import wrong_value
from workbench.levers import lever
from workbench.workloads.synthetic.laws.law import LARGEST, Law
from workbench.workloads.synthetic.logarithm import power

_GB = 10**9


class LogUniform(Law):
    """A whole number from `low` to `high` whose logarithm is uniform: a number is as often below the middle of two ends
    on the log scale as above it.

    The number at rank u is floor(low ((high + 1) / low)^u). Its logarithm comes from the C library, the power from sums
    and products alone: on another system about one number in 10^13 may round differently.

    References
    ----------
    spec 5, section 6: sizes log-uniform 64 B..2 GB.

    Examples
    --------
    >>> LogUniform(low=64, high=2_000_000_000).draw(np.array([0.0, 0.5, 0.999]))
    array([        64,     357770, 1965781057])
    """

    largest = "high"
    brief = ("low", "high")
    low: int = lever(64, least=1, most=LARGEST, scale="log", description="the smallest number")
    high: int = lever(2 * _GB, least=1, most=LARGEST, scale="log", description="the largest number")

    def check(self) -> None:
        if self.high < self.low:
            raise wrong_value("", f"{self.name}.high", f"must be at least low ({self.low})", self.high, self.low)

    def quantile(self, ranks: np.ndarray) -> np.ndarray:
        doublings = math.log2((self.high + 1) / self.low)
        numbers = np.floor(self.low * power(ranks * doublings))
        return np.clip(numbers, self.low, self.high).astype(np.int64)

    def span(self) -> tuple[int, int]:
        return self.low, self.high
