"""Who proposes the next trial: a sampler is always named, and every argument of it is written down.

Unnamed samplers have changed between versions of Optuna, and with them the results (optuna/optuna#6766, #6746).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from workbench.levers import Family, lever

if TYPE_CHECKING:
    from optuna.samplers import BaseSampler

MOST_SEED = (1 << 32) - 1


class Sampler(Family, noun="sampler", example="{nsga2: {population: 40, seed: 1}}"):
    """The base of every sampler.

    >>> Sampler.read({"nsga2": {"population": 20}}).plain()
    {'seed': 0, 'population': 20, 'crossover_probability': 0.9, 'swapping_probability': 0.5}
    """

    conditional: ClassVar[bool] = False
    """Whether it is asked only about the levers that matter. One that is not is asked about all levers of all policies:
    what does not matter for the policy of a trial is carried along like a gene without effect, because these samplers
    draw a lever at random, without learning, unless every trial has it."""

    seed: int = lever(0, least=0, most=MOST_SEED, says="of the sampler's own random numbers")

    def at_once(self) -> int:
        """How many trials are proposed before the first of them is told: fixed, so that the number of workers does not
        change what is proposed."""
        return 1

    def make(self) -> BaseSampler:
        """The sampler of Optuna; its notes on experimental parts are for `quiet` to keep."""
        raise NotImplementedError


class Nsga2(Sampler):
    """NSGA-II: a population evolves towards the front; a generation is proposed at once."""

    population: int = lever(40, least=2, most=10_000, unit="trials", says="trials a generation")
    crossover_probability: float = lever(0.9, least=0, most=1, says="that a child has two parents")
    swapping_probability: float = lever(0.5, least=0, most=1, says="that a child takes a lever from the other parent")

    def at_once(self) -> int:
        return self.population

    def make(self) -> BaseSampler:
        from optuna.samplers import NSGAIISampler

        return NSGAIISampler(
            population_size=self.population,
            crossover_prob=self.crossover_probability,
            swapping_prob=self.swapping_probability,
            seed=self.seed,
        )


class Tpe(Sampler):
    """Tree-structured Parzen estimator: model what good trials have in common, propose more of it."""

    conditional = True
    startup: int = lever(10, least=1, most=10_000, unit="trials", says="random trials before there is a model")
    candidates: int = lever(24, least=1, most=10_000, says="candidates of which the most promising is proposed")
    multivariate: bool = lever(True, says="whether levers are modelled together")
    grouped: bool = lever(False, says="whether the levers of each policy are modelled together; twice as slow")
    together: int = lever(1, least=1, most=1024, unit="trials", says="trials proposed at once")

    def at_once(self) -> int:
        return self.together

    def make(self) -> BaseSampler:
        from optuna.samplers import TPESampler

        return TPESampler(
            n_startup_trials=self.startup,
            n_ei_candidates=self.candidates,
            multivariate=self.multivariate,
            group=self.grouped and self.multivariate,
            seed=self.seed,
        )


class Random(Sampler):
    """Every lever at random: the control that any other sampler must beat."""

    together: int = lever(32, least=1, most=1024, unit="trials", says="trials proposed at once")

    def at_once(self) -> int:
        return self.together

    def make(self) -> BaseSampler:
        from optuna.samplers import RandomSampler

        return RandomSampler(seed=self.seed)


class Qmc(Sampler):
    """A scrambled Sobol sequence: covers the ranges more evenly than chance; choices are drawn at random."""

    together: int = lever(32, least=1, most=1024, unit="trials", says="trials proposed at once")

    def at_once(self) -> int:
        return self.together

    def make(self) -> BaseSampler:
        from optuna.samplers import QMCSampler

        return QMCSampler(scramble=True, seed=self.seed, warn_independent_sampling=False)
