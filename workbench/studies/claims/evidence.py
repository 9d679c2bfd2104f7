"""The runs that claims are tested on: each sweep is run once, however many claims look at it."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from workbench.errors import InputError
from workbench.experiments.plan import PlannedPoint, make_plan
from workbench.experiments.pools import cores
from workbench.experiments.provenance import environment
from workbench.experiments.results_folder import STORE, held, write_whole
from workbench.experiments.run_set import RunSet, gather
from workbench.experiments.runner import WORTH_SECONDS, Progress
from workbench.experiments.saved_results import write_results, write_sweep
from workbench.experiments.store import Store
from workbench.experiments.sweep import read_sweep
from workbench.studies.adaptive import run_plan
from workbench.studies.statistics import Estimand, PairedComparison, compare
from workbench.studies.values import by_seed

FIRST_SEED, FIRST_QUICK_SEED = 1_000_000, 2_000_000
"""Claims are judged on seeds from here on: the specifications' pilots and all shipped sweeps used small ones. A quick
report has seeds of its own, so that who looks at it has not looked at the verdict's."""


class Evidence:
    """Sweeps by name, run when a claim first asks; with a folder each is kept as an ordinary results folder in it."""

    def __init__(
        self,
        seeds: int,
        out: Path | None,
        workers: int | None,
        progress: Progress | None,
        first: int = FIRST_SEED,
    ) -> None:
        self.seeds, self.first = seeds, first
        self._out, self._workers, self._progress = out, workers, progress
        self._seconds = 0.0
        self._runs: dict[str, RunSet] = {}
        self._asked: dict[str, Mapping[str, Any]] = {}
        self._measured: dict[str, Mapping[str, Any]] = {}

    def runs(self, name: str, sweep: Mapping[str, Any], seeds: int | None = None) -> RunSet:
        """Return the runs of a sweep; with a folder they are kept there, and what is kept is not run again.

        Parameters
        ----------
        seeds : int, optional
            As many as the report has; 1 where a workload has one run, which is counted and no sample.

        Raises
        ------
        InputError
            Another claim has another sweep of that name.
        """
        if name not in self._runs:
            self._asked[name] = sweep
            count = self.seeds if seeds is None else seeds
            self._runs[name] = self._run(name, {**sweep, "seeds": {"first": self.first, "count": count}})
        if sweep != self._asked[name]:
            raise InputError(f"two claims call different sweeps {name!r}; give each sweep a name of its own.")
        return self._runs[name]

    def measured(self, name: str, make: Callable[[], Mapping[str, Any]]) -> Mapping[str, Any]:
        """Return what was measured on this machine, outside of all simulations; kept like runs, and not done again.

        Parameters
        ----------
        name : str
            Of the file in the folder `measured` beside the sweeps.
        make : function
            Measures it; what it returns is plain data.
        """
        if name not in self._measured:
            file = self._out / "measured" / f"{name}.json" if self._out is not None else None
            if file is not None and file.exists():
                self._measured[name] = json.loads(file.read_text())["measured"]
            else:
                self._measured[name] = make()
                if file is not None:
                    file.parent.mkdir(parents=True, exist_ok=True)
                    settings = {"environment": environment(), "measured": self._measured[name]}
                    write_whole(file, json.dumps(settings, indent=1, default=str) + "\n")
        return self._measured[name]

    def _run(self, name: str, sweep: Mapping[str, Any]) -> RunSet:
        plan = make_plan(read_sweep(sweep)._replace(name=name))
        if self._out is None:
            return self._filled(plan, Store(None), None)
        with held(self._out / name) as folder:
            store = Store(folder / STORE, name)
            try:
                write_sweep(RunSet(plan, ()), folder)
                runs = self._filled(plan, store, folder)
                write_results(runs, folder)
                return runs
            finally:
                store.close()

    def _filled(self, plan: Any, store: Store, folder: Path | None) -> RunSet:
        seconds = run_plan(plan, store, self._crew(), progress=self._progress)
        self._seconds += seconds
        return gather(plan, store, folder, seconds)

    def _crew(self) -> int | None:
        """Return how many workers do the next sweep: one a core once all sweeps together have taken long.

        A sweep by itself starts workers when they pay off for it. Most sweeps of claims take a few seconds, so that
        one process would do each; but workers stay for the next sweep, and all of them together take minutes.
        """
        return cores() if self._workers is None and self._seconds > WORTH_SECONDS else self._workers


def point(runs: RunSet, **displayed: Any) -> PlannedPoint:
    """Return the point whose coordinates end in the given names and have the given values.

    Raises
    ------
    InputError
        There is no such point, or more than one.
    """
    matches = [p for p in runs.points if all(_coordinate(p, name) == value for name, value in displayed.items())]
    if len(matches) != 1:
        raise InputError(f"{len(matches)} points of the sweep have {displayed}; one is needed.")
    return matches[0]


def _coordinate(p: PlannedPoint, name: str) -> Any:
    return next((value for path, value in p.coordinates.items() if path.rsplit(".", 1)[-1] == name), None)


def unit_of(runs: RunSet, measure: str) -> str:
    """Return the unit of a measure."""
    return str(runs.plan.sweep.mechanism.measures[measure].unit)


def compared(
    runs: RunSet, baseline: PlannedPoint, other: PlannedPoint, measure: str, estimand: Estimand = "median"
) -> PairedComparison:
    """Compare two points on one measure, seed by seed."""
    better = runs.plan.sweep.mechanism.measures[measure].better
    names = f"{runs.label(baseline)}", f"{runs.label(other)}"
    sides = by_seed(runs, baseline, measure), by_seed(runs, other, measure)
    return compare(*sides, names=names, better="higher" if better == "higher" else "lower", estimand=estimand)


def finite(runs: RunSet, p: PlannedPoint, measure: str) -> dict[int, float]:
    """Return a measure by seed where it is defined."""
    return {seed: value for seed, value in runs.values(p, measure).items() if math.isfinite(value)}
