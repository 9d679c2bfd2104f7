"""Geometric: memoryless whole numbers."""

from __future__ import annotations

import math

import numpy as np

from workbench.levers import lever
from workbench.workloads.synthetic.laws.exponential import memoryless
from workbench.workloads.synthetic.laws.law import LARGEST, Law


class Geometric(Law):
    """The number of cycles until something ends that ends in each with probability 1 / mean; none is above `most`.

    The exponential law rounded up, with the mean exact: P(k) = (1 - 1/mean)^(k - 1) / mean. With `most` below its
    default it is the law given that the number is at most `most`.

    Examples
    --------
    >>> Geometric(mean=2).draw(np.array([0.0, 0.49, 0.51, 0.76]))
    array([1, 1, 2, 3])
    """

    largest = "most"
    brief = ("mean",)
    mean: float = lever(50.0, least=1, most=LARGEST, scale="log", description="the mean, where nothing is cut off")
    most: int = lever(LARGEST, least=1, most=LARGEST, scale="log", description="the largest number that may come")

    def quantile(self, ranks: np.ndarray) -> np.ndarray:
        if self.mean == 1:
            return np.ones(len(ranks), np.int64)
        return memoryless(ranks, -1 / math.log1p(-1 / self.mean), self.most)

    def span(self) -> tuple[int, int]:
        return 1, self.most
