"""How many trials each sampler needs: `python -m benchmarks.samplers [STUDY] [--trials N] [--tuners N]`.

Every sampler tunes the same study several times, each time with other random numbers of its own. All trials of all of
them together have one front and one reference point, which give the hypervolume that 95 % is taken of. A study that
never gets there counts as if it had with its last trial, and the table says how many do. Runs are shared: what one
sampler has tried is not run again for another, so the whole costs little more than its different points.
"""

from __future__ import annotations

import argparse
import math
import sys
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from workbench.errors import WorkbenchError
from workbench.experiments.progress import Silent
from workbench.experiments.store import Store
from workbench.statistics import mean_interval
from workbench.tuning.driver import run_trials
from workbench.tuning.hypervolume import history, reference_point
from workbench.tuning.objective_function import Crew, ObjectiveFunction
from workbench.tuning.results import StudyResults
from workbench.tuning.samplers import quiet
from workbench.tuning.storages import TrialStore
from workbench.tuning.study import Study, read_study
from workbench.workloads.workload_key import read_workload

STUDY, TRIALS, TUNERS, SHARE = "sweeps/tune/placement.yaml", 300, 20, 0.95
SAMPLERS: dict[str, dict[str, Any]] = {
    "tpe": {},
    "nsga2": {"population": 20},
    "nsga3": {"population": 20},
    "cmaes": {},
    "gp": {},
    "qmc": {},
    "random": {},
}
Costs = list[tuple[float, ...] | None]


class Needed(NamedTuple):
    """What a sampler needs, one entry a tuner's seed."""

    sampler: str
    trials: list[int]
    """Until the share was reached; all there were where it never was."""
    reached: int
    """How many of them got there."""
    shares: list[float]
    """Of the common hypervolume, after the last trial."""

    def line(self, most: int) -> str:
        """One row of the table: means over the tuner's seeds with their 95 % intervals."""
        trials, shares = (mean_interval([float(one) for one in all]) for all in (self.trials, self.shares))
        beyond = ">=" if self.reached < len(self.trials) else "  "
        needed = f"{beyond}{trials.mean:4.0f} [{max(trials.low, 1):4.0f}, {min(trials.high, most):4.0f}]"
        final = f"{shares.mean:6.1%} [{max(shares.low, 0):6.1%}, {min(shares.high, 1):6.1%}]"
        return f"{self.sampler:<8} {self.reached:>3} of {len(self.trials):<3} {needed:<22} {final}"


def compared(
    study: Mapping[str, Any] | str, changed: Mapping[str, Any], trials: int, tuners: int, store: Store
) -> tuple[list[Needed], list[str]]:
    """What each sampler needs, and a sentence for each that does not serve this study."""
    tuned: dict[str, list[Costs]] = {}
    not_legal = []
    for name, levers in SAMPLERS.items():
        try:
            own = [{**changed, "sampler": {name: {**levers, "seed": seed}}} for seed in range(1, tuners + 1)]
            requests = [read_study(study, one) for one in own]
            with quiet():
                requests[0].sampler.make(requests[0].space)
        except WorkbenchError as problem:
            not_legal.append(str(problem))
            continue
        tuned[name] = [_costs(one, trials, store) for one in requests]
    return needed(tuned), not_legal


def needed(tuned: Mapping[str, Sequence[Costs]]) -> list[Needed]:
    """The table of some samplers' trials, one list of costs a tuner's seed."""
    every = np.array([row for studies in tuned.values() for costs in studies for row in costs if row is not None])
    reference = reference_point(every)
    final = float(history([tuple(row) for row in every], reference).volumes[-1])
    result = []
    for name, studies in tuned.items():
        grown = [history(costs, reference) for costs in studies]
        counts = [one.trials_to(SHARE, final) for one in grown]
        trials = [len(costs) if count is None else count for count, costs in zip(counts, studies, strict=True)]
        shares = [float(one.volumes[-1]) / final if len(one.volumes) else math.nan for one in grown]
        result.append(Needed(name, trials, sum(count is not None for count in counts), shares))
    return result


def _costs(study: Study, trials: int, store: Store) -> Costs:
    sweep = study.sweep
    workload = read_workload(
        sweep.config["workload"], "workload", sweep.where, sweep.folder, sweep.mechanism.engine.workload_kind
    )
    objective = ObjectiveFunction(study, store, Crew(None, None, Silent()), [workload])
    trial_store = TrialStore()
    run_trials(objective, trial_store, trials)
    return StudyResults(study, trial_store.trials).costs()


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("study", nargs="?", default=STUDY)
    parser.add_argument("--trials", type=int, default=TRIALS)
    parser.add_argument("--tuners", type=int, default=TUNERS, help="how often each sampler tunes the study")
    parser.add_argument("--objective", action="append", help="instead of those of the study; may be repeated")
    given = parser.parse_args()
    changed = {"objectives": given.objective} if given.objective else {}
    print(f"{given.study}, {given.trials} trials, {given.tuners} tuners each; mean [95 % interval]")
    print(f"{'sampler':<8} {'reached':<10} {f'trials to {SHARE:.0%}':<22} share of the common hypervolume")
    table, not_legal = compared(given.study, changed, given.trials, given.tuners, Store(None))
    for row in sorted(table, key=lambda row: (np.mean(row.trials), -np.mean(row.shares))):
        print(row.line(given.trials))
    print(*not_legal, sep="\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
