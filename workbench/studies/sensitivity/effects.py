"""Elementary effects: by how much does a measure change when one lever moves over its range?"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from workbench.errors import missing_extra
from workbench.experiments.designs.morris import problem_of
from workbench.streams import Streams
from workbench.studies.sensitivity.estimates import LEVEL, Estimates, around, checked, resamples


class Effects(NamedTuple):
    """Effects in the measure's unit, of moving each lever from one end of its range to the other."""

    mean_size: Estimates
    """float64[axes], the mean of the absolute effects (mu star): how much a lever matters."""
    mean: np.ndarray
    """float64[axes], the mean of the effects (mu): their direction."""
    spread: np.ndarray
    """float64[axes], their standard deviation (sigma): how much depends on the other levers, or bends."""


def elementary_effects(outputs: Any, ranks: np.ndarray, levels: int, *, seed: int = 0) -> Effects:
    """The effects of outputs in the order of the design `morris`, with a 95 % interval of their mean size.

    Parameters
    ----------
    outputs : array-like of numbers, shape (trajectories x (axes + 1),)
    ranks : float64[rows, axes]
        Where each row lies, as the design drew it: levels of the lattice, from 0 to 1.
    levels : int
        Of the lattice.
    seed : int
        Of the bootstrap.

    Raises
    ------
    InputError
        An output is missing or not finite, or all are equal.
    WorkbenchError
        The optional part `sensitivity` is not installed.

    References
    ----------
    [1] Morris (1991), Technometrics 33; Campolongo, Cariboni and Saltelli (2007), Environ. Model. Softw. 22: mu star;
        as in `SALib.analyze.morris`.

    Examples
    --------
    >>> from workbench.experiments.designs import Axis, Morris
    >>> ranks = Morris(trajectories=10).ranks([Axis("a", "number", 0, 1), Axis("b", "number", 0, 1)])
    >>> elementary_effects(3 * ranks[:, 0] - 5 * ranks[:, 1], ranks, 4).mean.round(6)
    array([ 3., -5.])
    """
    try:
        from SALib.analyze import morris
    except ImportError:
        raise missing_extra("reading elementary effects", "sensitivity") from None
    rows, axes = ranks.shape
    found = morris.analyze(
        problem_of(axes),
        ranks,
        checked(outputs, rows),
        num_levels=levels,
        num_resamples=resamples(rows),
        conf_level=LEVEL,
        seed=np.random.default_rng(Streams(seed).integer("elementary effects")),
    )
    size = around(np.asarray(found["mu_star"]), np.asarray(found["mu_star_conf"]))
    return Effects(size, np.asarray(found["mu"], float), np.asarray(found["sigma"], float))
