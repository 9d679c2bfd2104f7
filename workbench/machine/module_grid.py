"""How modules lie on a die, and what spreads between neighbours: the modes of a rectangular grid, in closed form."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np


class Modes(NamedTuple):
    """The modes of something that spreads along a row of equal cells and does not leave it at the ends."""

    values: np.ndarray
    """float64[cells], how fast each mode evens out at unit conductance, the eigenvalues of the row's Laplacian."""
    vectors: np.ndarray
    """float64[cells, cells], each mode a column of unit length."""


def module_grid(modules: int) -> tuple[int, int]:
    """Return the rows and columns of the grid in which modules lie, row by row: as nearly square as fills it exactly.

    >>> module_grid(16), module_grid(304), module_grid(7)
    ((4, 4), (16, 19), (1, 7))
    """
    rows = next(rows for rows in range(math.isqrt(modules), 0, -1) if modules % rows == 0)
    return rows, modules // rows


def row_modes(cells: int) -> Modes:
    """Return the modes of a row: cosines that are flat at both ends.

    >>> row_modes(2).values.round(12).tolist()
    [0.0, 2.0]
    """
    mode = np.arange(cells)
    waves = np.cos(np.pi * (mode[:, None] + 0.5) * mode / cells)
    return Modes(4 * np.sin(np.pi * mode / (2 * cells)) ** 2, waves / np.sqrt((waves**2).sum(axis=0)))


def on_grid(of_mode: np.ndarray, along: Modes, across: Modes) -> np.ndarray:
    """Return the matrix over the modules of a grid that is known by what it does to each mode: float64[modules,
    modules].

    It is for matrices without negative entries, whose entries near 0 may not become negative by rounding. Sums are
    formed in a fixed order and without a library that shares them out over threads, so that the bits are the same
    wherever a run is made; 512 modules take some milliseconds.

    Parameters
    ----------
    of_mode : float64[rows, columns]
        The factor of each mode.
    along, across : Modes
        The modes of a column (`rows` cells) and of a row (`columns` cells).
    """
    rows = np.einsum("jb,ab,lb->ajl", across.vectors, of_mode, across.vectors)
    whole = np.einsum("ia,ka,ajl->ijkl", along.vectors, along.vectors, rows)
    return np.maximum(whole.reshape(of_mode.size, of_mode.size), 0.0)
