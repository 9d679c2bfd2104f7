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

import numpy as np

from workbench.streams import Streams
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
INERT, INERT_DRAWS = "(inert lever)", 40
"""A lever that changes nothing, drawn beside the others so many times: its share is noise, and so is any that is no
larger."""
FLOOR = 0.95
"""How often none of the levers is above the inert one's share in the table, where none matters: over all of them."""


def lever_shares(study: Study, trials: Sequence[Trial]) -> dict[str, dict[str, float]]:
    """Compute, by goal, the share of each lever, the largest first, and of `INERT` the share that noise alone reaches.

    The shares of the levers of a goal add up to 1. The goals are the objectives by name, and with several of them
    `front`: coming near the front at all. Trials that break a constraint are left out. Empty where fewer than `FEWEST`
    trials are done.
    """
    done = [trial for trial in trials if trial.values is not None and trial.feasible(study.constraints)]
    if len(done) < FEWEST:
        return {}
    with quiet(), warnings.catch_warnings():
        warnings.simplefilter("ignore")  # that low values are explained: they are costs
        goals: dict[str, Any] = {FRONT: None} if len(study.objectives) > 1 else {}
        goals |= {objective.measure.name: _value(k) for k, objective in enumerate(study.objectives)}
        asker, beside = _study_of(study, done), [_study_of(study, done, draw) for draw in range(INERT_DRAWS)]
        return {name: _with_floor(asker, beside, target) for name, target in goals.items()}


def _with_floor(asker: optuna.Study, beside: Sequence[optuna.Study], target: Any) -> dict[str, float]:
    shares = _shares(asker, target)
    inert = [_among_the_others(_shares(one, target).get(INERT, 0.0)) for one in beside]
    return {**shares, INERT: float(np.quantile(inert, FLOOR ** (1 / max(len(shares), 1))))}


def _among_the_others(share: float) -> float:
    """Return the inert lever's share of what the others have together: theirs in the table add up to 1 without it."""
    return min(1.0, share / (1 - share)) if share < 1 else 1.0


def _value(place: int) -> Callable[[optuna.trial.FrozenTrial], float]:
    return lambda trial: float(trial.values[place])


def _shares(asker: optuna.Study, target: Callable[[optuna.trial.FrozenTrial], float] | None) -> dict[str, float]:
    from optuna.importance import PedAnovaImportanceEvaluator, get_param_importances

    importances = get_param_importances(asker, evaluator=PedAnovaImportanceEvaluator(), target=target)
    return dict(sorted(importances.items(), key=lambda item: (-item[1], item[0])))


def _study_of(study: Study, trials: Sequence[Trial], inert: int | None = None) -> optuna.Study:
    """Return the trials with the levers that mattered to each, and costs for values; perhaps with an inert lever
    beside."""
    import optuna

    beside = [None] * len(trials) if inert is None else Streams(inert)["inert lever"].random(len(trials)).tolist()
    axes = {dimension.path: dimension for dimension in dimensions(study.space)}
    asker = optuna.create_study(directions=["minimize"] * len(study.objectives))
    for trial, drawn in zip(trials, beside, strict=True):
        chosen = trial.proposal.chosen
        params = {path: axes[path].parameter(value) for path, value in chosen.items()}
        ranges: dict[str, Any] = {path: axes[path].distribution() for path in chosen}
        if drawn is not None:
            params[INERT], ranges[INERT] = drawn, optuna.distributions.FloatDistribution(0.0, 1.0)
        asker.add_trial(
            optuna.trial.create_trial(
                params=params,
                distributions=ranges,
                values=list(costs_of(trial.values or (), study.objectives)),
            )
        )
    return asker
