"""A chance as the logarithms of failing and succeeding, so that neither loses its digits however small it is.

Of a failure of 1e-63 the success is 1 to every digit that a float has, and of a success of 1e-63 the failure.
Logarithms also hold what is below the least float, as 1e-606.
"""

from __future__ import annotations

import functools
import math
from typing import NamedTuple

import numpy as np

_TINY = -700.0
"""Below this logarithm a float has few digits left, or none; n times such a chance is n of them to 300 digits."""


class Chance(NamedTuple):
    """A failure that happens with some probability, and does not happen otherwise."""

    log_failure: float
    """Natural logarithm of the probability of failure."""
    log_success: float
    """Natural logarithm of the probability of success."""

    @property
    def failure(self) -> float:
        """Return the probability of failure; 0 where it is below the least float."""
        return math.exp(self.log_failure)

    @property
    def success(self) -> float:
        """Return the probability of success; 0 where it is below the least float."""
        return math.exp(self.log_success)

    @property
    def log10_failure(self) -> float:
        """Return the decimal logarithm of the probability of failure."""
        return self.log_failure / math.log(10)

    def every(self, count: int) -> Chance:
        """Return the chance that all of so many independent ones succeed, as they must: 1 - (1 - p)^count.

        >>> round(Chance.of(15 / 16).every(2).success * 256)
        1
        """
        succeeds = count * self.log_success
        if self.log_failure < _TINY:
            return Chance(min(self.log_failure + math.log(count), 0.0), succeeds)
        return Chance(log_of_complement(succeeds), succeeds)

    def any(self, count: int) -> Chance:
        """Return the chance where of so many independent ones a single success is enough: p^count.

        >>> Chance.of(0.5).any(4).failure
        0.0625
        """
        return self.opposite().every(count).opposite()

    def opposite(self) -> Chance:
        """Return the chance with failure and success exchanged."""
        return Chance(self.log_success, self.log_failure)

    @classmethod
    def of(cls, failure: float) -> Chance:
        """Make a chance from the probability of failure, from 0 to 1."""
        log_failure = math.log(failure) if failure else -math.inf
        return cls(log_failure, log_of_complement(log_failure))

    @classmethod
    def of_smaller(cls, log_failure: float, log_success: float) -> Chance:
        """Make a chance from both, each to the digits of its size: the smaller one is kept, the larger one is its
        complement."""
        if log_failure < log_success:
            return cls(log_failure, log_of_complement(log_failure))
        return cls(log_of_complement(log_success), log_success)


def log_of_complement(log_chance: float) -> float:
    """Return the logarithm of 1 - e^x, with all its digits.

    >>> log_of_complement(math.log(0.25)) == math.log(0.75), log_of_complement(-50.0) == -math.exp(-50)
    (True, True)
    """
    if log_chance >= 0:
        return -math.inf
    if log_chance > -math.log(2):
        return math.log(-math.expm1(log_chance))
    return math.log1p(-math.exp(log_chance))


@functools.lru_cache(4096)
def chance_of_no_run(cells: int, run: int, log_free: float) -> Chance:
    """Compute the chance that no `run` consecutive cells of a row are free, each free by itself with the same
    probability.

    A row begins with k free cells and a taken one, and what then decides is the rest of the row, or it begins with
    `run` free cells. Over all k < run that gives failure and success of a row from those of shorter ones, and both by
    adding and multiplying positive numbers alone: neither loses its digits, however small it is.

    Parameters
    ----------
    cells : int
        Cells of the row.
    run : int
        Cells wanted; 0 always succeeds, more than there are always fails.
    log_free : float
        Natural logarithm of the probability that a cell is free, below 0.

    References
    ----------
    spec 3, section 4 (probability chain).

    Examples
    --------
    >>> round(chance_of_no_run(3, 2, math.log(0.5)).failure, 12)          # 5 of the 8 rows of three
    0.625
    """
    if run <= 0:
        return Chance(-math.inf, 0.0)
    begins = np.arange(run) * log_free + log_of_complement(log_free)  # k free cells, then a taken one
    failure, success = np.zeros(cells + 1), np.full(cells + 1, -np.inf)
    for row in range(run, cells + 1):
        rests = slice(row - run, row)
        failure[row] = _log_of_sum(begins[::-1] + failure[rests])
        success[row] = np.logaddexp(run * log_free, _log_of_sum(begins[::-1] + success[rests]))
    return Chance.of_smaller(float(failure[cells]), float(success[cells]))


def _log_of_sum(logs: np.ndarray) -> float:
    """Return the logarithm of the sum of numbers that are given as logarithms."""
    largest = float(logs.max())
    return largest if largest == -math.inf else largest + math.log(float(np.exp(logs - largest).sum()))
