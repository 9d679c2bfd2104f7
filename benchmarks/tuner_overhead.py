"""What proposing, telling and keeping cost a trial, without the runs; the reference is Optuna alone on one space."""

from __future__ import annotations

import itertools
import os
import tempfile
from collections import defaultdict
from collections.abc import Callable
from functools import partial
from pathlib import Path
from time import process_time
from typing import Any
from unittest import mock

from benchmarks.turns import Side, clocked, compared
from workbench.experiments.progress import Silent
from workbench.experiments.reproducibility import VARIABLE
from workbench.tuning import read_study, tune, tuner
from workbench.tuning.objective_function import ObjectiveFunction
from workbench.tuning.samplers import quiet
from workbench.tuning.study import Study, proposed

TRIALS, ROUNDS = 60, 5
PLACES = ("journal", "SQLite")
"""Of the trials."""
STUDY: dict[str, Any] = {
    "engine": "shared_memory",
    "machine": {"segments": 32},
    "workload": {"synthetic": "random_workgroups", "count": 4, "size": {"uniform": [1, 16]}},
    "policy": {
        "placement": {
            "tune": [
                "first_fit",
                "next_fit",
                "best_fit",
                {"nearest_boundary": {"distance": {"tune": True}, "tie": {"tune": True}}},
                {"size_segregated_ends": {"threshold": {"tune": {"most": 16}}}},
            ]
        },
        "queue": {"tune": ["fifo_head_only", {"fifo_lookahead": {"k": {"tune": {"least": 1, "most": 8}}}}]},
    },
    "baseline": {"placement": "first_fit", "queue": "fifo_head_only"},
    "seeds": 1,
    "objectives": ["drain_cycles", "mean_external_fragmentation"],
    "holdout_seeds": {"first": 100, "count": 2},
}
"""Its runs take next to no time, and are not counted."""


def tuner_overhead() -> list[dict[str, Any]]:
    """The samplers that learn, with trials in a journal and in SQLite; every study has all its trials."""
    rows = []
    for name in ("tpe", "nsga2"):
        config = {**STUDY, "trials": TRIALS, "sampler": {name: {"seed": 1}}}
        alone = clocked(TRIALS, partial(_alone, read_study(config)))
        for place in PLACES:
            with tempfile.TemporaryDirectory() as folder:
                ours = _ours(config, place, Path(folder))
                rows += compared("tuner_overhead", f"{name}, {place}", "trials", ours, {"Optuna alone": alone}, ROUNDS)
    return rows


def _ours(config: dict[str, Any], place: str, folder: Path) -> Side:
    fresh = itertools.count()

    def run() -> float:
        out = folder / str(next(fresh))
        study = {**config, "storage": f"sqlite:///{out}.db"} if place == "SQLite" else config
        used: dict[str, float] = defaultdict(float)
        trials, runs = _counted(used, "trials", tuner.run_trials), _counted(used, "runs", ObjectiveFunction.outcomes)
        with (
            mock.patch.object(tuner, "run_trials", trials),
            mock.patch.object(ObjectiveFunction, "outcomes", runs),
            mock.patch.dict(os.environ, {VARIABLE: "0"}),
        ):
            results = tune(study, out, progress=Silent())
        assert len(results.all_trials) == TRIALS
        assert not results.failures
        return used["trials"] - used["runs"]

    return Side(TRIALS, run)


def _counted(used: dict[str, float], part: str, call: Callable[..., Any]) -> Callable[..., Any]:
    """Return a function that adds its processor time to a part."""

    def counting(*args: Any, **options: Any) -> Any:
        began = process_time()
        try:
            return call(*args, **options)
        finally:
            used[part] += process_time() - began

    return counting


def _alone(study: Study) -> None:
    """Ask Optuna itself for the same space, and tell it any values."""
    import optuna

    with quiet():
        directions = [one.direction for one in study.objectives]
        asker = optuna.create_study(sampler=study.sampler.make(study.space), directions=directions)
        for k in range(TRIALS):
            trial = asker.ask()
            proposed(study, lambda dimension, trial=trial: dimension.ask(trial))
            asker.tell(trial, [float(k * 7 % 101), float(k * 11 % 103)])
