"""How many instructions a group may execute: counts that a simulation in fixed point keeps exact."""

from __future__ import annotations

import numpy as np

from workbench.workloads.workload import INSTRUCTION_CLASSES

MOST_OF_A_GROUP = 10**12
"""Of one class: times 2^20, the fixed point in which a dispatcher counts, it stays below 2^60."""
MOST_A_CYCLE = 1 << 20
"""Of one class of one group: far more than a module executes, and few enough to add up over any window."""


def first_excess(instructions: np.ndarray, duration: np.ndarray) -> tuple[int, str, int] | None:
    """Return the first count that is too large: its row, its class and the most that there may be; None where none is.

    Parameters
    ----------
    instructions : int64[groups, classes]
    duration : int64[groups]

    Examples
    --------
    >>> first_excess(np.array([[5, 0, 0, 0, 0, 0], [0, 0, 0, 1 << 21, 0, 0]]), np.array([1, 1]))
    (1, 'matrix', 1048576)
    """
    excesses: list[tuple[int, str, int]] = []
    most = np.minimum(np.minimum(duration, MOST_OF_A_GROUP) * MOST_A_CYCLE, MOST_OF_A_GROUP)
    for which, counts in zip(INSTRUCTION_CLASSES, instructions.T, strict=True):
        beyond = counts > most
        if beyond.any():
            row = int(np.argmax(beyond))
            excesses.append((row, which, int(most[row])))
    return min(excesses, key=lambda excess: excess[0], default=None)
