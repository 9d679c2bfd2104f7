"""A sequence that covers the space evenly."""

from __future__ import annotations

from typing import TYPE_CHECKING

from workbench.levers import lever
from workbench.studies.tuning.samplers.sampler import Sampler
from workbench.studies.tuning.space import Node

if TYPE_CHECKING:
    from optuna.samplers import BaseSampler


class Qmc(Sampler):
    """A scrambled Sobol sequence: covers the ranges more evenly than chance; choices are drawn at random."""

    together: int = lever(32, least=1, most=1024, unit="trials", description="trials proposed at once")

    def at_once(self) -> int:
        return self.together

    def make(self, space: Node) -> BaseSampler:
        from optuna.samplers import QMCSampler

        return QMCSampler(scramble=True, seed=self.seed, warn_independent_sampling=False)
