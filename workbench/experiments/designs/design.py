"""How are the ranges of a sweep drawn together? A design answers with ranks: one row a point, one column a range."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar

import numpy as np

from workbench.experiments.designs.axis import Axis
from workbench.levers import Family

MOST_POINTS = 1 << 20
MOST_SEED = (1 << 63) - 1


class Design(Family, noun="design", example="{latin_hypercube: {points: 64, seed: 1}}"):
    """The base of every design.

    One's own, in a file or a notebook cell, is a class with `ranks`:

    >>> from workbench.levers import lever
    >>> class Diagonal(Design):
    ...     points: int = lever(4, least=2, most=100, description="how many")
    ...     def ranks(self, axes):
    ...         return np.repeat(np.linspace(0, 1, self.points)[:, None], len(axes), axis=1)
    >>> Design.read({"diagonal": {"points": 3}}).rows([Axis("k", "integer", 0, 9), Axis("x", "number", 0, 1)])
    [(0, 0.0), (5, 0.5), (9, 1.0)]
    >>> del Design.members["diagonal"]
    """

    by_share: ClassVar[bool] = False
    """Whether ranks are shares of the way from one end to the other, so that 0 and 1 are the ends themselves."""

    def ranks(self, axes: Sequence[Axis]) -> np.ndarray:
        """Return where each point lies on each range: float64[rows, axes], from 0 to 1, the same whenever it is
        asked."""
        raise NotImplementedError

    def rows(self, axes: Sequence[Axis]) -> list[tuple[Any, ...]]:
        """Return the values of each point, one a range; points may be equal where ranges have few values."""
        find = [axis.at_share if self.by_share else axis.at_rank for axis in axes]
        return [tuple(at(rank) for at, rank in zip(find, row)) for row in self.ranks(axes).tolist()]
