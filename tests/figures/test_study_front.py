"""The figure of a tuning study."""

from __future__ import annotations

import numpy as np

from workbench.figures import draw_study
from workbench.figures.study_front import study_front_data
from workbench.studies.tuning import tune

STUDY = {
    "engine": "shared_memory",
    "workload": {"regime": "bimodal", "count": 60},
    "policy": {
        "placement": {"tune": ["first_fit", "best_fit", {"size_segregated_ends": {"threshold": {"tune": True}}}]}
    },
    "baseline": {"placement": "first_fit"},
    "seeds": 2,
    "objectives": ["drain_cycles", "mean_external_fragmentation"],
    "sampler": {"nsga2": {"population": 10, "seed": 1}},
    "trials": 25,
    "holdout_seeds": {"first": 100, "count": 3},
}


def test_trials_and_the_front_on_fresh_seeds(tmp_path):
    found = tune(STUDY)
    trials, fresh = study_front_data(found).panels
    table = found.trials.drop_duplicates("point_id")
    assert trials.names == tuple(f"trial {number}" for number in table.trial)
    assert np.array_equal(trials.x.mean, table.drain_cycles)
    assert np.array_equal(trials.front, table.front)
    best = found.pareto
    place = [fresh.names.index(f"trial {number}") for number in best.trial]
    assert np.array_equal(fresh.y.mean[place], best.mean_external_fragmentation)
    assert np.array_equal(fresh.x.low[place], best.drain_cycles_low)
    assert set(fresh.n.tolist()) == {3}
    assert [path.name for path in draw_study(found, tmp_path)] == ["pareto.pdf", "pareto.png", "pareto.csv"]


def test_a_study_of_one_objective_has_no_front_to_draw(tmp_path):
    assert draw_study(tune({**STUDY, "objectives": ["drain_cycles"], "trials": 3}), tmp_path / "none") == []
    assert not (tmp_path / "none").exists()
