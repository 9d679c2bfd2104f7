"""Could the mean difference be the luck of which of a pair was called which? The paired permutation test."""

from __future__ import annotations

from typing import Any

import numpy as np

from workbench.streams import Streams
from workbench.studies.statistics.sample import finite_sample
from workbench.studies.statistics.significance import NO_TEST, Significance

FLIPS = 9_999
"""Random sign patterns; p can be no smaller than 1 / (FLIPS + 1)."""

_SAME = 1e-12
"""Sums that agree to this part of the largest possible sum are equal: they differ by the order of addition alone."""


def permutation_test(differences: Any, *, seed: int = 0) -> Significance:
    """Test that each difference could as well have had the other sign, by the size of the mean; two-sided.

    All sign patterns are tried where there are at most FLIPS + 1 of them (13 non-zero differences), then p is exact.
    Otherwise FLIPS random ones from the named stream `permutation`, and the observed pattern counts as one of them,
    p = (1 + as extreme) / (1 + FLIPS), so that p is valid and never 0 (Phipson and Smyth 2010). Only zeros: p = 1; no
    differences: no test, p = NaN.

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
    if not values.size:
        return NO_TEST
    mean = float(values.mean())
    sizes = np.abs(values[values != 0])
    least = abs(values.sum()) - _SAME * sizes.sum()
    if 2**sizes.size <= FLIPS + 1:
        sums = _all_sums(sizes)
        return Significance(mean, float((np.abs(sums) >= least).mean()), "exact", sizes.size)
    extreme = int((np.abs(_random_sums(sizes, seed)) >= least).sum())
    return Significance(mean, (1 + extreme) / (1 + FLIPS), "monte_carlo", sizes.size)


def _all_sums(sizes: np.ndarray) -> np.ndarray:
    """The sums under every sign pattern: float64[2^n]."""
    sums = np.zeros(1)
    for size in sizes.tolist():
        sums = np.concatenate([sums - size, sums + size])
    return sums


def _random_sums(sizes: np.ndarray, seed: int) -> np.ndarray:
    """The sums under FLIPS random sign patterns; a random byte looks up the sum of eight differences at once."""
    stream, sums = Streams(seed)["permutation"], np.zeros(FLIPS)
    for start in range(0, sizes.size, 8):
        table = _all_sums(sizes[start : start + 8])
        drawn = np.frombuffer(stream.bytes(FLIPS), np.uint8)
        sums += table[drawn & (table.size - 1)]  # the last table may be shorter than 256
    return sums
