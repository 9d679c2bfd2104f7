"""Rivals are tuned with the trials and the seeds of the policy under test, and meet its best on fresh seeds."""

from __future__ import annotations

import json
from typing import Any

import pytest
import yaml

import workbench as wb
from tests.tuning.small import Counts, FailsWhenWide, small
from workbench.cli.main import main
from workbench.errors import InputError
from workbench.experiments.progress import Silent
from workbench.runs.run import run_id
from workbench.tuning import open_study, read_study, tune

UNDER_TEST: dict[str, Any] = {
    "policy": {
        "placement": {"size_segregated_ends": {"threshold": {"tune": {"most": 16}}}},
        "queue": {"fifo_lookahead": {"k": {"tune": {"least": 1, "most": 4}}}},
    },
    "rivals": ["best_fit", {"nearest_boundary": {"distance": {"tune": True}}}],
    "trials": 10,
    "sampler": {"tpe": {"seed": 5, "startup": 4}},
    "holdout_seeds": {"first": 100, "count": 8},
    "report_seeds": 8,
}


@pytest.fixture(scope="module")
def results(tmp_path_factory):
    return tune(small(**UNDER_TEST), tmp_path_factory.mktemp("rivals") / "out")


def test_a_rival_is_the_same_study_with_another_policy():
    study = read_study(small(**UNDER_TEST))
    assert list(study.rivals) == ["best_fit", "nearest_boundary"]
    for rival in study.rivals.values():
        assert (rival.trials, rival.sweep.seeds, rival.holdout_seeds) == (10, [0, 1], study.holdout_seeds)
        assert rival.sampler == study.sampler and rival.objectives == study.objectives
        assert rival.config["baseline"] == study.config["baseline"] and not rival.rivals
    changed = study.with_trials(3)
    assert {rival.trials for rival in changed.rivals.values()} == {3}


def test_a_rival_that_is_named_alone_has_its_levers_tuned(results):
    chosen = {trial.proposal.chosen["policy.placement.best_fit.tie"] for trial in results.rivals["best_fit"].all_trials}
    assert chosen == {"low", "high"}
    levers = set(results.rivals["nearest_boundary"].trials.columns)
    assert "policy.placement.nearest_boundary.distance" in levers
    assert "policy.placement.nearest_boundary.tie" not in levers


def test_a_rival_gets_as_many_trials_and_no_more(results):
    assert len(results.all_trials) == 10
    assert len(results.rivals["best_fit"].all_trials) == 8  # 2 ties x 4 looks ahead: all there are
    assert results.rivals["best_fit"].all_tried.startswith("8 different settings, all tried")


def test_a_rival_is_what_a_study_of_it_alone_comes_to(results):
    policy = {**UNDER_TEST["policy"], "placement": {"tune": ["best_fit"]}}
    assert tune(small(**{**UNDER_TEST, "rivals": None, "policy": policy})).trials.equals(
        results.rivals["best_fit"].trials
    )


def test_best_meets_best_on_seeds_that_no_choice_saw(results):
    points = {point.id for point in results.report.points}
    front = results.front
    rivals = [rival.front.points[rival.front.chosen].id for rival in results.rivals.values()]
    assert points >= {front.points[front.chosen].id, *rivals}
    assert results.report.seeds == list(range(108, 116))
    baseline = results.report.baseline_of(results.report.points[0])
    assert points == {front.points[front.chosen].id, *rivals, baseline.id}
    lines = results.to_take
    for name in results.rival_points:
        assert sum(name in line for line in lines) == 1
    comparisons = len(points) - 1  # the baseline and each rival against the best
    assert any(f"{2 * comparisons} comparisons)" in line for line in lines)


def test_opened_again_it_says_the_same(results):
    opened = open_study(results.folder)
    assert opened.to_take == results.to_take
    assert opened.rivals["best_fit"].trials.equals(results.rivals["best_fit"].trials)
    assert wb.open_study(results.folder / "rivals" / "best_fit").pareto.equals(results.rivals["best_fit"].pareto)


class Stops(Silent):
    """Interrupts a study after some runs."""

    def __init__(self, runs: int) -> None:
        self.left = runs

    def advance(self, row: Any) -> None:
        self.left -= 1
        if not self.left:
            raise KeyboardInterrupt


@pytest.mark.parametrize("runs", [9, 40, 60])
def test_an_interrupted_study_goes_on_with_its_rivals(results, tmp_path, runs):
    with pytest.raises(KeyboardInterrupt):
        tune(small(**UNDER_TEST), tmp_path / "out", workers=1, progress=Stops(runs))
    again = tune(small(**UNDER_TEST), tmp_path / "out")
    assert again.trials.equals(results.trials) and again.to_take == results.to_take
    watch = Counts()
    tune(small(**UNDER_TEST), tmp_path / "out", progress=watch)
    assert watch.runs == []


def test_a_rival_is_added_to_a_study_that_is_done(tmp_path):
    tune(small(**{**UNDER_TEST, "rivals": None}), tmp_path / "out")
    watch = Counts()
    results = tune(small(**{**UNDER_TEST, "rivals": ["best_fit"]}), tmp_path / "out", progress=watch)
    assert len(results.rivals["best_fit"].all_trials) == 8
    kept = {run_id(trial.point, seed) for trial in results.all_trials for seed in results.study.sweep.seeds}
    assert kept.isdisjoint(watch.runs)


def test_in_memory_and_with_policies_as_values():
    given = {**UNDER_TEST, "rivals": [{"placement": FailsWhenWide(shift=1)}, {"queue": "fifo_head_only"}]}
    results = tune(small(**given))
    assert list(results.rivals) == ["fails_when_wide", "fifo_head_only"]
    assert {name.split()[2].partition("(")[0].strip(",") for name in results.rival_points}
    tuned = results.rivals["fifo_head_only"].study.config["policy"]
    assert tuned["queue"] == {"tune": ["fifo_head_only"]} and "size_segregated_ends" in tuned["placement"]


def test_a_rival_without_a_done_trial_is_said_and_not_compared():
    results = tune(small(**{**UNDER_TEST, "rivals": [{"fails_when_wide": {"shift": 3}}]}))
    assert results.rivals["fails_when_wide"].holdout is None
    assert results.any_failed and results.rival_points == {}


@pytest.mark.slow
def test_a_rival_of_a_file_is_found_from_the_folder(tmp_path, monkeypatch):
    (tmp_path / "mine.py").write_text(
        "from workbench.policies.placement import Placement\n"
        "from workbench.structures.bitmaps import first_start\n\n\n"
        "class Mine(Placement):\n"
        "    def answer(see):\n"
        "        return first_start(see.free, see.length, 0)\n"
    )
    given = small(**{**UNDER_TEST, "rivals": ["mine.py:Mine"]})
    (tmp_path / "study.yaml").write_text(yaml.safe_dump(given))
    results = tune(tmp_path / "study.yaml", tmp_path / "out" / "study", workers=0)
    monkeypatch.chdir(tmp_path / "out")
    again = tune(tmp_path / "out" / "study" / "study.yaml", tmp_path / "out" / "study", workers=0)
    assert again.to_take == results.to_take == open_study(tmp_path / "out" / "study").to_take
    assert list(again.rivals) == ["mine"] and len(again.rivals["mine"].all_trials) == 4


def test_rivals_have_studies_of_their_own_in_a_database(tmp_path):
    import optuna

    place = f"sqlite:///{tmp_path / 'tuned.db'}"
    given = {**UNDER_TEST, "rivals": ["best_fit"], "storage": {"url": place, "study": "mine"}, "trials": 4}
    results = tune(small(**given), tmp_path / "out")
    assert tune(small(**given), tmp_path / "out").trials.equals(results.trials)
    assert set(optuna.study.get_all_study_names(place)) == {"mine", "mine_best_fit"}


def test_rivals_need_no_baseline():
    results = tune(small(**{**UNDER_TEST, "baseline": None, "rivals": ["best_fit"]}))
    assert results.report is not None and len(results.report.points) == 2
    assert any("the tuned best_fit" in line for line in results.to_take)


@pytest.mark.parametrize(
    ("rivals", "sentence"),
    [
        ("best_fit", "study: rivals must be a list of policies, such as [best_fit]. Got 'best_fit'."),
        (["bestfit"], "study: rivals[0]: unknown placement policy 'bestfit'"),
        (["best_fit", {"best_fit": {}}], "study: rivals[1] names best_fit twice; write one best_fit with tune at its"),
        ([{"placement": "bestfit"}], "unknown placement policy 'bestfit'"),
        ([{"best_fit": {"tye": "low"}}], "'tye'; there are tie. Did you mean tie?"),
    ],
)
def test_what_is_no_rival_is_one_sentence(tmp_path, rivals, sentence):
    with pytest.raises(InputError) as refused:
        tune(small(**{**UNDER_TEST, "rivals": rivals}), tmp_path / "out")
    assert sentence in str(refused.value) and "\n" not in str(refused.value)
    assert not (tmp_path / "out").exists()


def test_the_command_prints_them(tmp_path, capsys, monkeypatch):
    monkeypatch.setenv("COLUMNS", "300")
    (tmp_path / "rivals.yaml").write_text(yaml.safe_dump(small(**{**UNDER_TEST, "rivals": ["best_fit"]})))
    assert main(["tune", str(tmp_path / "rivals.yaml"), "--out", str(tmp_path / "out")]) == 0
    printed = capsys.readouterr().out
    assert "rivals, each tuned in at most 10 trials on the same seeds:\n    best_fit: its best is trial " in printed
    assert "the tuned best_fit" in printed
    assert main(["tune", str(tmp_path / "rivals.yaml"), "--out", str(tmp_path / "out"), "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["rivals"]["best_fit"]["trials"] == 8
