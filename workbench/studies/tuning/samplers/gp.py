"""GP: a model with its own doubts, for few and costly trials."""

from __future__ import annotations

import importlib.util
from typing import TYPE_CHECKING, ClassVar

from workbench.errors import WorkbenchError
from workbench.levers import lever
from workbench.studies.tuning.samplers.sampler import Sampler
from workbench.studies.tuning.space import Node

if TYPE_CHECKING:
    from optuna.samplers import BaseSampler


class Gp(Sampler):
    """Bayesian optimisation with Gaussian processes: fewest trials, by far the most time on each proposal.

    It needs PyTorch. Its models are not kept with the study: a study that goes on proposes all its trials again.
    """

    remembered: ClassVar[bool] = False

    startup: int = lever(10, least=1, most=10_000, unit="trials", description="random trials before there is a model")

    def make(self, space: Node) -> BaseSampler:
        from optuna.samplers import GPSampler

        if importlib.util.find_spec("torch") is None:
            raise WorkbenchError("the sampler gp needs PyTorch. Install it with: pip install torch.")
        return GPSampler(seed=self.seed, n_startup_trials=self.startup, warn_independent_sampling=False)
