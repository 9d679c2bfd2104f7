"""The figure of a tuning study."""

from __future__ import annotations

import numpy as np
import pytest

from tests.printed import texts_of, too_long
from workbench.figures import draw_study, study_figures
from workbench.figures._tuning import study_front_data
from workbench.tuning import tune

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


@pytest.fixture(scope="module")
def results():
    return tune(STUDY)


def test_trials_and_the_front_on_fresh_seeds(results):
    trials, fresh = study_front_data(results).panels
    table = results.trials.drop_duplicates("point_id")
    assert all(
        name.partition("(")[0].strip() in ("first_fit", "best_fit", "size_segregated_ends") for name in trials.names
    )
    assert len(set(trials.names)) == len(trials.names)
    assert np.array_equal(trials.x.mean, table.drain_cycles)
    assert np.array_equal(trials.front, table.front)
    best = results.pareto
    place = [fresh.names.index(results.front.name(point)) for point in results.front.points]
    assert np.array_equal(fresh.y.mean[place], best.mean_external_fragmentation)
    assert np.array_equal(fresh.x.low[place], best.drain_cycles_low)
    assert set(fresh.n.tolist()) == {3}


@pytest.mark.slow
def test_every_figure_of_a_study_is_saved(results, tmp_path, monkeypatch):
    monkeypatch.setattr("workbench.figures.figure_files.rendered", lambda sheet, kind: kind.encode())
    drawn = {path.name for path in draw_study(results, tmp_path)}
    assert drawn == {f"{name}.{kind}" for name in study_figures() for kind in ("pdf", "png", "csv")}


@pytest.mark.slow
def test_the_baseline_is_marked_and_a_third_objective_is_the_colour():
    results = tune({**STUDY, "objectives": [*STUDY["objectives"], "wear_cv"]})
    data = study_front_data(results)
    trials, fresh = data.panels
    assert data.shade.name == "wear_cv"
    assert np.array_equal(trials.shade, results.trials.drop_duplicates("point_id").wear_cv)
    (held,) = np.flatnonzero(fresh.baseline)
    assert fresh.names[held] == "baseline" and trials.baseline is None
    baseline = next(one for point in results.front.points if (one := results.holdout.baseline_of(point)))
    assert fresh.x.mean[held] == np.mean([*results.holdout.values(baseline, "drain_cycles").values()])
    assert fresh.shade[held] == np.mean([*results.holdout.values(baseline, "wear_cv").values()])
    drawn = study_figures()["pareto"].draw(data)
    assert too_long(texts_of(drawn)) == []
    *panels, bar = drawn.axes
    assert bar.get_ylabel() == "wear cv"
    diamond, front = panels[1].collections[-1], panels[1].collections[-2]
    assert diamond.get_offsets().tolist() == [[fresh.x.mean[held], fresh.y.mean[held]]]
    assert len(np.unique(front.get_facecolors(), axis=0)) == len(np.unique(fresh.shade[fresh.front]))
    assert data.columns()["baseline"].sum() == 1 and len(data.columns()["wear_cv"]) == len(data.columns()["point"])


def test_the_history_and_the_levers_are_those_of_the_results(results):
    history, levers = (study_figures()[name].data(results) for name in ("hypervolume_history", "lever_importances"))
    assert history.shares[-1] == 1.0 and (np.diff(history.volumes) >= 0).all()
    assert history.shares[history.enough - 1] >= 0.95 and (history.shares[: history.enough - 1] < 0.95).all()
    assert levers.goals == ("front", "drain_cycles", "mean_external_fragmentation")
    assert np.allclose(levers.shares[:, :-1].sum(axis=1), 1) and levers.levers[-1] == "(inert lever)"
    assert levers.trials == 25


def test_a_study_of_one_objective_has_no_front_to_draw(tmp_path, monkeypatch):
    monkeypatch.setattr("workbench.figures.figure_files.rendered", lambda sheet, kind: kind.encode())
    results = tune({**STUDY, "objectives": ["drain_cycles"], "trials": 3})
    assert {path.stem for path in draw_study(results, tmp_path)} <= {"hypervolume_history"}
