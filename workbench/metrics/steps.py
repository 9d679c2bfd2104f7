"""A quantity that changes at whole cycles, as an exact step function of the cycle."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np


class Steps(NamedTuple):
    """A quantity that changes at whole cycles and stays as it is between them.

    >>> steps = Steps(before=4, cycle=np.array([2, 5]), value=np.array([1, 3]))
    >>> steps.at(np.array([0, 2, 4, 5, 99]))
    array([4, 1, 1, 3, 3])
    """

    before: int
    """The value until the first change."""
    cycle: np.ndarray
    """int64[changes], strictly increasing: the cycles with an event."""
    value: np.ndarray
    """int64[changes], the value from each of these cycles until the next, every event of the cycle applied."""

    def at(self, cycles: np.ndarray) -> np.ndarray:
        """Return the value at each cycle: int64[cycles]; nothing is interpolated."""
        return np.concatenate([[self.before], self.value])[np.searchsorted(self.cycle, cycles, side="right")]


def added_up(before: int, *changes: tuple[np.ndarray, np.ndarray]) -> Steps:
    """Add up a quantity from what it begins with and from its changes: pairs of cycles and amounts, in any order.

    >>> added_up(0, (np.array([5, 2]), np.array([1, 1])), (np.array([5]), np.array([-1])))
    Steps(before=0, cycle=array([2, 5]), value=array([1, 1]))
    """
    cycles = np.concatenate([cycle for cycle, _ in changes])
    order = np.argsort(cycles, kind="stable")
    ordered = cycles[order]
    values = before + np.concatenate([change for _, change in changes])[order].cumsum()
    last = np.flatnonzero(np.diff(ordered, append=np.iinfo(np.int64).max))
    return Steps(before, ordered[last], values[last])
