"""Uniform: every whole number of a range equally often."""

from __future__ import annotations

import numpy as np

from workbench.errors import wrong_value
from workbench.levers import lever
from workbench.workloads.synthetic.laws.law import LARGEST, Law


class Uniform(Law):
    """Every whole number from `low` to `high`, ends included, equally often: U{low..high}.

    The number at rank u is low + floor(u (high - low + 1)).

    References
    ----------
    spec 1, E16: sizes U{1..32} and U{1..64}, run times U{1..100}.

    Examples
    --------
    >>> Uniform(low=1, high=4).draw(np.array([0.0, 0.3, 0.999]))
    array([1, 2, 4])
    """

    largest = "high"
    brief = ("low", "high")
    low: int = lever(1, least=1, most=LARGEST, description="the smallest number")
    high: int = lever(32, least=1, most=LARGEST, description="the largest number")

    def check(self) -> None:
        if self.high < self.low:
            raise wrong_value("", f"{self.name}.high", f"must be at least low ({self.low})", self.high, self.low)

    def quantile(self, ranks: np.ndarray) -> np.ndarray:
        return (ranks * (self.high - self.low + 1)).astype(np.int64) + self.low

    def span(self) -> tuple[int, int]:
        return self.low, self.high
