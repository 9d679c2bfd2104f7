"""CMA-ES: a cloud of numbers that learns its own shape."""

from __future__ import annotations

import importlib.util
from collections.abc import Sequence
from typing import TYPE_CHECKING, ClassVar

from workbench.errors import InputError, at, missing_extra
from workbench.levers import lever
from workbench.studies.tuning.dimension import Dimension
from workbench.studies.tuning.samplers.sampler import Sampler
from workbench.studies.tuning.space import Node

if TYPE_CHECKING:
    from optuna.samplers import BaseSampler


class Cmaes(Sampler):
    """CMA-ES: numbers are drawn from a normal distribution that adapts to what was good; choices are drawn at random.

    It serves one objective and needs a numeric lever. The cloud starts in the middle of the ranges.
    """

    most_objectives: ClassVar[int | None] = 1
    constrained: ClassVar[bool] = False

    startup: int = lever(1, least=1, most=10_000, unit="trials", description="random trials before the cloud moves")
    together: int = lever(8, least=1, most=1024, unit="trials", description="trials proposed at once")

    def at_once(self) -> int:
        return self.together

    def check_study(self, objectives: int, constraints: int, axes: Sequence[Dimension], where: str = "") -> None:
        super().check_study(objectives, constraints, axes, where)
        if not any(axis.kind != "category" and axis.least < axis.most for axis in axes):
            cure = "tune a numeric lever, or choose another sampler"
            raise InputError(at(where, f"sampler cmaes moves numbers, and only choices are tuned; {cure}."))

    def make(self, space: Node) -> BaseSampler:
        from optuna.samplers import CmaEsSampler

        if importlib.util.find_spec("cmaes") is None:
            raise missing_extra("the sampler cmaes", "tuning")
        return CmaEsSampler(n_startup_trials=self.startup, seed=self.seed, warn_independent_sampling=False)
