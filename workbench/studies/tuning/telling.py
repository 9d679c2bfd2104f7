"""What a sampler is told of a trial, and how the same is read from what is kept of it.

What the workbench knows beyond Optuna's own fields stands in the trial's user attributes, where a dashboard shows it:
the point's id, the error, the means that constraints bound, and which trial made it hopeless.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from workbench.errors import StoreError
from workbench.studies.tuning.evaluate import Outcome
from workbench.studies.tuning.study import Study

if TYPE_CHECKING:
    import optuna

POINT, ERROR, BEATEN_BY = "point", "error", "beaten_by"


def tell(
    study: Study, asker: optuna.Study, trial: optuna.trial.Trial, point: str, outcome: Outcome
) -> optuna.trial.FrozenTrial:
    """Tell a trial's outcome; returns the trial as it is to be kept."""
    from optuna.trial import TrialState

    trial.set_user_attr(POINT, point)
    trial.set_user_attr(ERROR, outcome.error)
    if outcome.beaten_by is not None:
        trial.set_user_attr(BEATEN_BY, outcome.beaten_by)
        return asker.tell(trial, state=TrialState.PRUNED)
    if outcome.values is None:
        return asker.tell(trial, state=TrialState.FAIL)
    for constraint, value in zip(study.constraints, outcome.limits, strict=True):
        trial.set_user_attr(constraint.measure.name, value)
        for bound, broken in constraint.broken_by(value).items():
            trial.set_constraint(bound, broken)
    return asker.tell(trial, list(outcome.values))


def repeat(
    study: Study, asker: optuna.Study, trial: optuna.trial.Trial, kept: optuna.trial.FrozenTrial
) -> optuna.trial.FrozenTrial:
    """Tell a trial what is kept of it.

    Raises
    ------
    StoreError
        What is kept is another trial than the sampler proposes.
    """
    if trial.params != kept.params:
        cure = "choose another folder; its runs can be copied"
        raise StoreError(f"trial {trial.number} of the study is not what the sampler proposes now; {cure}.")
    return tell(study, asker, trial, *outcome_of(study, kept))


def outcome_of(study: Study, kept: optuna.trial.FrozenTrial) -> tuple[str, Outcome]:
    """Return the id of a kept trial's point, and what it was told.

    Raises
    ------
    StoreError
        It was not told by the workbench.
    """
    attrs = kept.user_attrs
    if POINT not in attrs or not kept.state.is_finished():
        cure = "it holds trials of somebody else; choose another"
        raise StoreError(f"trial {kept.number} of the study was not told by the workbench; {cure}.")
    if kept.values is None:
        return attrs[POINT], Outcome(None, attrs[ERROR], beaten_by=attrs.get(BEATEN_BY))
    limits = tuple(attrs[one.measure.name] for one in study.constraints)
    return attrs[POINT], Outcome(tuple(kept.values), attrs[ERROR], limits)
