"""TPE by policy, a subclass of Optuna's TPE.

It stands apart because Optuna is imported with it, and only when a study runs.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from optuna.distributions import BaseDistribution
from optuna.samplers import TPESampler
from optuna.study import Study
from optuna.trial import FrozenTrial


class TpeByPolicy(TPESampler):
    """Optuna's TPE, but the levers of the policy that was chosen are proposed together, from one model.

    Optuna's own `group` models the levers of every policy before it knows which are chosen. Without it each lever is
    modeled alone. Either way a trial costs a model for each. A model is most of what a proposal costs.
    """

    def __init__(self, groups: Iterable[Mapping[str, BaseDistribution]], **settings: Any) -> None:
        """Take as `groups` the parameters of each choice, those that matter whenever it is chosen."""
        super().__init__(multivariate=True, **settings)
        self._groups = {name: dict(group) for group in groups for name in group}
        self._number, self._drawn = -1, dict[str, Any]()

    def sample_independent(
        self, study: Study, trial: FrozenTrial, param_name: str, param_distribution: BaseDistribution
    ) -> Any:
        """Return the parameter as it was drawn with the others of its group; alone while there is no model yet."""
        if trial.number != self._number:
            self._number, self._drawn = trial.number, {}
        if param_name not in self._drawn and param_name in self._groups:
            self._drawn |= self.sample_relative(study, trial, self._groups[param_name])
        if param_name in self._drawn:
            return self._drawn[param_name]
        return super().sample_independent(study, trial, param_name, param_distribution)
