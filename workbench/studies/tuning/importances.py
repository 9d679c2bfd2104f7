"""Which levers matter? The share of each in how good trials differ from all trials (PED-ANOVA).

A lever of a policy counts only in the trials that chose this policy. What is compared is where the best tenth of the
trials lies along a lever with where all of them lie, so a sampler that hardly left the good region says little: the
importances are those in this study, not in the whole space.

References
----------
Watanabe, Bansal, Hutter, "PED-ANOVA: Efficiently Quantifying Hyperparameter Importance in Arbitrary Subspaces", IJCAI
2023; as implemented in Optuna, conditional levers included.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from workbench.studies.tuning.objectives import costs_of
from workbench.studies.tuning.quiet import quiet
from workbench.studies.tuning.space import dimensions
from workbench.studies.tuning.study import Study
from workbench.studies.tuning.trial import Trial

if TYPE_CHECKING:
    import optuna

FEWEST = 20
"""Trials; the best tenth of fewer is a single one."""
FRONT = "front"


def lever_shares(study: Study, trials: Sequence[Trial]) -> dict[str, dict[str, float]]:
    """By goal, the share of each lever, the largest first; the shares of a goal add up to 1.

    The goals are the objectives by name, and with several of them `front`: coming near the front at all. Empty where
    fewer than `FEWEST` trials are done.
    """
    done = [trial for trial in trials if trial.values is not None]
    if len(done) < FEWEST:
        return {}
    with quiet(), warnings.catch_warnings():
        warnings.simplefilter("ignore")  # that low values are explained: they are costs
        asker = _study_of(study, done)
        goals = {FRONT: None} if len(study.objectives) > 1 else {}
        shares: dict[str, Any] = {name: _shares(asker, target) for name, target in goals.items()}
        for k, objective in enumerate(study.objectives):
            shares[objective.measure.name] = _shares(asker, _value(k))
    return shares


def _value(place: int) -> Callable[[optuna.trial.FrozenTrial], float]:
    return lambda trial: float(trial.values[place])


def _shares(asker: optuna.Study, target: Callable[[optuna.trial.FrozenTrial], float] | None) -> dict[str, float]:
    from optuna.importance import PedAnovaImportanceEvaluator, get_param_importances

    found = get_param_importances(asker, evaluator=PedAnovaImportanceEvaluator(), target=target)
    return dict(sorted(found.items(), key=lambda item: (-item[1], item[0])))


def _study_of(study: Study, trials: Sequence[Trial]) -> optuna.Study:
    """The trials with the levers that mattered to each, and costs for values."""
    import optuna

    axes = {dimension.path: dimension for dimension in dimensions(study.space)}
    asker = optuna.create_study(directions=["minimize"] * len(study.objectives))
    for trial in trials:
        chosen = trial.proposal.chosen
        asker.add_trial(
            optuna.trial.create_trial(
                params={path: axes[path].parameter(value) for path, value in chosen.items()},
                distributions={path: axes[path].distribution() for path in chosen},
                values=list(costs_of(trial.values or (), study.objectives)),
            )
        )
    return asker
