"""The best trials once more, on seeds that no trial has seen.

The best of many noisy means is too good to be true (the winner's curse), so nothing is called best before it was run on
fresh seeds beside the baseline. That is an ordinary sweep over the front: its points have the same names as the trials.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from workbench.engines.engine import Setup
from workbench.errors import InputError, at
from workbench.experiments.different_runs import draws, workload_digest
from workbench.experiments.kept_front import STEPPED
from workbench.experiments.sweep import KEYS, Sweep, checked_sweep
from workbench.studies.tuning.space import Levers, Node, dimensions
from workbench.studies.tuning.study import Study
from workbench.studies.tuning.trial import Proposal, Trial

_COMPARED = 64
"""Seeds of either kind whose workloads are compared."""


def different(trials: Sequence[Trial]) -> list[Trial]:
    """Return the first trial of each outcome, in order: points that came out equal in everything are one row of a
    front."""
    first: dict[tuple[float, ...] | str, Trial] = {}
    for trial in trials:
        first.setdefault(trial.point if trial.values is None else (*trial.values, *trial.limits), trial)
    return list(first.values())


def front_sweep(study: Study, proposals: Sequence[Proposal]) -> Sweep:
    """Return the sweep over some proposals on the study's hold-out seeds: what is tuned steps together, the rest is
    fixed."""
    kept = {key: value for key, value in study.said.items() if key in KEYS}
    config = {
        **kept,
        **{key: _stepped(node, [p.said[key] for p in proposals]) for key, node in study.space.parts.items()},
        "seeds": study.holdout_seeds,
        "measures": study.sweep.said_measures(),
    }
    return checked_sweep(config, study.name, study.sweep.where, study.sweep.folder)


def _stepped(node: Node, drawn: list[Any]) -> Any:
    """Return one key of the sweep: its tuned entries vary together, its others are the same for all."""
    if not isinstance(node, Levers):
        return drawn[0]
    return {
        name: {"vary": [one[name] for one in drawn], "zip": STEPPED} if _tuned(part) else drawn[0][name]
        for name, part in node.parts.items()
    }


def _tuned(node: Node) -> bool:
    return any(True for _ in dimensions(node))


def check_fresh(study: Study, setup: Setup) -> None:
    """Refuse hold-out seeds that stand for runs that were tuned on, as digests of their workloads tell.

    Of a workload that has one run, everything is tuned on that run, one seed to tune on and one to hold out; nothing is
    claimed of it, as one run is no sample. Policies and options that draw make every seed another run.

    Raises
    ------
    InputError
        A hold-out seed asks the same of the machine as a tuned one.
    """
    if draws(setup) or len(study.sweep.seeds) == len(study.holdout_seeds) == 1:
        return
    wanted = study.sweep.mechanism.engine.workload_kind
    for seed, same in repeated(setup, study.holdout_seeds, setup, study.sweep.seeds, wanted).items():
        sentence = f"holdout_seeds must be fresh: seed {seed} is the same run as seed {same}."
        raise InputError(at(study.sweep.where, sentence))


def repeated(
    setup: Setup, seeds: Sequence[int], before: Setup, seeds_before: Sequence[int], wanted: str, most: int = _COMPARED
) -> dict[int, int]:
    """Return the seeds of a setup that ask the same of the machine as another did, each with that one's seed.

    The first so many of either are compared, by digests of their workloads.
    """
    first = {workload_digest(before, wanted, seed, first=True): seed for seed in seeds_before[:most]}
    alike = {seed: first.get(workload_digest(setup, wanted, seed, first=True)) for seed in seeds[:most]}
    return {
        seed: same
        for seed, same in alike.items()
        if same is not None and workload_digest(setup, wanted, seed) == workload_digest(before, wanted, same)
    }
