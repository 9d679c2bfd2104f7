"""What is the mean of one measure at one point? As `mean_interval`, with infinite values and the range of the
measure."""

from __future__ import annotations

from typing import Any

import numpy as np

from workbench.studies.statistics.interval import Interval, mean_interval
from workbench.studies.statistics.sample import ranked_sample


def point_mean(values: Any, *, level: float = 0.95, span: float | None = None, method: str = "t") -> Interval:
    """Compute the mean with its interval; it is infinite, and says so (`infinite`), where a value is.

    Parameters
    ----------
    values : array-like of numbers, shape (n,)
        One a seed; infinite ones included.
    level, span
        As in `mean_interval`.
    method : str
        As `compare` takes it: `bca` gives the bootstrap's interval, any other Student's.

    Examples
    --------
    >>> point_mean([1, 2, float("inf")])
    Interval(mean=inf, low=nan, high=nan, level=0.95, method='infinite', n=3)
    """
    known = ranked_sample(values)
    if np.isfinite(known).all():
        return mean_interval(known, level=level, span=span, method="bca" if method == "bca" else "t")
    signs = np.unique(known[np.isinf(known)])
    mean = float(signs[0]) if signs.size == 1 else np.nan
    return Interval(mean, np.nan, np.nan, level, "infinite", known.size)
