"""A study beside the page of its points: watched while it is tuned, judged when it is done."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import pytest

import workbench as wb
from tests.tuning.small import small
from workbench.dashboards._saved_sweep import read_saved
from workbench.dashboards._study_view import StudyView
from workbench.dashboards.paired_runs import PairedRuns
from workbench.errors import StoreError
from workbench.experiments.results_folder import held
from workbench.figures._tuning import study_front_data
from workbench.tuning.parallel_coordinates import parallel_axes
from workbench.tuning.storages import JOURNAL

CONSTRAINED = {"constraints": {"wear_cv": {"most": 9}}, "trials": 24}


@pytest.fixture(scope="module")
def tuned(tmp_path_factory):
    from workbench.tuning import importances

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(importances, "SHUFFLES", 2)
        return wb.tune(small(**CONSTRAINED), tmp_path_factory.mktemp("watched") / "study")


@pytest.fixture
def unfinished(tuned, tmp_path) -> Path:
    """The study as a driver that still tunes it has left its folder."""
    for name in ("study.yaml", "study.json"):
        (tmp_path / name).write_bytes((tuned.folder / name).read_bytes())
    lines = (tuned.folder / JOURNAL).read_bytes().splitlines(keepends=True)
    (tmp_path / JOURNAL).write_bytes(b"".join(lines[: 2 * len(lines) // 3]) + b'{"op_code": 4, "wor')
    return tmp_path


def test_a_study_opened_is_the_study_that_was_tuned(tuned):
    opened = wb.open_study(tuned.folder)
    assert opened.trials.equals(tuned.trials)
    assert opened.pareto.equals(tuned.pareto)
    assert opened.best == tuned.best
    assert np.array_equal(opened.history.volumes, tuned.history.volumes)


def test_a_study_that_is_tuned_just_now_has_its_trials_so_far(unfinished, tuned):
    so_far = wb.open_study(unfinished)
    assert 0 < len(so_far.all_trials) < len(tuned.all_trials)
    assert so_far.trials.drop(columns="front").equals(tuned.trials.drop(columns="front")[: len(so_far.all_trials)])
    assert so_far.holdout is None
    assert so_far.best_trials


def test_a_folder_that_is_no_study_is_a_sentence(tmp_path, tuned):
    with pytest.raises(StoreError, match=r"is no results folder of a tuning study: it has no study\.yaml"):
        wb.open_study(tmp_path)
    (tmp_path / "study.yaml").write_bytes((tuned.folder / "study.yaml").read_bytes())
    with pytest.raises(StoreError, match="the trials of the study are missing"):
        wb.open_study(tmp_path)
    (tmp_path / JOURNAL).write_text("{}\n")
    with pytest.raises(StoreError, match=r"study\.journal is no journal of the study next to it"):
        wb.open_study(tmp_path)


def test_parallel_axes_say_where_each_point_lies(tuned):
    axes = {axis.name: axis for axis in parallel_axes(tuned)}
    front = tuned.best_trials
    drain = axes["drain_cycles"]
    values = tuned.pareto["drain_cycles"].tolist()  # as the rings: a trial has one number on the page
    assert drain.labels == tuple(f"{value:.4g}" for value in values)
    assert drain.positions[int(np.argmin(values))] == 0.0
    assert drain.positions[int(np.argmax(values))] == 1.0
    lever = axes["policy.queue.fifo_lookahead.k"]
    for trial, label, position in zip(front, lever.labels, lever.positions, strict=True):
        chosen = trial.proposal.chosen.get(lever.name)
        assert label == ("" if chosen is None else str(chosen))
        assert math.isnan(position) if chosen is None else position == pytest.approx((chosen - 1) / 3)
    assert all(len(set(axis.labels)) > 1 for name, axis in axes.items() if name.startswith("policy."))


def test_the_view_of_a_study_that_is_done(tuned):
    picked: list[str] = []
    view = StudyView(tuned.folder, picked.append)
    assert "24 of 24 trials" in view.progress.value
    assert "just now" not in view.progress.value
    table = tuned.pareto
    assert [point["x"] for point in view.points.scene["points"]] == table["drain_cycles"].tolist()
    assert [point["y"] for point in view.points.scene["points"]] == table["mean_external_fragmentation"].tolist()
    assert len(view.points.scene["pale"]) == 24 - len(tuned.best_trials)
    view.upward.value = "wear_cv"
    assert [point["y"] for point in view.points.scene["points"]] == table["wear_cv"].tolist()
    scene = view.panel.scene
    assert scene["history"]["values"][-1] == pytest.approx(100)
    assert scene["parallel"]["names"] == [f"trial {trial.number}" for trial in tuned.best_trials]
    view.points._on_message(view.points, {"what": "pick", "k": 1}, [])
    assert picked == [tuned.best_trials[1].point]
    assert view.points.scene["chosen"] == view.panel.scene["chosen"] == 1
    view.panel._on_message(view.panel, {"what": "pick", "k": 0}, [])
    assert view.points.scene["chosen"] == 0


def test_an_arrow_leads_from_the_seeds_of_the_study_and_the_baseline_is_there_as_in_the_figure(tuned):
    scene = StudyView(tuned.folder, lambda _: None).points.scene
    data = study_front_data(tuned)
    places = {name: k for k, name in enumerate(data.tuned.names)}
    for point in scene["points"]:
        k = places[point["name"]]
        assert point["from"] == [data.tuned.x.mean[k], data.tuned.y.mean[k]]
    assert {point["name"] for point in scene["points"]} == set(data.keys)
    held = data.fresh.baseline
    expected = np.column_stack([data.fresh.x.mean, data.fresh.y.mean])[held].tolist() if held.any() else []
    assert scene["held"] == expected


def test_shares_of_the_levers_are_those_of_the_study_and_the_floor_is_apart(tuned):
    view = StudyView(tuned.folder, lambda _: None)
    table = tuned.importances.set_index("lever")
    for goal in view.goal.options:
        view.goal.value = goal
        shares = view.panel.scene["shares"]
        assert shares["floor"] == pytest.approx(table[goal]["(inert lever)"])
        named = {row["lever"]: row["share"] for row in shares["rows"]}
        assert named == pytest.approx(table[goal].drop("(inert lever)").to_dict())


def test_a_study_that_is_tuned_just_now_is_followed(unfinished, tuned):
    with held(unfinished):
        view = StudyView(unfinished, lambda _: None)
        before = len(view.results.all_trials)
        assert "tuned just now" in view.progress.value
        assert f"{before} of 24 trials" in view.progress.value
        assert view.panel.scene["shares"]["rows"] == []
        (unfinished / JOURNAL).write_bytes((tuned.folder / JOURNAL).read_bytes())
        view.look()
        assert "24 of 24 trials" in view.progress.value
        assert len(view.panel.scene["history"]["values"]) == 24
    view.stop()


def test_a_study_of_one_objective_has_no_picture_of_two(tmp_path):
    wb.tune(small(trials=6, objectives=["drain_cycles"], sampler={"random": {"seed": 1}}), tmp_path)
    view = StudyView(tmp_path, lambda _: None)
    assert view.points not in view.widget.children
    best = view.panel.scene["history"]["values"]
    assert best == sorted(best, reverse=True)


def test_a_page_opened_with_a_study_shows_it_and_a_click_loads_a_point(tuned):
    page = wb.dashboard(str(tuned.folder))
    saved = read_saved(str(tuned.folder))
    other = next(k for k, one in enumerate(tuned.best_trials) if one.point == saved.points[-1].id)
    page.study.points._on_message(page.study.points, {"what": "pick", "k": other}, [])
    names = page.opened.children[0].children[1]
    assert names.value == len(saved.points) - 1
    policies = [point.setup.policies for point in PairedRuns(page.sidebar.config()).points]
    assert policies == [saved.points[-1].baseline.policies, saved.points[-1].other.policies]
    assert "wb-mistake" not in page.status.value
    names.value = 0
    assert tuned.best_trials[page.study.chosen].point == saved.points[0].id
    page.close()


def test_a_page_opened_with_a_study_that_is_not_done_shows_the_front_so_far(unfinished):
    saved = read_saved(str(unfinished))
    assert "so far" in saved.title
    assert saved.points
    page = wb.dashboard(str(unfinished))
    assert "Dots: the front so far" in page.study.note.value
    page.close()
