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
        """The place of the line's panel."""

    @property
    def name(self) -> str:
        """What the legend calls it."""

    @property
    def x(self) -> np.ndarray:
        """float64[values], the values of the lever, increasing."""

    @property
    def n(self) -> np.ndarray:
        """int64[values], seeds."""


Drawn = TypeVar("Drawn", bound=LeverLine)


def lever_columns(
    lever: str, titles: Sequence[str], lines: Sequence[Drawn], shown: str, means: Callable[[Drawn], Means]
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
    found = [means(line) for line in lines]
    return {
        "setting": np.repeat([titles[line.panel] for line in lines], sizes),
        "line": np.repeat([line.name for line in lines], sizes),
        lever: np.concatenate([line.x for line in lines]),
        "seeds": np.concatenate([line.n for line in lines]),
        shown: np.concatenate([one.mean for one in found]),
        "low": np.concatenate([one.low for one in found]),
        "high": np.concatenate([one.high for one in found]),
    }
