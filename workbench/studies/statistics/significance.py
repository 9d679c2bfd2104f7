"""What a test of a null hypothesis comes out with."""

from __future__ import annotations

from typing import NamedTuple


class Significance(NamedTuple):
    """A test statistic with its two-sided p-value; p is 1, never NaN, where the data hold no evidence at all."""

    statistic: float
    p_value: float
    method: str
    """How the null distribution was had: `exact`, `normal` (approximation), `monte_carlo` (random flips)."""
    n: int
    """How many values took part: differences of zero say nothing and are not among them."""
