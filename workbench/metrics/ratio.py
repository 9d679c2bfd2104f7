"""A quotient that is not defined is NaN, never an exception and never 0."""

from __future__ import annotations

import math


def over(total: float, count: float) -> float:
    """The quotient, NaN where there is nothing to divide by.

    >>> over(3, 4), over(3, 0)
    (0.75, nan)
    """
    return float(total / count) if count else math.nan
