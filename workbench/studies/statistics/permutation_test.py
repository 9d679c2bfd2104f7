"""Could the mean difference be the luck of which of a pair was called which? The paired permutation test.

Flipping signs leaves the sum of squares as it is, so ordering the patterns by the mean or by Student's t of it is one
and the same: the test is the studentised one, which stays right for the mean in large samples of differences that are
not symmetric (Janssen 1997).
"""

from __future__ import annotations

from typing import Any

import numpy as np

from workbench.streams import Streams
from workbench.studies.statistics.sample import finite_sample
from workbench.studies.statistics.significance import NO_TEST, Significance

FLIPS = 9_999
"""Random sign patterns."""
RARE = 1 / (FLIPS + 1)
"""Below, patterns as extreme are too rare to be drawn, and p is an upper bound of their share."""

_SAME = 1e-12
"""Sums that agree to this part of the largest possible sum are equal: they differ by the order of addition alone."""


def permutation_test(differences: Any, *, seed: int = 0) -> Significance:
    """Test that each difference could as well have had the other sign, by the size of the mean; two-sided.

    All sign patterns are tried where there are at most FLIPS + 1 of them (13 non-zero differences), then p is exact.
    Otherwise FLIPS random ones from the named stream `permutation`, and the observed pattern counts as one of them,
    p = (1 + as extreme) / (1 + FLIPS), so that p is valid and never 0 (Phipson and Smyth 2010). Where Chernoff's
    bound of the share of such patterns is below RARE it is the p-value (`bound`): some ten times the share itself,
    never below it, and small enough for large families. Only zeros: p = 1; no differences: no test, p = NaN.

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
    rare = chernoff(sizes, float(abs(values.sum())))
    if rare < RARE:
        return Significance(mean, rare, "bound", sizes.size)
    extreme = int((np.abs(_random_sums(sizes, seed)) >= least).sum())
    return Significance(mean, (1 + extreme) / (1 + FLIPS), "monte_carlo", sizes.size)


def chernoff(sizes: np.ndarray, total: float) -> float:
    """Return an upper bound of the share of sign patterns whose sum is as far from 0 as `total`; at least 2^(1 - n).

    The bound is `2 exp(min over u of K(u) - u total)` with the cumulant generating function `K(u) = sum of log cosh(u
    size)`; any u gives a bound, so that a search that stops early is merely less sharp.

    Examples
    --------
    >>> sizes = np.arange(1.0, 13.0)
    >>> exact = float((np.abs(_all_sums(sizes)) >= 70).mean())
    >>> exact <= chernoff(sizes, 70.0) <= 12 * exact
    True
    """
    least = 2.0 ** (1 - sizes.size)
    if total >= sizes.sum() * (1 - _SAME):
        return least
    scaled, goal = sizes / sizes.max(), total / float(sizes.max())
    u = goal / float(scaled @ scaled)
    for _ in range(40):
        waves = np.tanh(u * scaled)
        step = (float(scaled @ waves) - goal) / max(float((scaled * scaled) @ (1 - waves * waves)), 1e-12)
        u = min(max(u - step, u / 4), 4 * u)
        if abs(step) < 1e-9 * u:
            break
    exponents = np.abs(u * scaled)
    cumulant = float((exponents + np.log1p(np.exp(-2 * exponents)) - np.log(2)).sum())
    return min(1.0, max(least, 2 * float(np.exp(cumulant - u * goal))))


def _all_sums(sizes: np.ndarray) -> np.ndarray:
    """Return the sums under every sign pattern: float64[2^n]."""
    sums = np.zeros(1)
    for size in sizes.tolist():
        sums = np.concatenate([sums - size, sums + size])
    return sums


def _random_sums(sizes: np.ndarray, seed: int) -> np.ndarray:
    """Return the sums under FLIPS random sign patterns; a random byte looks up the sum of eight differences at once."""
    stream, sums = Streams(seed)["permutation"], np.zeros(FLIPS)
    for start in range(0, sizes.size, 8):
        table = _all_sums(sizes[start : start + 8])
        drawn = np.frombuffer(stream.bytes(FLIPS), np.uint8)
        sums += table[drawn & (table.size - 1)]  # the last table may be shorter than 256
    return sums
