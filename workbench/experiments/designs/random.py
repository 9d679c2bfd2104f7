"""Random: every point by itself, anywhere in the ranges."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from workbench.experiments.designs.axis import Axis
from workbench.experiments.designs.design import MOST_POINTS, MOST_SEED, Design
from workbench.levers import lever
from workbench.streams import Streams


class Random(Design):
    """Independent points, uniform over the ranges.

    Each range has a random stream of its own, named by its path: a further range leaves the others' values as they are,
    and more points begin with the fewer ones, so a design that is made larger runs only what is new.
    """

    brief = ("points",)
    points: int = lever(64, least=1, most=MOST_POINTS, scale="log", unit="points", description="how many are drawn")
    seed: int = lever(0, least=0, most=MOST_SEED, description="of the random streams")

    def ranks(self, axes: Sequence[Axis]) -> np.ndarray:
        streams = Streams(self.seed)
        names = [
            f"design {axis.path} {sum(other.path == axis.path for other in axes[:k])}" for k, axis in enumerate(axes)
        ]
        return np.stack([streams.uniforms(name, self.points) for name in names], axis=1)
