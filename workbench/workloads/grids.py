"""How the grids of kernels become the requests of one compute unit: the arithmetic of the model in `trace.py`."""

from __future__ import annotations

import numpy as np


def share_of_unit(workgroups: np.ndarray, units: int, unit: int, restart: bool) -> np.ndarray:
    """Return how many workgroups of each grid go to a unit when workgroup i goes to unit (first + i) mod units.

    Parameters
    ----------
    workgroups : int64[kernels]
        In the order of the launches.
    units, unit : int
        How many compute units there are, and which one is meant.
    restart : bool
        Whether every grid begins at unit 0; else a grid begins after the unit that got the last one's last workgroup.

    Returns
    -------
    int64[kernels]

    Examples
    --------
    >>> grids = np.array([3, 3, 1])
    >>> share_of_unit(grids, 4, 0, restart=False), share_of_unit(grids, 4, 0, restart=True)
    (array([1, 1, 0]), array([1, 1, 1]))
    """
    first = np.zeros_like(workgroups)
    if not restart:
        first[1:] = np.cumsum(workgroups)[:-1] % units
    before = (unit - first) % units
    return np.maximum(-(-(workgroups - before) // units), 0)


def rounds(workgroups: np.ndarray, units: int, resident: np.ndarray) -> np.ndarray:
    """Return how many rounds a machine needs for each grid when every unit holds so many of its workgroups at once.

    A unit that holds none (the machine is too small for one workgroup) counts as holding one; at least one round.

    >>> rounds(np.array([1, 240, 241, 9]), 60, np.array([4, 4, 4, 0]))
    array([1, 1, 2, 1])
    """
    return np.maximum(-(-workgroups // (units * np.maximum(resident, 1))), 1)
