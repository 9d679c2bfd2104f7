"""The best trials once more, on seeds that no trial has seen, and on another workload.

The best of many noisy means is too good to be true (the winner's curse), so nothing is called best before it was
compared with the baseline on fresh seeds. That is an ordinary sweep over the front: its points have the same names as
the trials. Further seeds say whether a gain was luck, of the trial that is the best of many and of the point that is
the best of the front; another workload, such as a real trace, says whether it was of that workload alone.
"""

from __future__ import annotations

import hashlib
import os
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from workbench.engines.kit.engine import Setup
from workbench.errors import InputError, at
from workbench.experiments.fronts import STEPPED
from workbench.experiments.plan import Plan, plan_different_runs
from workbench.experiments.saved_results import named, shortest
from workbench.experiments.seeds import draws, workload_digest
from workbench.experiments.sweep import KEYS, Sweep, checked_sweep, with_files
from workbench.runs.run import PlannedPoint
from workbench.strict_yaml import parse_value
from workbench.tuning.front import point_sweep
from workbench.tuning.space import Levers, Node, dimensions
from workbench.tuning.study import Proposal, Study, Trial
from workbench.workloads.catalogue import catalogue
from workbench.workloads.workload_key import read_workload

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
    kept = {key: value for key, value in study.config.items() if key in KEYS}
    config = {
        **kept,
        **{key: _stepped(node, [p.config[key] for p in proposals]) for key, node in study.space.parts.items()},
        "seeds": study.holdout_seeds,
        "measures": study.sweep.measure_names(),
    }
    return checked_sweep(config, study.name, study.sweep.where, study.sweep.folder)


def _stepped(node: Node, drawn: list[Any]) -> Any:
    """Return one key of the sweep: its tuned entries vary together, its others are the same for all."""
    if not isinstance(node, Levers):
        return drawn[0]
    return {
        name: {"vary": [one[name] for one in drawn], "zip": STEPPED} if any(dimensions(part)) else drawn[0][name]
        for name, part in node.parts.items()
    }


def check_fresh(study: Study, setups: Sequence[Setup]) -> None:
    """Refuse hold-out seeds that stand for runs that were tuned on, as digests of their workloads tell.

    Of a workload that has one run, everything is tuned on that run, one seed to tune on and one to hold out; nothing is
    claimed of it, as one run is no sample. Policies and options that draw make every seed another run.

    Raises
    ------
    InputError
        A hold-out seed asks the same of the machine as a tuned one.
    """
    seeds, fresh = study.sweep.seeds, study.holdout_seeds
    wanted = study.sweep.mechanism.engine.workload_kind
    for setup in setups:
        if draws(setup) or len(seeds) == len(fresh) == 1:
            continue
        for seed, same in repeated(setup, fresh, setup, seeds, wanted).items():
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


FOLDER = "hold_out"
"""The folder in that of a study with a results folder for each workload that was held out."""
MOST_COMPARED = 1000
"""Seeds of either kind whose workloads are compared."""
_WHERE = "hold-out"


class HoldOut:
    """A workload that a study is not tuned on."""

    def __init__(self, study: Study, given: Any) -> None:
        """Read what is held out: a regime's name, the name or the path of a trace, or what a sweep's `workload` says.

        Raises
        ------
        InputError
            It is no workload of the engine, or the study has no baseline to compare with.
        """
        if not study.config.get("baseline"):
            raise InputError(at(study.sweep.where, "names no baseline, and a hold-out compares the best with it."))
        self._study = study
        self.workload = _absolute(_as_workload(given, study))

    @property
    def name(self) -> str:
        """Return the name of its folder: that of the workload, with a digest where it says more than a name."""
        if isinstance(self.workload, str):
            return self.workload
        word = next((str(v) for v in self.workload.values() if isinstance(v, str)), next(iter(self.workload)))
        text = repr(sorted(named(dict(self.workload)).items()))
        stem = re.sub(r"[^A-Za-z0-9_-]+", "_", Path(word).stem)
        return f"{stem}_{hashlib.blake2b(text.encode(), digest_size=3).hexdigest()}"

    def plan(self, proposal: Proposal, tuned: Sequence[PlannedPoint], count: int) -> Plan:
        """Return the plan of a setting and its baseline on the workload, at seeds whose runs the study never saw.

        Parameters
        ----------
        tuned : sequence of PlannedPoint
            The setting on the study's own workloads.
        count : int
            How many seeds.

        Raises
        ------
        InputError
            The machine cannot take the workload, or the study saw all of its runs.
        """
        study = self._study
        first = 1 + max(*study.sweep.seeds, *study.holdout_seeds, *study.report_seeds)
        config = point_sweep(study, Trial(0, proposal, "", None, ""), [*range(first, first + count)])
        config |= {
            "workload": self.workload,
            "question": f"Does what the study {study.name} tuned hold on {self.name}?",
        }
        before = [*study.sweep.seeds, *study.holdout_seeds, *study.report_seeds]
        plan = fresh_plan(study, config, tuned, before, _WHERE)
        if plan is None:
            cure = "name a workload that it did not have"
            raise InputError(at(_WHERE, f"the study saw every run of {self.name}; {cure}."))
        return plan


def fresh_plan(
    study: Study, config: dict[str, Any], tuned: Sequence[PlannedPoint], before: list[int], where: str
) -> Plan | None:
    """Return the plan of a sweep at those of its seeds whose runs differ from every run of some points before.

    None if there is no such seed.
    """
    plan = plan_different_runs(checked_sweep(config, study.name, where, Path()))
    kind, seeds = study.sweep.mechanism.engine.workload_kind, plan.sweep.seeds
    setups = {id(point.setup.workload): point.setup for point in plan.points}
    known = {
        seed
        for setup in setups.values()
        if not draws(setup)
        for one in tuned
        for seed in repeated(setup, seeds, one.setup, before, kind, MOST_COMPARED)
    }
    fresh = [seed for seed in seeds if seed not in known]
    if not known or not fresh:
        return plan if fresh else None
    return plan_different_runs(checked_sweep({**config, "seeds": shortest(fresh)}, study.name, where, Path()))


def _as_workload(given: Any, study: Study) -> Any:
    """Return the sweep's words for the workload that is meant."""
    config = parse_value(given, _WHERE) if isinstance(given, str) else given
    refusals = []
    for way in _ways(config):
        try:
            read_workload(way, "workload", _WHERE, Path(), study.sweep.mechanism.engine.workload_kind)
            return way
        except InputError as refused:
            refusals.append(refused)
    raise refusals[0] if Path(str(config)).suffix == ".csv" else refusals[-1]


def _ways(config: Any) -> list[Any]:
    """Return the forms in which a sweep may name the workload: a file of either kind, a public trace, or the same
    words."""
    if isinstance(config, str) and os.path.isfile(config):
        return [{"file": config}, {"trace": config}]
    return [{"trace": config}] if config in [*catalogue()] else [config]


def _absolute(workload: Any) -> Any:
    return with_files({"workload": workload}, Path(), lambda path: str(path.resolve()))["workload"]
