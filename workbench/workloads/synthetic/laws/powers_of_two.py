"""Powers of two: every power of two of a range equally often."""

from __future__ import annotations

import numpy as np

from workbench.errors import wrong_value
from workbench.levers import lever
from workbench.workloads.synthetic.laws.law import Law

_MOST = 1 << 33


class PowersOfTwo(Law):
    """Every power of two from `low` to `high`, ends included, equally often.

    References
    ----------
    spec 1, section 6, pilot: power-of-two sizes 1..64.

    Examples
    --------
    >>> PowersOfTwo(low=2, high=16).draw(np.array([0.0, 0.3, 0.999]))
    array([ 2,  4, 16])
    """

    largest = "high"
    brief = ("low", "high")
    low: int = lever(1, least=1, most=_MOST, scale="power_of_two", description="the smallest number")
    high: int = lever(64, least=1, most=_MOST, scale="power_of_two", description="the largest number")

    def check(self) -> None:
        if self.high < self.low:
            raise wrong_value("", f"{self.name}.high", f"must be at least low ({self.low})", self.high, self.low)

    def quantile(self, ranks: np.ndarray) -> np.ndarray:
        powers = self.high.bit_length() - self.low.bit_length() + 1
        return np.int64(self.low) << (ranks * powers).astype(np.int64)

    def span(self) -> tuple[int, int]:
        return self.low, self.high

    def nearest_within(self, most: int) -> str:
        return super().nearest_within(1 << (most.bit_length() - 1))
