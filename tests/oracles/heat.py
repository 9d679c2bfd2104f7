"""The RC network as its equations stand: currents between named neighbours, and the textbook's matrix exponential."""

from __future__ import annotations

import numpy as np
from scipy.linalg import expm


def conductances(rows, columns, resistance, coupling):
    """G of C dT/dt = P - G T, cell by cell."""
    cells = rows * columns
    G = np.zeros((cells, cells))
    for one in range(cells):
        G[one, one] += 1 / resistance
        for other in range(cells):
            apart = abs(one // columns - other // columns) + abs(one % columns - other % columns)
            if apart == 1:
                G[one, one] += coupling
                G[one, other] -= coupling
    return G


def step(G, capacity, step_seconds):
    """Keeps and gains of a step, out of one exponential of the system with its constant input (Van Loan, 1978)."""
    cells = len(G)
    system = np.zeros((2 * cells, 2 * cells))
    system[:cells, :cells] = -G / capacity
    system[:cells, cells:] = np.eye(cells) / capacity
    whole = expm(system * step_seconds)
    return whole[:cells, :cells], whole[:cells, cells:]


def integrate(G, capacity, heat, power, lasting, steps=20_000):
    """The temperatures after some seconds of constant power, by steps too small to matter (Heun's method)."""
    small = lasting / steps
    for _ in range(steps):
        slope = (power - G @ heat) / capacity
        heat = heat + small / 2 * (slope + (power - G @ (heat + small * slope)) / capacity)
    return heat
