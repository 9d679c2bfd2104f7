"""The hypervolume of a study, trial by trial.

It is measured from a reference point that every trial of interest beats. In each objective the point lies a tenth of
the front's own extent behind its worst value, so that the ends of the front count too. (Ishibuchi et al., "How to
Specify a Reference Point in Hypervolume Calculation for Fair Performance Comparison", Evolutionary Computation 26(3),
2018.)
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from workbench.tuning.front import on_front

BEYOND = 0.1
"""How far behind the front the reference point lies, as a share of the front's extent."""


class History(NamedTuple):
    """The hypervolume after each trial."""

    volumes: np.ndarray
    """float64[trials]; trials that failed, were given up or break a constraint add nothing."""
    reference: np.ndarray
    """float64[objectives], as costs."""

    @property
    def shares(self) -> np.ndarray:
        """Return the shares of the final hypervolume: float64[trials]; NaN where there is none."""
        final = self.volumes[-1] if len(self.volumes) else 0.0
        return np.asarray(self.volumes / final if final > 0 else np.full(len(self.volumes), math.nan))

    def trials_to(self, share: float, final: float | None = None) -> int | None:
        """Return after how many trials so much of the final hypervolume (or of another) was reached; None = never.

        >>> History(np.array([0.0, 2.0, 9.0, 10.0]), np.zeros(2)).trials_to(0.9)
        3
        """
        goal = share * (self.volumes[-1] if final is None and len(self.volumes) else final or 0.0)
        reached = np.flatnonzero(self.volumes >= goal)
        return int(reached[0]) + 1 if len(reached) and goal > 0 else None


def history(costs: Sequence[Sequence[float] | None], reference: np.ndarray | None = None) -> History:
    """Return the hypervolume after each trial.

    Parameters
    ----------
    costs : sequence
        One entry a trial, less is better; None = a trial that does not count.
    reference : float64[objectives], optional
        That of these trials if left out; several samplers are compared from a common one.

    Examples
    --------
    >>> result = history([(3.0, 1.0), None, (1.0, 3.0), (1.0, 1.0)], np.array([4.0, 4.0]))
    >>> result.volumes
    array([3., 3., 5., 9.])
    """
    counted = np.array([row for row in costs if row is not None], float)
    if not len(counted):
        return History(np.zeros(len(costs)), np.zeros(0))
    reference = reference_point(counted) if reference is None else np.asarray(reference, float)
    front, volume, volumes = np.empty((0, counted.shape[1])), 0.0, []
    for row in costs:
        if row is not None and not (front <= np.asarray(row)).all(axis=1).any():
            front = np.vstack([front[~(front >= np.asarray(row)).all(axis=1)], row])
            volume = hypervolume(front, reference)
        volumes.append(volume)
    return History(np.array(volumes), reference)


def hypervolume(costs: np.ndarray, reference: np.ndarray) -> float:
    """Compute the volume between points and a reference point, what several of them beat counted once.

    It is cut into slices along the last objective, within each of which the points so far beat the same area; the cost
    of n points is in the order of n^objectives, with n the size of a front.

    Parameters
    ----------
    costs : float64[points, objectives]
        Less is better; a point that does not beat the reference point in every objective adds nothing.
    reference : float64[objectives]

    References
    ----------
    While, Hingston, Barone, Huband, "A Faster Algorithm for Calculating Hypervolume", IEEE Transactions on Evolutionary
    Computation 10(1), 2006: hypervolume by slicing objectives.

    Examples
    --------
    >>> hypervolume(np.array([[1.0, 2.0], [2.0, 1.0]]), np.array([3.0, 3.0]))
    3.0
    """
    inside = costs[(costs < reference).all(axis=1)]
    if not len(inside):
        return 0.0
    if inside.shape[1] == 1:
        return float(reference[0] - inside.min())
    ordered = inside[np.argsort(inside[:, -1], kind="stable")]
    if inside.shape[1] == 2:
        return _area(ordered, reference)
    edges = np.append(ordered[:, -1], reference[-1])
    slices = [
        hypervolume(ordered[: k + 1, :-1], reference[:-1]) if h > 0 else 0.0 for k, h in enumerate(np.diff(edges))
    ]
    return float(np.dot(slices, np.diff(edges)))


def _area(ordered: np.ndarray, reference: np.ndarray) -> float:
    """Compute the area of two objectives, the points in the order of the second."""
    widths = reference[0] - np.minimum.accumulate(ordered[:, 0])
    return float(np.dot(widths, np.diff(np.append(ordered[:, 1], reference[1]))))


def reference_point(costs: np.ndarray) -> np.ndarray:
    """Return the point behind a set of trials from which their hypervolume is measured: float64[objectives].

    Where the front has no extent in an objective, that of all trials counts; where they have none either, 1.
    """
    front = costs[on_front(costs)]
    worst = front.max(axis=0)
    extent = np.ptp(front, axis=0)
    extent = np.where(extent > 0, extent, np.ptp(costs, axis=0))
    return np.asarray(worst + BEYOND * np.where(extent > 0, extent, 1.0))
