"""The best trials once more, on seeds that no trial has seen.

The best of many noisy means is too good to be true (the winner's curse), so nothing is called best before it was run on
fresh seeds beside the baseline. That is an ordinary sweep over the front: its points have the same names as the trials.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from workbench.engines.engine import Setup
from workbench.errors import InputError, at
from workbench.experiments.sweep import KEYS, Sweep, checked_sweep
from workbench.studies.tuning.space import Levers, Node, dimensions
from workbench.studies.tuning.study import Study
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
        "measures": study.sweep.said_measures(),
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


def check_fresh(study: Study, setup: Setup) -> None:
    """Refuse hold-out seeds that stand for runs that were tuned on: a workload in windows has so many and no more.

    Of a workload that has one run, everything is tuned on that run, and only policies that draw differ.

    Raises
    ------
    InputError
        Two seeds take the same window.
    """
    different_runs = setup.workload.different_seeds(setup.machine)
    if different_runs is None or different_runs == 1:
        return
    tuned_on = {seed % different_runs: seed for seed in study.sweep.seeds}
    both = [seed for seed in study.holdout_seeds if seed % different_runs in tuned_on]
    if both:
        same = f"seed {both[0]} is the same run as seed {tuned_on[both[0] % different_runs]}"
        only = f"for the workload has {different_runs} different ones"
        raise InputError(at(study.sweep.where, f"holdout_seeds must be fresh: {same}, {only}."))
