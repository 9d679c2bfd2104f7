"""Bimodal: mostly small, sometimes large."""

from __future__ import annotations

import numpy as np

from workbench.errors import wrong_value
from workbench.levers import lever
from workbench.workloads.synthetic.laws.law import Law
from workbench.workloads.synthetic.laws.uniform import Uniform


class Bimodal(Law):
    """A uniform number from the range `small` in a share of all draws, otherwise one from the range `large` above it.

    At a rank u below the share p it is small's number at rank u / p, else large's at rank (u - p) / (1 - p).

    References
    ----------
    spec 1, section 6, pilot: 70 % U{1..4}, 30 % U{16..32}.

    Examples
    --------
    >>> Bimodal(small_share=0.5, small=[1, 4], large=[16, 32]).draw(np.array([0.0, 0.49, 0.5, 0.99]))
    array([ 1,  4, 16, 32])
    """

    largest = "large.high"
    small_share: float = lever(
        0.7, least=0, most=1, step=0.05, description="how much of all comes from the small range"
    )
    small: Uniform = lever(Uniform(low=1, high=4), description="the range of the small numbers")
    large: Uniform = lever(Uniform(low=16, high=32), description="the range of the large numbers")

    def check(self) -> None:
        if self.large.low <= self.small.high:
            above = f"must lie above small.high ({self.small.high})"
            raise wrong_value("", f"{self.name}.large.low", above, self.large.low, self.small.high + 1)

    def quantile(self, ranks: np.ndarray) -> np.ndarray:
        inside, share = ranks < self.small_share, self.small_share
        within = np.divide(ranks, share, out=np.zeros_like(ranks), where=inside)
        np.divide(ranks - share, 1.0 - share, out=within, where=~inside)
        return np.where(inside, self.small.quantile(within), self.large.quantile(within))

    def span(self) -> tuple[int, int]:
        low = self.small.low if self.small_share > 0 else self.large.low
        return low, self.large.high if self.small_share < 1 else self.small.high

    def nearest_within(self, most: int) -> str:
        return super().nearest_within(most) if self.large.low <= most and self.small_share < 1 else ""
