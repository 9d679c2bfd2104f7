"""The importance of each lever in how good the trials of a study are (PED-ANOVA), and what noise alone reaches.

Importances are the share of each lever in how good trials differ from all trials. A lever of a policy counts only in
the trials that chose this policy. What is compared is where the best tenth of the trials lies along a lever with where
all of them lie, so a sampler that hardly left the good region says little: the importances are those in this study, not
in the whole space.

References
----------
Watanabe, Bansal, Hutter, "PED-ANOVA: Efficiently Quantifying Hyperparameter Importance in Arbitrary Subspaces", IJCAI
2023; as implemented in Optuna, conditional levers included.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from workbench.streams import Streams
from workbench.tuning.objectives import costs_of
from workbench.tuning.samplers import quiet
from workbench.tuning.space import dimensions
from workbench.tuning.study import Study, Trial

if TYPE_CHECKING:
    import optuna


FEWEST_TRIALS = 20
"""Trials; the best tenth of fewer is a single one."""
FRONT = "front"
INERT, SHUFFLES = "(inert lever)", 99
"""The row of what levers reach that change nothing: how often outcomes are dealt to other trials to know it."""
FLOOR = 95
"""Of so many shuffles, in order, the one whose largest share is the floor: where no lever matters, none is above it in
95 of 100 studies (with 99 shuffles that is exact, for then the trials as they are are one of 100 alike)."""


def lever_shares(study: Study, trials: Sequence[Trial]) -> dict[str, dict[str, float]]:
    """Compute, by goal, the share of each lever, the largest first, and of `INERT` the share that noise alone reaches.

    The shares of the levers of a goal add up to 1. A lever's share before it is divided by all of them does not depend
    on the others, so one that matters does not lift or lower the floor for the rest. The goals are the objectives by
    name, and with several of them `front`: coming near the front at all. Trials that break a constraint are left out.
    Empty where fewer than `FEWEST` trials are done.
    """
    done = [trial for trial in trials if trial.values is not None and trial.feasible(study.constraints)]
    if len(done) < FEWEST_TRIALS:
        return {}
    with quiet(), warnings.catch_warnings():
        warnings.simplefilter("ignore")  # that low values are explained: they are costs
        goals: dict[str, Any] = {FRONT: None} if len(study.objectives) > 1 else {}
        goals |= {objective.measure.name: _value(k) for k, objective in enumerate(study.objectives)}
        optuna_study, shuffled = (
            _optuna_study(study, done),
            [_optuna_study(study, done, draw) for draw in range(SHUFFLES)],
        )
        return {name: _with_floor(optuna_study, shuffled, target) for name, target in goals.items()}


def _with_floor(optuna_study: optuna.Study, shuffled: Sequence[optuna.Study], target: Any) -> dict[str, float]:
    parts = _parts(optuna_study, target)
    total = sum(parts.values())
    by_chance = sorted(max(_parts(one, target).values(), default=0.0) for one in shuffled)
    floor = by_chance[min(FLOOR * (len(by_chance) + 1) // 100, len(by_chance)) - 1]
    if total == 0:
        return {**dict.fromkeys(parts, 1 / max(len(parts), 1)), INERT: 1.0}
    return {**{path: part / total for path, part in parts.items()}, INERT: min(1.0, floor / total)}


def _value(place: int) -> Callable[[optuna.trial.FrozenTrial], float]:
    return lambda trial: float(trial.values[place])


def _parts(optuna_study: optuna.Study, target: Callable[[optuna.trial.FrozenTrial], float] | None) -> dict[str, float]:
    """Return the distance along each lever of the best trials from all trials, the farthest first."""
    from optuna.importance import PedAnovaImportanceEvaluator, get_param_importances

    evaluator = PedAnovaImportanceEvaluator()
    parts = get_param_importances(optuna_study, evaluator=evaluator, target=target, normalize=False)
    return dict(sorted(parts.items(), key=lambda item: (-item[1], item[0])))


def _optuna_study(study: Study, trials: Sequence[Trial], shuffle: int | None = None) -> optuna.Study:
    """Return the trials with the levers that mattered to each, and costs for values; perhaps those of other trials."""
    import optuna

    outcomes = np.arange(len(trials)) if shuffle is None else Streams(shuffle)["outcomes"].permutation(len(trials))
    axes = {dimension.path: dimension for dimension in dimensions(study.space)}
    optuna_study = optuna.create_study(directions=["minimize"] * len(study.objectives))
    for trial, of in zip(trials, outcomes.tolist(), strict=True):
        chosen = trial.proposal.chosen
        optuna_study.add_trial(
            optuna.trial.create_trial(
                params={path: axes[path].parameter(value) for path, value in chosen.items()},
                distributions={path: axes[path].distribution() for path in chosen},
                values=list(costs_of(trials[of].values or (), study.objectives)),
            )
        )
    return optuna_study
