"""Latin hypercube: every range is cut into as many equal parts as there are points, and each part has one point."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

import numpy as np

from workbench.experiments.designs.axis import Axis
from workbench.experiments.designs.design import MOST_SEED, Design
from workbench.levers import lever
from workbench.streams import Streams


class LatinHypercube(Design):
    """One point in each of the equal parts of every range, the parts of different ranges joined at random.

    Every single range is covered evenly, however many there are. A design of more points is another design: nothing of
    the smaller one is in it.

    References
    ----------
    [1] McKay, Beckman and Conover (1979), Technometrics 21; drawn with `scipy.stats.qmc.LatinHypercube`.
    """

    brief = ("points",)
    points: int = lever(
        64, least=1, most=100_000, scale="log", unit="points", description="how many, and how many parts"
    )
    seed: int = lever(0, least=0, most=MOST_SEED, description="of the random numbers")
    within: Literal["random", "centre"] = lever("random", description="where in its part a point lies")
    improved: Literal["no", "random_cd"] = lever(
        "no", description="whether random exchanges lower the centred discrepancy, that is, spread the points better"
    )

    def ranks(self, axes: Sequence[Axis]) -> np.ndarray:
        from scipy.stats import qmc

        drawn = qmc.LatinHypercube(
            len(axes),
            scramble=self.within == "random",
            optimization=None if self.improved == "no" or self.points < 2 else "random-cd",
            rng=Streams(self.seed).integer("design latin_hypercube"),
        )
        return np.asarray(drawn.random(self.points))
