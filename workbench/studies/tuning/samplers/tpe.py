"""TPE: a model of what good trials have in common."""

from __future__ import annotations

from typing import TYPE_CHECKING

from workbench.levers import lever
from workbench.studies.tuning.samplers.sampler import Sampler

if TYPE_CHECKING:
    from optuna.samplers import BaseSampler


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
