"""Sobol: a sequence that fills the ranges ever more finely, and evenly at every power of two."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

import numpy as np

from workbench.experiments.designs.axis import Axis
from workbench.experiments.designs.design import MOST_POINTS, MOST_SEED, Design
from workbench.levers import lever
from workbench.streams import Streams

Scrambling = Literal["matrix_and_shift", "none"]


class Sobol(Design):
    """The first points of Sobol's sequence, as many as a power of two; the first of an unscrambled one is the low end.

    Twice the points begin with the points of the half, so a design that is made larger runs only what is new.

    References
    ----------
    [1] Sobol (1967); Joe and Kuo (2008), the direction numbers; Matousek (1998), scrambling by a random lower
        triangular matrix and a digital shift; Owen (2020), why the first point is kept. Drawn with
        `scipy.stats.qmc.Sobol`.
    """

    brief = ("points",)
    points: int = lever(64, least=1, most=MOST_POINTS, scale="power_of_two", unit="points", description="how many")
    seed: int = lever(0, least=0, most=MOST_SEED, description="of the scrambling")
    scrambling: Scrambling = lever(
        "matrix_and_shift",
        description="how the sequence is made random: by a linear matrix and a digital shift, or not",
    )

    def ranks(self, axes: Sequence[Axis]) -> np.ndarray:
        return sobol_points(len(axes), self.points, self.scrambling, self.seed, "design sobol")


def sobol_points(axes: int, points: int, scrambling: Scrambling, seed: int, stream: str) -> np.ndarray:
    """Return the first points of the sequence: float64[points, axes], from 0 to below 1.

    >>> sobol_points(2, 4, "none", 0, "").tolist()
    [[0.0, 0.0], [0.5, 0.5], [0.75, 0.25], [0.25, 0.75]]
    """
    from scipy.stats import qmc

    sequence = qmc.Sobol(axes, scramble=scrambling != "none", rng=Streams(seed).integer(stream))
    return np.asarray(sequence.random(points))
