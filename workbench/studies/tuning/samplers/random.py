"""At random: the control."""

from __future__ import annotations

from typing import TYPE_CHECKING

from workbench.levers import lever
from workbench.studies.tuning.samplers.sampler import Sampler
from workbench.studies.tuning.space import Node

if TYPE_CHECKING:
    from optuna.samplers import BaseSampler


class Random(Sampler):
    """Every lever at random: the control that any other sampler must beat."""

    together: int = lever(32, least=1, most=1024, unit="trials", description="trials proposed at once")

    def at_once(self) -> int:
        return self.together

    def make(self, space: Node) -> BaseSampler:
        from optuna.samplers import RandomSampler

        return RandomSampler(seed=self.seed)
