"""How likely is a run of so many free cells somewhere in a row of them? An exact dynamic programme."""

from __future__ import annotations

import functools
import math

import numpy as np

from workbench.studies.probe_success.chance import Chance, log_of_complement


@functools.lru_cache(4096)
def no_run(cells: int, run: int, log_free: float) -> Chance:
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
    >>> round(no_run(3, 2, math.log(0.5)).failure, 12)          # 5 of the 8 rows of three
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
