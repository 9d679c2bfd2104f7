"""Sobol's indices: which share of a measure's variance is due to which levers, alone and together?"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from workbench.errors import missing_extra
from workbench.experiments.designs.design import problem_of
from workbench.streams import Streams
from workbench.studies.sensitivity.estimates import LEVEL, Estimates, around, checked, resamples


class Indices(NamedTuple):
    """Shares of the variance of a measure over the ranges."""

    first: Estimates
    """float64[axes], due to each lever alone."""
    total: Estimates
    """float64[axes], due to each lever alone and with all others."""
    second: Estimates | None
    """float64[axes, axes], due to each pair beyond both alone, symmetric, NaN on the diagonal; None = not asked for."""


def sobol_indices(outputs: Any, axes: int, *, second_order: bool = True, seed: int = 0) -> Indices:
    """Compute the indices of outputs in the order of the design `saltelli`, with 95 % intervals.

    Estimates of small shares may come out below zero, by chance; the interval says so. A lever that changes nothing has
    exactly 0, with an interval of no width.

    Parameters
    ----------
    outputs : array-like of numbers, shape (base x (2 axes + 2),), or (base x (axes + 2),) without pairs
    seed : int
        Of the bootstrap: the same outputs give the same bits.

    Raises
    ------
    InputError
        An output is missing or not finite, or all are equal.
    WorkbenchError
        The optional part `sensitivity` is not installed.

    References
    ----------
    [1] Sobol (2001), Math. Comput. Simul. 55; Saltelli et al. (2010), Comput. Phys. Commun. 181: the estimators of
        first and total order, Saltelli (2002) of pairs, as in `SALib.analyze.sobol`.

    Examples
    --------
    >>> from workbench.experiments.designs import Axis, Saltelli
    >>> ranks = Saltelli(base=256).ranks([Axis("a", "number", 0, 1), Axis("b", "number", 0, 1)])
    >>> sobol_indices(ranks[:, 0] + 2 * ranks[:, 1], 2).total.value.round(1)
    array([0.2, 0.8])
    """
    try:
        from SALib.analyze import sobol
    except ImportError:
        raise missing_extra("estimating Sobol's indices", "sensitivity") from None
    rows = len(np.asarray(outputs))
    width = 2 * axes + 2 if second_order else axes + 2
    indices = sobol.analyze(
        problem_of(axes),
        checked(outputs, width * max(rows // width, 1)),
        calc_second_order=second_order,
        num_resamples=resamples(rows // width),
        conf_level=LEVEL,
        seed=Streams(seed).integer("sobol indices") % (1 << 32),
    )
    pairs = around(_both_sides(indices["S2"]), _both_sides(indices["S2_conf"])) if second_order else None
    return Indices(around(indices["S1"], indices["S1_conf"]), around(indices["ST"], indices["ST_conf"]), pairs)


def _both_sides(upper: np.ndarray) -> np.ndarray:
    """Return the same values above and below the diagonal."""
    return np.where(np.isnan(upper), upper.T, upper)
