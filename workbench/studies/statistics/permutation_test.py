"""Could the mean difference be the luck of which of a pair was called which? The paired permutation test."""

from __future__ import annotations

from typing import Any

import numpy as np

from workbench.streams import Streams
from workbench.studies.statistics.sample import finite_sample
from workbench.studies.statistics.significance import Significance

FLIPS = 9_999
"""Random sign patterns; p can be no smaller than 1 / (FLIPS + 1)."""

_SAME = 1e-12
"""Sums that agree to this part of the largest possible sum are equal: they differ by the order of addition alone."""

_NUMBERS_AT_ONCE = 2_000_000


def permutation_test(differences: Any, *, seed: int = 0) -> Significance:
    """Test that each difference could as well have had the other sign, by the size of the mean; two-sided.

    All sign patterns are tried where there are at most FLIPS + 1 of them (13 non-zero differences), then p is exact.
    Otherwise FLIPS random ones from the named stream `permutation`, and the observed pattern counts as one of them,
    p = (1 + as extreme) / (1 + FLIPS), so that p is valid and never 0 (Phipson and Smyth 2010). Only zeros: p = 1.

    Parameters
    ----------
    differences : array-like of numbers, shape (n,)
    seed : int
        Of the named stream: the same differences in the same order give the same p.

    Raises
    ------
    InputError
        A difference that is not finite.

    Examples
    --------
    >>> permutation_test([1, 2, 3, 4, 5, 6])
    Significance(statistic=3.5, p_value=0.03125, method='exact', n=6)
    """
    values = finite_sample(differences, "differences")
    mean = float(values.mean()) if values.size else 0.0
    sizes = np.abs(values[values != 0])
    if 2**sizes.size <= FLIPS + 1:
        patterns = (np.arange(2**sizes.size)[:, None] >> np.arange(sizes.size)) & 1
        extreme = _as_extreme(patterns, sizes, values.sum())
        return Significance(mean, extreme / 2**sizes.size, "exact", sizes.size)
    extreme = _random_extreme(sizes, values.sum(), seed)
    return Significance(mean, (1 + extreme) / (1 + FLIPS), "monte_carlo", sizes.size)


def _as_extreme(patterns: np.ndarray, sizes: np.ndarray, observed: float) -> int:
    """How many rows of 0/1 (1 = positive) give a sum at least as far from zero as the observed one."""
    total = sizes.sum()
    sums = 2 * (patterns.astype(np.float64) @ sizes) - total
    return int(np.count_nonzero(np.abs(sums) >= abs(observed) - _SAME * total))


def _random_extreme(sizes: np.ndarray, observed: float, seed: int) -> int:
    stream, width = Streams(seed)["permutation"], (sizes.size + 7) // 8
    at_once, extreme = max(1, _NUMBERS_AT_ONCE // sizes.size), 0
    for start in range(0, FLIPS, at_once):
        rows = min(at_once, FLIPS - start)
        packed = np.frombuffer(stream.bytes(rows * width), np.uint8).reshape(rows, width)
        extreme += _as_extreme(np.unpackbits(packed, axis=1, count=sizes.size), sizes, observed)
    return extreme
