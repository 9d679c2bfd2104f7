"""Sobol's indices and elementary effects of one output, as estimates with the limits of their intervals.

Indices: which share of a measure's variance is due to which levers, alone and together. Elementary effects: by how much
a measure changes when one lever moves over its range. Both refuse outputs of which one is missing.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from workbench.errors import InputError, missing_extra
from workbench.experiments.designs.design import problem_of
from workbench.streams import Streams

LEVEL = 0.95


class Estimates(NamedTuple):
    """Numbers with 95 % intervals: normal ones, as wide as the bootstrap over pairs or walks spreads."""

    value: np.ndarray
    """float64[axes], or float64[axes, axes] for pairs of them."""
    low: np.ndarray
    high: np.ndarray


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


class Effects(NamedTuple):
    """Effects in the measure's unit, of moving each lever from one end of its range to the other."""

    mean_size: Estimates
    """float64[axes], the mean of the absolute effects (mu star): how much a lever matters."""
    mean: np.ndarray
    """float64[axes], the mean of the effects (mu): their direction."""
    spread: np.ndarray
    """float64[axes], their standard deviation (sigma): how much depends on the other levers, or bends."""


def elementary_effects(
    outputs: Any, ranks: np.ndarray, levels: int, *, shares: np.ndarray | None = None, seed: int = 0
) -> Effects:
    """Compute the effects of outputs in the order of the design `morris`, with a 95 % interval of their mean size.

    Parameters
    ----------
    outputs : array-like of numbers, shape (trajectories x (axes + 1),)
    ranks : float64[rows, axes]
        Where each row lies, as the design drew it: levels of the lattice, from 0 to 1.
    levels : int
        Of the lattice, whose moves every walk makes in its ranks.
    shares : float64[rows, axes], optional
        Where the values lie that were run, from 0 to 1 on their own scale: a lever of few values moves by another share
        than its rank does. An effect is what a move changed over the move that was made; a move that came to nothing
        has none. The ranks where left out.
    seed : int
        Of the bootstrap.

    Raises
    ------
    InputError
        An output is missing or not finite, or all are equal.

    References
    ----------
    [1] Morris (1991), Technometrics 33; Campolongo, Cariboni and Saltelli (2007), Environ. Model. Softw. 22: mu star;
        as in `SALib.analyze.morris`, but for moves after rounding.

    Examples
    --------
    >>> from workbench.experiments.designs import Axis, Morris
    >>> ranks = Morris(trajectories=10).ranks([Axis("a", "number", 0, 1), Axis("b", "number", 0, 1)])
    >>> elementary_effects(3 * ranks[:, 0] - 5 * ranks[:, 1], ranks, 4).mean.round(6)
    array([ 3., -5.])
    """
    from scipy.special import ndtri

    values = checked(outputs, len(ranks))
    effects = _effects(values, ranks, ranks if shares is None else shares)
    drawn = np.random.default_rng(Streams(seed).integer("elementary effects"))
    again = drawn.integers(len(effects), size=(resamples(len(ranks)), len(effects)))
    sizes = np.abs(effects)
    spread = np.array([_mean(sizes[rows]) for rows in again]).std(axis=0, ddof=1)
    size = around(_mean(sizes), float(ndtri((1 + LEVEL) / 2)) * spread)
    known = np.maximum(np.isfinite(effects).sum(axis=0), 1)
    away = np.nan_to_num(effects - _mean(effects)) ** 2
    return Effects(size, _mean(effects), np.sqrt(away.sum(axis=0) / np.maximum(known - 1, 1)))


def _effects(outputs: np.ndarray, ranks: np.ndarray, shares: np.ndarray) -> np.ndarray:
    """Return the effect of each lever in each walk: float64[walks, axes], NaN where its move came to nothing."""
    axes = ranks.shape[1]
    moved = np.abs(np.diff(ranks.reshape(-1, axes + 1, axes), axis=1)).argmax(axis=2)
    moves = np.take_along_axis(np.diff(shares.reshape(-1, axes + 1, axes), axis=1), moved[:, :, None], 2)[:, :, 0]
    changes = np.diff(outputs.reshape(-1, axes + 1), axis=1)
    effects = np.full(moved.shape, np.nan)
    with np.errstate(divide="ignore", invalid="ignore"):
        np.put_along_axis(effects, moved, np.where(moves != 0, changes / moves, np.nan), axis=1)
    return effects


def _mean(effects: np.ndarray) -> np.ndarray:
    """Return the mean over the walks in which a lever moved; 0 where it moved in none, so that nothing depends on
    it."""
    known = np.isfinite(effects)
    return np.asarray(np.where(known, effects, 0.0).sum(axis=0) / np.maximum(known.sum(axis=0), 1))


MOST_RESAMPLES, MOST_NUMBERS = 1000, 4_000_000
"""Of the bootstrap: so many resamples, and fewer where the numbers of all of them would be too many at once."""


def around(value: np.ndarray, half: np.ndarray) -> Estimates:
    """Return estimates with intervals to both sides of the same width."""
    value, half = np.asarray(value, float), np.asarray(half, float)
    return Estimates(value, value - half, value + half)


def resamples(size: int) -> int:
    """Return the number of bootstrap resamples of so many numbers.

    >>> resamples(64), resamples(16384)
    (1000, 244)
    """
    return min(MOST_RESAMPLES, max(100, MOST_NUMBERS // size))


def checked(outputs: np.ndarray, rows: int) -> np.ndarray:
    """Return the outputs, as many as the design has rows, every one finite, not all equal.

    SALib answers one NaN among thousands of outputs with indices of zero and no word (SALib/SALib#134, #273).

    Raises
    ------
    InputError
        A number is missing or not finite, or all are the same, so that there is nothing to explain.
    """
    values = np.asarray(outputs, float)
    if values.shape != (rows,):
        raise InputError(f"sensitivity needs one output a row of the design ({rows}). Got {values.size}.")
    bad = np.flatnonzero(~np.isfinite(values))
    if bad.size:
        raise InputError(f"sensitivity needs finite outputs. Got {values[bad[0]]:g} in row {bad[0]} of {rows}.")
    if values.min() == values.max():
        raise InputError(f"sensitivity needs outputs that differ; all {rows} are {values[0]:g}.")
    return values
