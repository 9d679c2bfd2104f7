"""What is the chance of an error when data are looked at more than once? Repeated confidence intervals.

Whoever stops when an interval looks right has looked many times, and one of many intervals is wrong more often than
each of them: of 20 looks at 95 % intervals, one misses the truth in a quarter of all studies. Intervals of a higher
level at every look, all the same and just so high that with the chosen probability none of them is wrong, may be looked
at whenever the schedule says, and the study may be stopped by any rule.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from workbench.errors import wrong_value
from workbench.studies.statistics.sample import check_open

_LEAST_P = 1e-10
"""Below, a p-value is corrected by Bonferroni's bound, which costs little there and cannot be lost in rounding."""


class Looks(NamedTuple):
    """The numbers of values at which an analysis is looked at, rising; fixed beforehand.

    References
    ----------
    [1] Pocock (1977), Biometrika 64: equal levels at every look, and their use with Student's t.
    [2] Armitage, McPherson and Rowe (1969), J. R. Stat. Soc. A 132: the chance, by integration from look to look.
    [3] Jennison and Turnbull (1989), J. R. Stat. Soc. B 51: repeated confidence intervals hold for any stopping rule.

    Examples
    --------
    >>> round(Looks((20, 40, 60, 80, 100)).level(0.95), 4)
    0.9842
    >>> Looks((100,)).level(0.95)
    0.95
    """

    counts: tuple[int, ...]

    def level(self, level: float) -> float:
        """Return the level of the interval at each look with which all of them hold together at a level.

        Raises
        ------
        InputError
            A level outside (0, 1), or counts that do not rise.
        """
        check_open(level, "level")
        return level if len(_checked(self.counts)) == 1 else _level(self.counts, level)

    def p_value(self, p: float) -> float:
        """Return the chance that any look shows a p-value as small as one that was seen; never below it."""
        if len(_checked(self.counts)) == 1 or math.isnan(p):
            return p
        most = min(1.0, p * len(self.counts))
        if p < _LEAST_P or p >= 1:
            return most
        return min(max(chance_beyond(self.counts, _limit(p)), p), most)


@functools.cache
def _level(counts: tuple[int, ...], level: float) -> float:
    from scipy.optimize import brentq

    wrong = 1 - level
    low, high = _limit(wrong), _limit(wrong / len(counts))
    limit = brentq(lambda limit: chance_beyond(counts, limit) - wrong, low, high, xtol=1e-9)
    return 1 - 2 * _tail(limit)


def chance_beyond(counts: Sequence[int], limit: float) -> float:
    """Return the chance that a mean of normal values with mean zero is so many standard errors from zero at any look.

    The sum at a look that was not beyond before has a density; the next one is that of the sum of it and of what is
    added, integrated over the range within the limit by Gauss and Legendre.

    >>> round(chance_beyond([50], 1.96), 4), round(chance_beyond([50, 100], 2.178), 4)
    (0.05, 0.05)
    """
    steps = np.diff(np.asarray(counts, float), prepend=0.0)
    nodes, weights = np.polynomial.legendre.leggauss(_nodes(counts, steps, limit))
    sums, density = np.zeros(1), np.ones(1)
    for count, step in zip(counts, steps, strict=True):
        here = nodes * limit * math.sqrt(count)
        density = _normal((here[:, None] - sums) / math.sqrt(step)) @ density / math.sqrt(step)
        density, sums = density * weights * limit * math.sqrt(count), here
    return float(1 - density.sum())


def _nodes(counts: Sequence[int], steps: np.ndarray, limit: float) -> int:
    """Return enough nodes that the density of what one step adds is resolved within the widest range."""
    return 32 + math.ceil(6 * limit * math.sqrt((np.asarray(counts) / steps).max()))


def _normal(z: np.ndarray) -> np.ndarray:
    return np.asarray(np.exp(-0.5 * z * z) / math.sqrt(2 * math.pi))


def _tail(z: float) -> float:
    from scipy.special import ndtr

    return float(ndtr(-z))


def _limit(p: float) -> float:
    """Return how many standard errors a two-sided p-value is from zero."""
    from scipy.special import ndtri

    return float(-ndtri(p / 2))


def _checked(counts: tuple[int, ...]) -> tuple[int, ...]:
    if not counts or min(np.diff(counts, prepend=0)) <= 0:
        raise wrong_value("", "looks", "must be numbers that rise", list(counts))
    return counts
