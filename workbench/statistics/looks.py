"""What a p-value is worth when results are looked at more than once.

The seed count of the first plan has 90 % of the error rate, at the ordinary p-value. All other looks share 10 %, at a
p-value that holds at any number of seeds: one over a ratio of likelihoods that grows as the effect does. By Ville's
inequality that ratio exceeds 1 / alpha at any look in at most alpha of all studies without effect.
"""

from __future__ import annotations

import math

PLANNED, OTHERS = 0.9, 0.1
"""How the planned look and all others share the error rate."""
_PRIOR = 0.25
"""The variance of the effect under the normal mixture, in standard deviations of a pair, squared: `g`."""


def over_looks(planned: float, any_time: float) -> float:
    """Return the p-value that answers for the planned look and for all others.

    >>> round(over_looks(0.018, 0.5), 9), over_looks(1.0, 0.002)
    (0.02, 0.02)
    """
    return min(1.0, planned / PLANNED, any_time / OTHERS)


def any_time_sign(wins: int, losses: int) -> float:
    """Return the p-value of a direction that holds at any number of seeds; seeds that tie are not counted.

    The chance of a win is one half without an effect, and drawn from Beta(1/2, 1/2) with one.

    References
    ----------
    Robbins (1970), Ann. Math. Statist. 41: mixtures; Ville (1939): the inequality.

    Examples
    --------
    >>> any_time_sign(0, 0), round(any_time_sign(20, 0), 6), any_time_sign(10, 10)
    (1.0, 8e-06, 1.0)
    """
    if not wins + losses:
        return 1.0
    # The inverse of the likelihood ratio of B(wins + 1/2, losses + 1/2) / B(1/2, 1/2) to 2^-n; B(1/2, 1/2) is pi.
    logs = (wins + losses) * math.log(2) + math.lgamma(wins + 0.5) + math.lgamma(losses + 0.5)
    return _at_most_one(math.lgamma(wins + losses + 1) + math.log(math.pi) - logs)


def any_time_t(t: float, count: int) -> float:
    """Return the p-value of a mean that holds at any number of seeds, given Student's t of so many.

    References
    ----------
    Wang and Ramdas (2025), Anytime-valid t-tests and confidence sequences for Gaussian means with unknown variance:
    the normal mixture over the effect, with g = 1/4.

    Examples
    --------
    >>> any_time_t(0.0, 10), any_time_t(float("inf"), 10), round(any_time_t(5.0, 40), 6)
    (1.0, 0.0, 0.000513)
    """
    if count < 2 or math.isnan(t):
        return 1.0
    if math.isinf(t):
        return 0.0
    degrees, grown = count - 1, 1 + count * _PRIOR
    flatter = math.log1p(t * t / (degrees * grown)) - math.log1p(t * t / degrees)
    return _at_most_one(0.5 * math.log(grown) + 0.5 * (degrees + 1) * flatter)


def _at_most_one(log: float) -> float:
    return math.exp(log) if log < 0 else 1.0
