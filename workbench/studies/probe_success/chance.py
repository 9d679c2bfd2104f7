"""The chance that something fails, and that it succeeds: both as logarithms, so that neither loses its digits.

Of a failure of 1e-63 the success is 1 to every digit that a float has, and of a success of 1e-63 the failure; so each
is computed from numbers of its own size. Logarithms also hold what is below the least float, as 1e-606.
"""

from __future__ import annotations

import math
from typing import NamedTuple

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
