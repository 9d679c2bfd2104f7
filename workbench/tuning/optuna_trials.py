"""A trial as Optuna has it: the levers that it suggests, and its outcome in user attributes and constraints.

The workbench's own facts stand in the user attributes, where a dashboard shows them. They are the point's id, the
error, the means that constraints bound, and the trial that made it hopeless.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from workbench.errors import StoreError, shown
from workbench.tuning.dimension import Dimension
from workbench.tuning.space import dimensions
from workbench.tuning.study import Proposal, Study, Trial, proposed

if TYPE_CHECKING:
    import optuna


POINT, ERROR, BEATEN_BY = "point", "error", "beaten_by"
STATES = {"done": "COMPLETE", "failed": "FAIL", "pruned": "PRUNED"}
"""Optuna's state of a trial, by the status of its outcome."""


def carried_levers(study: Study, sampler: optuna.samplers.BaseSampler) -> list[Dimension]:
    """Return the levers about which a sampler is asked in every trial, also where they do not matter.

    TPE is asked only about levers that matter. Most samplers draw a lever at random, without learning, unless every
    trial has it. For them a lever that does not matter for the policy of a trial is like a gene without effect.
    """
    from optuna.samplers import BruteForceSampler, TPESampler

    return [] if isinstance(sampler, (TPESampler, BruteForceSampler)) else list(dimensions(study.space))


def suggest(study: Study, trial: optuna.trial.BaseTrial, carried: Iterable[Dimension] = ()) -> Proposal:
    """Return the setting that a trial suggests: first the carried levers are asked, then all that matter."""
    for dimension in carried:
        dimension.ask(trial)
    return proposed(study, lambda dimension: dimension.ask(trial))


def record(study: Study, trial: optuna.trial.BaseTrial, outcome: Trial) -> None:
    """Set the user attributes and the constraints of a trial."""
    trial.set_user_attr(POINT, outcome.point)
    trial.set_user_attr(ERROR, outcome.error)
    if outcome.beaten_by is not None:
        trial.set_user_attr(BEATEN_BY, outcome.beaten_by)
    for constraint, value in zip(study.constraints, outcome.limits, strict=False):
        trial.set_user_attr(constraint.measure.name, value)
        for bound, broken in constraint.broken_by(value).items():
            trial.set_constraint(bound, broken)


def trial_of(study: Study, frozen: optuna.trial.FrozenTrial) -> Trial:
    """Return a trial that has an outcome, as a study keeps it.

    Raises
    ------
    StoreError
        The workbench did not write it, or somebody changed it: a value is missing, of another type or out of range.
    """

    def checked(name: str, value: Any, is_right: bool) -> Any:
        if is_right:
            return value
        raise StoreError(
            f"trial {frozen.number} of the study was not written by the workbench, or it was changed: "
            f"{name} is {shown(value)}; choose another folder or study."
        )

    def chosen(dimension: Dimension) -> Any:
        parameter = frozen.params.get(dimension.path)
        return dimension.value(checked(dimension.path, parameter, dimension.holds(parameter)))

    def finite(name: str, value: Any) -> float:
        return float(checked(name, value, type(value) in (int, float) and abs(value) <= sys.float_info.max))

    attrs, given = frozen.user_attrs, frozen.values
    checked("user_attrs", attrs, isinstance(attrs, dict))
    point, error, beaten_by = (attrs.get(key) for key in (POINT, ERROR, BEATEN_BY))
    for name, value in ((POINT, point), (ERROR, error)):
        checked(name, value, isinstance(value, str))
    assert isinstance(point, str) and isinstance(error, str)
    checked(BEATEN_BY, beaten_by, beaten_by is None or (type(beaten_by) is int and 0 <= beaten_by < frozen.number))
    trial = Trial(frozen.number, proposed(study, chosen), point, None, error, beaten_by=beaten_by)
    if given is not None:
        checked("the number of values", len(given), len(given) == len(study.objectives))
        named = zip(study.objectives, given, strict=True)
        values = tuple(finite(one.measure.name, value) for one, value in named)
        limits = tuple(finite(one.measure.name, attrs.get(one.measure.name)) for one in study.constraints)
        trial = trial._replace(values=values, limits=limits)
    checked("the state", frozen.state.name, frozen.state.name == STATES[trial.status])
    return trial
