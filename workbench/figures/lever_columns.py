"""The table behind lines with intervals over the values of a lever: one row a line and value."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Protocol, TypeVar

import numpy as np

from workbench.figures.means import Means
from workbench.figures.recipe import Column


class LeverLine(Protocol):
    """One line: what a measure comes to at each value of a lever."""

    @property
    def panel(self) -> int:
        """Return the place of the line's panel."""

    @property
    def name(self) -> str:
        """Return what the legend calls it."""

    @property
    def x(self) -> np.ndarray:
        """Return the values of the lever, increasing: float64[values]."""

    @property
    def n(self) -> np.ndarray:
        """Return the number of seeds: int64[values]."""


Drawn = TypeVar("Drawn", bound=LeverLine)


def lever_columns(
    lever: str, titles: Sequence[str], lines: Sequence[Drawn], text: str, means: Callable[[Drawn], Means]
) -> dict[str, Column]:
    """Return the columns of such a table: setting, line, the lever, seeds, what is shown, and its interval.

    Parameters
    ----------
    lever, shown : str
        The names of the lever's column and of the column of what is shown.
    titles : sequence of str
        Of the panels.
    means : function
        The values that a line shows, with their intervals.
    """
    sizes = [len(line.x) for line in lines]
    intervals = [means(line) for line in lines]
    return {
        "setting": np.repeat([titles[line.panel] for line in lines], sizes),
        "line": np.repeat([line.name for line in lines], sizes),
        lever: np.concatenate([line.x for line in lines]),
        "seeds": np.concatenate([line.n for line in lines]),
        text: np.concatenate([one.mean for one in intervals]),
        "low": np.concatenate([one.low for one in intervals]),
        "high": np.concatenate([one.high for one in intervals]),
    }
