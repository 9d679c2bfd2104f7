"""How often does something happen? Exact binomial interval and test of a share of independent trials."""

from __future__ import annotations

import numpy as np

from workbench.errors import InputError
from workbench.studies.statistics.interval import Interval
from workbench.studies.statistics.sample import check_open


def proportion_interval(successes: int, trials: int, *, level: float = 0.95) -> Interval:
    """Compute the exact (Clopper-Pearson 1934) interval of the chance of success; it covers at least `level` of the
    time.

    No trials leave the share and its limits unknown (NaN). The trials must be independent: grants of one run are not,
    seeds are (use `ratio_interval` over seeds for a share within runs).

    Raises
    ------
    InputError
        Not 0 <= successes <= trials in whole numbers, or a level outside (0, 1).

    Examples
    --------
    >>> print(proportion_interval(198, 200))
    0.99 [0.9643, 0.9988]
    >>> print(proportion_interval(0, 10))
    0 [0, 0.3085]
    """
    from scipy.special import betaincinv

    _check_counts(successes, trials)
    check_open(level, "level")
    if not trials:
        return Interval(np.nan, np.nan, np.nan, level, "none", 0)
    failures, tail = trials - successes, (1 - level) / 2
    low = betaincinv(successes, failures + 1, tail) if successes else 0.0
    high = 1 - betaincinv(failures, successes + 1, tail) if failures else 1.0
    return Interval(successes / trials, float(low), float(high), level, "clopper_pearson", trials)


def chance_of_at_least(successes: int, trials: int, chance: float) -> float:
    """Return P(X >= successes) of a binomial X: the one-sided p-value against "the chance is no larger".

    >>> round(chance_of_at_least(9, 10, 0.5) * 2**10)
    11
    """
    from scipy.special import betainc

    _check_counts(successes, trials)
    return float(betainc(successes, trials - successes + 1, chance)) if successes else 1.0


def chance_of_at_most(successes: int, trials: int, chance: float) -> float:
    """Return P(X <= successes) of a binomial X: the one-sided p-value against "the chance is no smaller"."""
    return chance_of_at_least(trials - successes, trials, 1 - chance)


def half_test(successes: int, trials: int) -> float:
    """Compute the exact two-sided p-value against a chance of one half; 1 without trials.

    >>> half_test(9, 10) == 2 * 11 / 2**10
    True
    """
    fewer = min(successes, trials - successes)
    return min(1.0, 2 * chance_of_at_most(fewer, trials, 0.5))


def _check_counts(successes: int, trials: int) -> None:
    whole = all(hasattr(count, "__index__") for count in (successes, trials))
    if not whole or not 0 <= successes <= trials:
        raise InputError(
            f"successes and trials must be whole numbers, 0 <= successes <= trials. Got {successes!r} of {trials!r}."
        )
