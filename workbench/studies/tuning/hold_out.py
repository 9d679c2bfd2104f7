"""The one to take beside the baseline on runs that neither tuning nor choosing saw, of the study's or another workload.

Further seeds say whether a gain was luck, of the trial that is the best of many and of the point that is the best of
the front; another workload, such as a real trace, says whether it was of that workload alone.
"""

from __future__ import annotations

import hashlib
import os
import re
from concurrent.futures import Executor
from pathlib import Path
from typing import Any

from workbench.errors import InputError, at
from workbench.experiments.different_runs import draws
from workbench.experiments.folder import STORE, held
from workbench.experiments.keep import keep_files, named, shortest
from workbench.experiments.named_files import with_files
from workbench.experiments.plan import Plan, plan_different_runs
from workbench.experiments.run_set import RunSet, gather
from workbench.experiments.runner import Progress
from workbench.experiments.store import Store
from workbench.experiments.sweep import checked_sweep
from workbench.strict_yaml import parse_value
from workbench.studies.adaptive import run_plan
from workbench.studies.tuning.holdout import repeated
from workbench.studies.tuning.point_sweeps import point_sweep
from workbench.studies.tuning.study import Study
from workbench.studies.tuning.trial import Proposal, Trial, planned
from workbench.workloads.catalogue import catalogue
from workbench.workloads.read import read_workload

FOLDER, REPORT = "hold_out", "report"
"""Of the results folder of a study: a results folder for each workload that was held out, and that of its own."""
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
        if not study.said.get("baseline"):
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

    def plan(self, proposal: Proposal, tuned_on: Any) -> Plan:
        """Return the plan of a point and its baseline on the workload, at seeds whose runs the study never saw.

        Parameters
        ----------
        tuned_on : Workload
            That of the study, as it was read.

        Raises
        ------
        InputError
            The machine cannot take the workload, or the study saw all of its runs.
        """
        study = self._study
        first = 1 + max(*study.sweep.seeds, *study.holdout_seeds, *study.report_seeds)
        config = point_sweep(study, Trial(0, proposal, "", None, ""), [*range(first, first + len(study.report_seeds))])
        config |= {
            "workload": self.workload,
            "question": f"Does what the study {study.name} tuned hold on {self.name}?",
        }
        before = [*study.sweep.seeds, *study.holdout_seeds, *study.report_seeds]
        plan = _fresh(study, config, planned(study, proposal, tuned_on).setup, before, _WHERE)
        if plan is None:
            cure = "name a workload that it did not have"
            raise InputError(at(_WHERE, f"the study saw every run of {self.name}; {cure}."))
        return plan


def report_plan(study: Study, proposal: Proposal, tuned_on: Any) -> Plan | None:
    """Return the plan of a point and its baseline at seeds that neither tuning nor choosing saw.

    None without a baseline, and where the workload has no run that they did not see.
    """
    if not study.said.get("baseline"):
        return None
    config = point_sweep(study, Trial(0, proposal, "", None, ""), study.report_seeds)
    config["question"] = f"Does what the study {study.name} tuned hold at seeds that it was not chosen on?"
    before = [*study.sweep.seeds, *study.holdout_seeds]
    return _fresh(study, config, planned(study, proposal, tuned_on).setup, before, study.sweep.where)


def _fresh(study: Study, config: dict[str, Any], tuned: Any, before: list[int], where: str) -> Plan | None:
    """Return the plan of a sweep at those of its seeds that ask of the machine what was not asked before; None without
    any."""
    plan = plan_different_runs(checked_sweep(config, study.name, where, Path()))
    setup = plan.points[0].setup
    if draws(setup):
        return plan
    known = repeated(setup, plan.sweep.seeds, tuned, before, study.sweep.mechanism.engine.workload_kind, MOST_COMPARED)
    fresh = [seed for seed in plan.sweep.seeds if seed not in known]
    if not known or not fresh:
        return plan if fresh else None
    return plan_different_runs(checked_sweep({**config, "seeds": shortest(fresh)}, study.name, where, Path()))


def _as_workload(given: Any, study: Study) -> Any:
    """Return what a sweep says of the workload that is meant."""
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
    """Return how a sweep may say what is meant: a file of either kind, a public trace, or the same words."""
    if isinstance(config, str) and os.path.isfile(config):
        return [{"file": config}, {"trace": config}]
    return [{"trace": config}] if config in [*catalogue()] else [config]


def _absolute(workload: Any) -> Any:
    return with_files({"workload": workload}, Path(), lambda path: str(path.resolve()))["workload"]


def run_hold_out(
    plan: Plan, folder: Path | None, workers: int | None, executor: Executor | str | None, watch: Progress
) -> RunSet:
    """Run what a folder does not hold yet, and keep it there as the results of any sweep are kept."""
    if folder is None:
        store = Store(None)
        return gather(plan, store, None, run_plan(plan, store, workers, executor, watch))
    with held(folder):
        store = Store(folder / STORE, plan.sweep.name)
        try:
            results = gather(plan, store, folder, run_plan(plan, store, workers, executor, watch))
            keep_files(results, folder)
            return results
        finally:
            store.close()
