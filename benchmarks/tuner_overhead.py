"""What a tuner costs a trial, beside Optuna alone on the same space in the same run."""

from __future__ import annotations

import tempfile
import time
from pathlib import Path
from typing import Any

from benchmarks.row import row
from workbench.experiments.progress import Silent
from workbench.tuning import read_study, tune
from workbench.tuning.study import Study, proposed
from workbench.tuning.trial_store import quiet

TRIALS = 500
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
    "trials": TRIALS,
    "holdout_seeds": {"first": 100, "count": 2},
}
"""Runs that take next to no time, and are not counted."""


def tuner_overhead() -> list[dict[str, Any]]:
    """Proposing, telling and keeping, per trial, for the samplers that learn; every study has all its trials."""
    rows = []
    for name in ("tpe", "nsga2"):
        config = {**STUDY, "sampler": {name: {"seed": 1}}}
        tune(config, trials=3, progress=Silent())
        rows.append(row("tuner_overhead", f"{name}, Optuna alone", TRIALS, "trials", _alone(read_study(config))))
        with tempfile.TemporaryDirectory() as folder:
            places = {
                "in memory": (None, config),
                "journal": (Path(folder) / "a", config),
                "SQLite": (Path(folder) / "b", {**config, "storage": f"sqlite:///{folder}/study.db"}),
            }
            for place, (out, study) in places.items():
                results = tune(study, out, progress=Silent())
                assert len(results.all_trials) == TRIALS and not results.failures
                rows.append(row("tuner_overhead", f"{name}, {place}", TRIALS, "trials", results.tuner_seconds))
    return rows


def _alone(study: Study) -> float:
    """Seconds of Optuna itself: asked for the same space, told whatever comes to mind."""
    import optuna

    with quiet():
        directions = [one.direction for one in study.objectives]
        asker = optuna.create_study(sampler=study.sampler.make(study.space), directions=directions)
        began = time.perf_counter()
        for k in range(TRIALS):
            trial = asker.ask()
            proposed(study, lambda dimension, trial=trial: dimension.ask(trial))
            asker.tell(trial, [float(k * 7 % 101), float(k * 11 % 103)])
        return time.perf_counter() - began
