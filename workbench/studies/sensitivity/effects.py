"""Elementary effects: by how much does a measure change when one lever moves over its range?"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

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
    values = checked(outputs, len(ranks))
    effects = _effects(values, ranks, ranks if shares is None else shares)
    drawn = np.random.default_rng(Streams(seed).integer("elementary effects"))
    again = drawn.integers(len(effects), size=(resamples(len(ranks)), len(effects)))
    sizes = np.abs(effects)
    spread = np.array([_mean(sizes[rows]) for rows in again]).std(axis=0, ddof=1)
    size = around(_mean(sizes), t_half(LEVEL) * spread)
    known = np.maximum(np.isfinite(effects).sum(axis=0), 1)
    away = np.nan_to_num(effects - _mean(effects)) ** 2
    return Effects(size, _mean(effects), np.sqrt(away.sum(axis=0) / np.maximum(known - 1, 1)))


def t_half(level: float) -> float:
    """Return the half width of a normal interval in standard errors."""
    from scipy.special import ndtri

    return float(ndtri((1 + level) / 2))


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
