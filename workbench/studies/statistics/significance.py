"""What a test of a null hypothesis comes out with."""

from __future__ import annotations

import math
from typing import NamedTuple


class Significance(NamedTuple):
    """A test statistic with its two-sided p-value: 1 where the data hold no evidence, NaN where there are no data."""

    statistic: float
    p_value: float
    method: str
    """How the null distribution was had: `exact`, `normal` (approximation), `monte_carlo` (random flips)."""
    n: int
    """How many values took part: differences of zero say nothing and are not among them."""


NO_TEST = Significance(0.0, math.nan, "none", 0)
"""What comes of a test without a single value."""
