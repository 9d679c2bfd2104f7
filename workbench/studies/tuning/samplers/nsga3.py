"""NSGA-III: evolution towards many objectives."""

from __future__ import annotations

from typing import TYPE_CHECKING

from workbench.levers import lever
from workbench.studies.tuning.samplers.sampler import Sampler
from workbench.studies.tuning.space import Node

if TYPE_CHECKING:
    from optuna.samplers import BaseSampler


class Nsga3(Sampler):
    """NSGA-III: as NSGA-II, but kept apart by directions in the space of the objectives, for three of them or more."""

    population: int = lever(40, least=2, most=10_000, unit="trials", description="trials a generation")
    crossover_probability: float = lever(0.9, least=0, most=1, description="that a child has two parents")
    swapping_probability: float = lever(
        0.5, least=0, most=1, description="that a child takes a lever from the other parent"
    )
    divisions: int = lever(3, least=1, most=64, description="parts of each objective between which the directions lie")

    def at_once(self) -> int:
        return self.population

    def make(self, space: Node) -> BaseSampler:
        from optuna.samplers import NSGAIIISampler

        return NSGAIIISampler(
            population_size=self.population,
            crossover_prob=self.crossover_probability,
            swapping_prob=self.swapping_probability,
            dividing_parameter=self.divisions,
            seed=self.seed,
        )
