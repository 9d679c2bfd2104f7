"""Constant: always the same."""

from __future__ import annotations

import numpy as np

from workbench.levers import lever
from workbench.workloads.synthetic.laws.law import LARGEST, Law


class Constant(Law):
    """Always the same number; a bare number in a sweep file means this.

    Examples
    --------
    >>> Law.read(5)
    Constant(value=5)
    >>> Constant(value=5).draw(np.array([0.0, 0.9]))
    array([5, 5])
    """

    largest = "value"
    brief = ("value",)
    value: int = lever(1, least=0, most=LARGEST, description="the number; 0 = none, where nothing may be asked for")

    def quantile(self, ranks: np.ndarray) -> np.ndarray:
        return np.full(len(ranks), self.value, np.int64)

    def span(self) -> tuple[int, int]:
        return self.value, self.value

    def nearest_within(self, most: int) -> str:
        return f"constant.value = {most}"
