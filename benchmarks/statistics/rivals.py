"""Student's t, Wilcoxon's test and the sign test that counts ties, for many comparisons at once."""

from __future__ import annotations

import functools

import numpy as np
from scipy import special

from benchmarks.statistics.pair import Seen, at_most, student_once

EXACT = 50
"""The largest number of differing seeds at which Wilcoxon's test is exact, as in SciPy."""


def student_p(seen: Seen) -> np.ndarray:
    """Return the p-values of Student's t: 0 where all values are equal and not 0, 1 where one is infinite."""
    p = np.where((seen.spread == 0) & (seen.mean != 0) & (seen.pairs > 1), 0.0, student_once(seen))
    return np.where(seen.sized, p, 1.0)


def sign_p(seen: Seen) -> np.ndarray:
    """Return the p-values of the sign test of the median of 0.5: a tie is on neither side and counts."""
    most = np.maximum(seen.wins, seen.losses)
    return np.minimum(1.0, 2 * at_most(seen.pairs - most, seen.pairs))


def coded(differences: np.ndarray) -> np.ndarray:
    """Return differences as whole numbers for `wilcoxon_p`, the seeds being the last axis of the result.

    The number orders by the absolute value in single precision; its last bit says whether the difference is above 0.
    """
    single = np.ascontiguousarray(np.moveaxis(differences, 0, -1), dtype=np.float32)
    return np.asarray((single.view(np.int32) & 0x7FFFFFFE) | (single > 0))


def wilcoxon_p(codes: np.ndarray, seen: Seen) -> np.ndarray:
    """Return the p-values of Wilcoxon's signed-rank test of coded differences; ties with 0 are dropped.

    It is exact up to `EXACT` differing seeds, the normal approximation from there on. Equal absolute values with both
    signs have ranks in the order of their codes, which happens in no world here.
    """
    count = codes.shape[-1]
    above = (np.sort(codes, axis=-1) & 1).astype(np.float32)
    differ = seen.wins + seen.losses
    ranks = above @ np.arange(1, count + 1, dtype=np.float32) - (count - differ) * seen.wins
    least = np.minimum(ranks, differ * (differ + 1) / 2 - ranks).astype(int)
    exact = _wilcoxon_cdf()[np.minimum(differ, EXACT), np.minimum(least, EXACT * (EXACT + 1) // 4)]
    if differ.max(initial=0) <= EXACT:
        return np.minimum(1.0, 2 * exact)
    deviation = np.sqrt(np.maximum(differ, 1) * (differ + 1.0) * (2 * differ + 1) / 24)
    normal = special.ndtr((least - differ * (differ + 1) / 4) / deviation)
    return np.minimum(1.0, 2 * np.where(differ <= EXACT, exact, normal))


@functools.cache
def _wilcoxon_cdf() -> np.ndarray:
    """Return the chance that the sum of ranks is at most a number: float64[differing seeds + 1, sum + 1]."""
    chances = np.zeros((EXACT + 1, EXACT * (EXACT + 1) // 2 + 1))
    chances[0, 0] = 1.0
    for rank in range(1, EXACT + 1):
        chances[rank] = chances[rank - 1] / 2
        chances[rank, rank:] += chances[rank - 1, :-rank] / 2
    return np.cumsum(chances, axis=1)
