"""A study of finitely many settings stops when all of them were tried, and says so."""

from __future__ import annotations

import dataclasses
from typing import Any

import pytest
import yaml

from tests.tuning.small import Counts, FailsWhenWide, small
from workbench.cli.main import main
from workbench.levers import Lever
from workbench.tuning import open_study, read_study, tune
from workbench.tuning import study as study_of_trials
from workbench.tuning.dimension import Dimension, dimension
from workbench.tuning.space import size

TWO: dict[str, Any] = {
    "policy": {"placement": {"tune": ["first_fit", "last_fit"]}},
    "baseline": {"placement": "first_fit"},
}
"""Two settings, as in optuna/optuna#4237: the study went through them again and again."""
CONDITIONAL = {
    "policy": {
        "placement": {"tune": ["first_fit", {"worst_fit": {"tie": {"tune": True}}}]},
        "queue": {"tune": ["fifo_head_only", {"fifo_lookahead": {"k": {"tune": {"least": 1, "most": 3}}}}]},
    }
}
"""Three placements (one with two ties), four queues: twelve settings."""
SAMPLERS: list[Any] = [
    None,
    "random",
    {"nsga2": {"population": 40}},
    {"tpe": {"startup": 2, "together": 4}},
    "RandomSampler",
]


def two(**changed: Any) -> dict[str, Any]:
    return small(**{**TWO, "trials": 40, "holdout_seeds": 2, **changed})


@pytest.mark.parametrize("sampler", SAMPLERS, ids=str)
def test_two_settings_are_tried_once_and_the_study_stops(sampler):
    watch = Counts()
    results = tune(two(sampler=sampler), progress=watch)
    assert results.trials["policy.placement"].tolist() == ["first_fit", "last_fit"]
    assert results.all_tried == "2 different settings, all tried: the study stopped after 2 of 40 trials"
    assert len(watch.runs) == len(set(watch.runs))


@pytest.mark.parametrize("sampler", SAMPLERS[:3], ids=str)
@pytest.mark.parametrize("trials", [12, 400])
def test_settings_of_policies_that_are_not_chosen_do_not_count(sampler, trials):
    results = tune(small(**CONDITIONAL, sampler=sampler, trials=trials, seeds=1, holdout_seeds=2))
    chosen = [trial.proposal.setting for trial in results.all_trials]
    assert len(chosen) == len(set(chosen)) == 12
    stopped = "" if trials == 12 else ": the study stopped after 12 of 400 trials"
    assert results.all_tried == f"12 different settings, all tried{stopped}"


def test_a_study_that_has_settings_left_goes_on():
    results = tune(small(**CONDITIONAL, trials=8, holdout_seeds=2))
    assert (len(results.trials), results.all_tried) == (8, "")


def test_it_goes_on_from_its_folder_and_does_nothing_more(tmp_path):
    whole = tune(two(), tmp_path / "out")
    watch = Counts()
    assert tune(two(), tmp_path / "out", 90, progress=watch).trials.equals(whole.trials)
    assert watch.runs == []
    assert open_study(tmp_path / "out").all_tried == whole.all_tried


@pytest.mark.parametrize("kept", [0, 5, 11])
def test_an_interrupted_study_tries_the_rest_in_the_same_order(tmp_path, kept):
    study = small(**CONDITIONAL, sampler="random", trials=40, seeds=1, holdout_seeds=2)
    whole = tune(study)
    if kept:
        assert len(tune(study, tmp_path / "out", kept).trials) == kept
    assert tune(study, tmp_path / "out").trials.equals(whole.trials)


def test_what_a_sampler_tried_before_there_were_trials_for_all_is_not_tried_again(tmp_path):
    study = small(**CONDITIONAL, sampler="random", trials=7, seeds=1, holdout_seeds=2)
    before = tune(study, tmp_path / "out")
    watch = Counts()
    after = tune(study, tmp_path / "out", 400, progress=watch)
    assert after.trials.point_id[:7].tolist() == before.trials.point_id.tolist()
    assert len(after.trials) == 7 + 12 - before.different_settings
    assert after.different_settings == 12 and len(watch.runs) == len(set(watch.runs))


def test_repeats_that_are_kept_stay(tmp_path, monkeypatch):
    monkeypatch.setattr(study_of_trials, "size", lambda space: 1 << 60)
    tune(two(sampler="random"), tmp_path / "out", 9)
    monkeypatch.undo()
    results = tune(two(sampler="random"), tmp_path / "out")
    assert len(results.trials) == 9
    assert results.all_tried == "2 different settings, all tried: the study stopped after 9 of 40 trials"


@pytest.mark.slow
def test_workers_do_not_change_where_it_stops():
    assert tune(two(), workers=2).trials.equals(tune(two()).trials)


def test_settings_that_fail_or_break_a_constraint_are_tried_too():
    broken = tune(two(constraints={"drain_cycles": {"most": 0}}))
    assert broken.all_tried and broken.holdout is None
    wide = {"placement": {"tune": [{FailsWhenWide.name: {"shift": {"tune": {"values": [0, 2]}}}}]}}
    failing = tune(two(policy=wide))
    assert failing.trials.status.tolist() == ["done", "failed"]
    assert failing.all_tried.startswith("2 different settings, all tried")


def in_order(axis: Dimension) -> list[Any]:
    """Every value of an axis, each as Optuna can keep it."""
    assert all(
        axis.distribution()._contains(axis.distribution().to_internal_repr(axis.parameter(v)))
        for v in axis.every_value()
    )
    return axis.every_value()


@pytest.mark.parametrize(
    ("wish", "count"),
    [(True, 64), ({"least": 3, "most": 10, "step": 4}, 2), ({"values": [1, 64]}, 2), ({"scale": "log"}, 64)],
)
def test_how_many_values_an_axis_has(wish, count):
    axis = dimension(Lever("depth", "integer", 4, least=1, most=64), wish, "p")
    assert size(axis) == len(in_order(axis)) == count


def test_values_of_powers_and_steps():
    power = dimension(Lever("width", "integer", 8, least=0, most=64, scale="power_of_two"), True, "p")
    assert in_order(power) == [0, 1, 2, 4, 8, 16, 32, 64] and size(power) == 8
    share = Lever("share", "number", 0.5, least=0, most=1, step=0.1)
    assert in_order(dimension(share, True, "p")) == [0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1]
    assert size(dimension(dataclasses.replace(share, step=None), True, "p")) == float("inf")
    assert in_order(dimension(share, {"least": 1}, "p")) == [1]
    assert in_order(dimension(dataclasses.replace(share, step=None), {"least": 1}, "p")) == [1]


def test_the_size_of_a_space_is_that_of_its_branches():
    assert size(read_study(small(**CONDITIONAL)).space) == 12
    assert size(read_study("sweeps/tune/dispatch.yaml").space) == float("inf")


def test_the_command_says_it(tmp_path, capsys, monkeypatch):
    """The study of `shared/inputs-3/tune`: two settings, 12 trials, 10 repeats, and no word of it."""
    monkeypatch.setenv("COLUMNS", "200")
    (tmp_path / "two.yaml").write_text(yaml.safe_dump(two(trials=12, sampler={"tpe": {"seed": 1}})))
    assert main(["tune", str(tmp_path / "two.yaml"), "--out", str(tmp_path / "out")]) == 0
    printed = capsys.readouterr().out
    assert "2 different settings, all tried: the study stopped after 2 of 12 trials" in printed
    assert main(["tune", str(tmp_path / "two.yaml"), "--out", str(tmp_path / "out"), "--json"]) == 0
    assert '"all_tried": "2 different settings, all tried' in capsys.readouterr().out


def test_the_command_says_how_many_trials_were_repeats(tmp_path, capsys):
    (tmp_path / "some.yaml").write_text(
        yaml.safe_dump(small(**CONDITIONAL, trials=11, sampler={"random": {"seed": 1}}))
    )
    main(["tune", str(tmp_path / "some.yaml"), "--out", str(tmp_path / "out")])
    different = len({tuple(t.proposal.chosen.items()) for t in open_study(tmp_path / "out").all_trials})
    assert different < 11 and f"11 trials of {different} different settings (0 failed)" in capsys.readouterr().out
