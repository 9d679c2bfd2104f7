"""Morris: walks through the ranges that move one lever at a time, from which elementary effects are read."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

import numpy as np

from workbench.errors import missing_extra, wrong_value
from workbench.experiments.designs.axis import Axis
from workbench.experiments.designs.design import MOST_SEED, Design
from workbench.levers import lever
from workbench.streams import Streams


class Morris(Design):
    """Random walks on a lattice of levels: each starts anywhere and moves every lever once, in random order.

    That makes trajectories x (axes + 1) rows. A move is levels / (2 (levels - 1)) of the way from one end of a range to
    the other; more trajectories begin with the fewer ones.

    References
    ----------
    [1] Morris (1991), Technometrics 33; drawn with `SALib.sample.morris`.
    """

    by_share: ClassVar[bool] = True
    brief = ("trajectories",)
    trajectories: int = lever(20, least=2, most=100_000, scale="log", unit="walks", description="how many walks")
    levels: int = lever(4, least=2, most=64, step=2, unit="levels", description="levels of the lattice; an even number")
    seed: int = lever(0, least=0, most=MOST_SEED, description="of the random numbers")

    def check(self) -> None:
        if self.levels % 2:
            raise wrong_value("", f"{self.name}.levels", "must be even", self.levels, self.levels - 1)

    def ranks(self, axes: Sequence[Axis]) -> np.ndarray:
        try:
            from SALib.sample import morris
        except ImportError:
            raise missing_extra("the design morris", "sensitivity") from None
        bits = np.random.default_rng(Streams(self.seed).integer("design morris"))
        samples = morris.sample(problem_of(len(axes)), self.trajectories, num_levels=self.levels, seed=bits)
        return np.clip(samples, 0.0, 1.0)


def problem_of(axes: int) -> dict[str, object]:
    """Return what SALib calls a problem: so many inputs, each from 0 to 1."""
    return {"num_vars": axes, "names": [str(k) for k in range(axes)], "bounds": [[0.0, 1.0]] * axes}
