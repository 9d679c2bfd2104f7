"""The best trials once more, on seeds that no trial has seen.

The best of many noisy means is too good to be true (the winner's curse), so nothing is called best before it was run on
fresh seeds beside the baseline. That is an ordinary sweep over the front: its points have the same names as the trials.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from workbench.experiments.sweep import KEYS, Sweep, checked_sweep
from workbench.studies.tuning.quiet import quiet
from workbench.studies.tuning.space import Levers, Node, dimensions
from workbench.studies.tuning.study import Direction, Study
from workbench.studies.tuning.trial import Proposal, Trial

_ZIP = "front"


def different(trials: Sequence[Trial]) -> list[Trial]:
    """The first trial of each point, in order."""
    first: dict[str, Trial] = {}
    for trial in trials:
        first.setdefault(trial.point, trial)
    return list(first.values())


def front_sweep(study: Study, proposals: Sequence[Proposal]) -> Sweep:
    """The sweep over some proposals on the study's hold-out seeds: what is tuned steps together, the rest is fixed."""
    kept = {key: value for key, value in study.said.items() if key in KEYS}
    said = {
        **kept,
        **{key: _stepped(node, [p.said[key] for p in proposals]) for key, node in study.space.parts.items()},
        "seeds": study.holdout_seeds,
        "measures": study.sweep.measures,
    }
    return checked_sweep(said, study.name, study.sweep.where, study.sweep.folder)


def _stepped(node: Node, drawn: list[Any]) -> Any:
    """One key of the sweep: its tuned entries vary together, its others are the same for all."""
    if not isinstance(node, Levers):
        return drawn[0]
    return {
        name: {"vary": [one[name] for one in drawn], "zip": _ZIP} if _tuned(part) else drawn[0][name]
        for name, part in node.parts.items()
    }


def _tuned(node: Node) -> bool:
    return any(True for _ in dimensions(node))


def not_beaten(values: Sequence[Sequence[float]], directions: Sequence[Direction]) -> list[bool]:
    """Whether each row is on the Pareto front of all rows: no other is as good in every objective and better in one.

    >>> not_beaten([(1, 5), (2, 4), (2, 5)], ["minimize", "minimize"])
    [True, True, False]
    """
    import optuna

    with quiet():
        study = optuna.create_study(directions=list(directions))
    study.add_trials([optuna.trial.create_trial(values=list(row)) for row in values])
    best = {trial.number for trial in study.best_trials}
    return [number in best for number in range(len(values))]
