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
    data = study_front_data(results)
    table = results.trials.drop_duplicates("point_id")
    assert list(data.tuned.names) == [f"trial {number}" for number in table.trial]
    assert np.array_equal(data.tuned.x.mean, table.drain_cycles)
    assert np.array_equal(data.tuned.front, table.front)
    fresh, best = data.fresh, results.pareto
    place = [fresh.names.index(f"trial {number}") for number in best.trial]
    assert np.array_equal(fresh.y.mean[place], best.mean_external_fragmentation)
    assert np.array_equal(fresh.x.low[place], best.drain_cycles_low)
    assert set(fresh.n.tolist()) == {3}


def test_a_trial_has_one_key_and_an_arrow_from_the_tuning_seeds_to_fresh_ones(results):
    data = study_front_data(results)
    assert list(data.keys) == [f"trial {number}" for number in results.pareto.trial]
    assert all(
        chosen.partition("(")[0] in ("first_fit", "best_fit", "size_segregated_ends") for chosen in data.keys.values()
    )
    assert set(data.keys) <= set(data.tuned.names) and set(data.fresh.names) - set(data.keys) == {"baseline"}
    columns = data.columns()
    named = {name: chosen for name, chosen in zip(columns["point"].tolist(), columns["chosen"], strict=True) if chosen}
    assert named == data.keys
    drawn = study_figures()["pareto"].draw(data)
    (axes,) = drawn.axes
    arrows = [text for text in axes.texts if text.arrowprops and "-|>" in str(text.arrowprops["arrowstyle"])]
    assert len(arrows) == len(data.keys)
    for arrow, name in zip(arrows, [one for one in data.fresh.names if one in data.keys], strict=True):
        here, there = data.tuned.names.index(name), data.fresh.names.index(name)
        assert arrow.xyann == (data.tuned.x.mean[here], data.tuned.y.mean[here])
        assert arrow.xy == (data.fresh.x.mean[there], data.fresh.y.mean[there])
    numbers = {name.removeprefix("trial ") for name in data.fresh.names}
    assert {text.get_text() for text in axes.texts if text.get_text()} <= numbers
    key = [text.get_text().split()[0] for text in drawn.legends[0].get_texts()]
    assert key[-len(data.keys) :] == [name.removeprefix("trial ") for name in data.keys]


@pytest.mark.slow
def test_every_figure_of_a_study_is_saved(results, tmp_path, monkeypatch):
    monkeypatch.setattr("workbench.figures.figure_files.rendered", lambda sheet, kind: kind.encode())
    drawn = {path.name for path in draw_study(results, tmp_path)}
    assert drawn == {f"{name}.{kind}" for name in study_figures() for kind in ("pdf", "png", "csv")}


@pytest.mark.slow
def test_the_baseline_is_marked_and_a_third_objective_is_the_colour():
    results = tune({**STUDY, "objectives": [*STUDY["objectives"], "wear_cv"]})
    data = study_front_data(results)
    trials, fresh = data.tuned, data.fresh
    assert data.shade.name == "wear_cv"
    assert np.array_equal(trials.shade, results.trials.drop_duplicates("point_id").wear_cv)
    (held,) = np.flatnonzero(fresh.baseline)
    assert fresh.names[held] == "baseline" and trials.baseline is None
    baseline = next(one for point in results.front.points if (one := results.holdout.baseline_of(point)))
    assert fresh.x.mean[held] == np.mean([*results.holdout.values(baseline, "drain_cycles").values()])
    assert fresh.shade[held] == np.mean([*results.holdout.values(baseline, "wear_cv").values()])
    drawn = study_figures()["pareto"].draw(data)
    assert too_long(texts_of(drawn)) == []
    axes, bar = drawn.axes
    assert bar.get_ylabel() == "wear cv"
    diamonds = [
        one for one in axes.collections if one.get_offsets().tolist() == [[fresh.x.mean[held], fresh.y.mean[held]]]
    ]
    assert len(diamonds) == 1
    places = np.column_stack([fresh.x.mean, fresh.y.mean])[~fresh.baseline].tolist()
    (front,) = [one for one in axes.collections if one.get_offsets().tolist() == places]
    assert len(np.unique(front.get_facecolors(), axis=0)) == len(np.unique(fresh.shade[~fresh.baseline]))
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
