"""TPE: a model of what good trials have in common."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from workbench.levers import lever
from workbench.studies.tuning.samplers.sampler import Sampler
from workbench.studies.tuning.space import Node, groups

if TYPE_CHECKING:
    from optuna.samplers import BaseSampler


class Tpe(Sampler):
    """Tree-structured Parzen estimator: model what good trials have in common, propose more of it.

    Where several are proposed at once, those that are not told yet count as bad, so that they do not all lie together.
    """

    conditional = True

    startup: int = lever(10, least=1, most=10_000, unit="trials", description="random trials before there is a model")
    candidates: int = lever(24, least=1, most=10_000, description="candidates of which the most promising is proposed")
    multivariate: bool = lever(True, description="whether levers are modelled together")
    grouped: bool = lever(
        True, description="whether the levers of a policy are modelled together too, where multivariate"
    )
    together: int = lever(1, least=1, most=1024, unit="trials", description="trials proposed at once")

    def at_once(self) -> int:
        return self.together

    def make(self, space: Node) -> BaseSampler:
        from optuna.samplers import TPESampler

        from workbench.studies.tuning.samplers.tpe_by_policy import TpeByPolicy

        settings: dict[str, Any] = {
            "n_startup_trials": self.startup,
            "n_ei_candidates": self.candidates,
            "constant_liar": self.together > 1,
            "seed": self.seed,
        }
        if not (self.multivariate and self.grouped):
            return TPESampler(multivariate=self.multivariate, **settings)
        _, *chosen = groups(space)
        return TpeByPolicy([{one.path: one.distribution() for one in group} for group in chosen], **settings)
