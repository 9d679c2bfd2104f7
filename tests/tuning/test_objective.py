"""A study as `optuna.Study`, and its objective under a sampler of the user's own."""

from __future__ import annotations

import math

import optuna
import pytest

import workbench as wb
from tests.tuning.small import FailsWhenWide, small
from workbench.errors import InputError, StoreError
from workbench.tuning import open_study, tune
from workbench.tuning.samplers import quiet

BOUNDED = small(
    objectives=["drain_cycles"],
    constraints={"mean_external_fragmentation": {"most": 0.17}},
    pruning={"after": 1, "margin": 0.0},
    sampler={"tpe": {"startup": 4}},
)
SAMPLERS = {
    "tpe": lambda: optuna.samplers.TPESampler(n_startup_trials=3, seed=4),
    "nsga2": lambda: optuna.samplers.NSGAIISampler(population_size=4, seed=4),
    "random": lambda: optuna.samplers.RandomSampler(seed=4),
}


@pytest.fixture(autouse=True)
def still():
    """Keep Optuna's log quiet."""
    with quiet():
        yield


def optimized(study, sampler, trials, **options):
    """Return a study of Optuna's that tried the objective of a study so often."""
    objective = wb.objective(study)
    made = optuna.create_study(directions=objective.directions, sampler=sampler)
    made.optimize(objective, n_trials=trials, **options)
    return made


def facts(trial):
    """Return the fields of a trial but its dates and the notes of its sampler."""
    return (
        trial.number,
        trial.state,
        trial.params,
        trial.distributions,
        trial.values,
        trial.user_attrs,
        trial.constraints,
    )


@pytest.mark.parametrize(
    ("ours", "theirs"),
    [
        ({"TPESampler": {"n_startup_trials": 3, "seed": 4}}, "tpe"),
        pytest.param({"RandomSampler": {"seed": 4}}, "random", marks=pytest.mark.slow),
    ],
)
def test_a_sampler_of_the_user_proposes_and_gets_what_a_study_with_that_sampler_does(ours, theirs):
    study = small(sampler=ours, constraints={"mean_external_fragmentation": {"most": 0.17}}, trials=12)
    made = optimized(study, SAMPLERS[theirs](), 12)
    assert [facts(trial) for trial in made.trials] == [facts(trial) for trial in tune(study).optuna_study.trials]


@pytest.mark.parametrize("sampler", ["nsga2", pytest.param("tpe", marks=pytest.mark.slow)])
def test_the_same_parameters_have_the_values_that_tune_gives_them(sampler):
    study = small(trials=12)
    values = {trial.point: trial.values for trial in tune(study).all_trials}
    made = optimized(study, SAMPLERS[sampler](), 0)
    for trial in tune(study).optuna_study.trials:
        made.enqueue_trial(trial.params)
    made.optimize(wb.objective(study), n_trials=12)
    assert {trial.user_attrs["point"]: tuple(trial.values) for trial in made.trials} == values


def test_a_sampler_that_needs_every_lever_in_every_trial_is_asked_about_all():
    levers = {
        name: {len(trial.params) for trial in optimized(small(), make(), 6).trials} for name, make in SAMPLERS.items()
    }
    assert levers["nsga2"] == levers["random"] == {5} and max(levers["tpe"]) < 5


def test_a_hopeless_trial_is_pruned_and_has_the_attributes_of_a_trial_of_tune():
    made = optimized(BOUNDED, SAMPLERS["random"](), 20)
    pruned = [trial for trial in made.trials if trial.state.name == "PRUNED"]
    assert pruned
    for trial in pruned:
        other = made.trials[trial.user_attrs["beaten_by"]]
        assert other.number < trial.number and other.state.name == "COMPLETE"
        assert all(excess <= 0 for excess in other.constraints.values())
    done = [trial for trial in made.trials if trial.state.name == "COMPLETE"]
    assert all(set(trial.constraints) == {"mean_external_fragmentation at most 0.17"} for trial in done)
    assert any(max(trial.constraints.values()) > 0 for trial in done)


def test_trials_of_another_study_of_optuna_give_no_trial_up():
    objective = wb.objective(BOUNDED)
    first, second = (optuna.create_study(directions=objective.directions) for _ in range(2))
    best = next(trial for trial in optimized(BOUNDED, SAMPLERS["random"](), 20).best_trials)
    first.enqueue_trial(best.params)
    first.optimize(objective, n_trials=1)
    for study, state in ((first, "PRUNED"), (second, "COMPLETE")):
        study.enqueue_trial({"policy.placement": "first_fit", "policy.queue": "fifo_head_only"})
        study.optimize(objective, n_trials=1)
        assert study.trials[-1].state.name == state


def test_a_trial_that_fails_says_why_and_the_others_go_on():
    wide = {"placement": {"tune": [{FailsWhenWide.name: {"shift": {"tune": {"values": [0, 2]}}}}]}}
    made = optimized(small(policy=wide), optuna.samplers.BruteForceSampler(), None)
    assert sorted(trial.state.name for trial in made.trials) == ["COMPLETE", "FAIL"]
    (failed,) = (trial for trial in made.trials if trial.state.name == "FAIL")
    assert failed.user_attrs["error"].startswith("seed 0: ")


@pytest.mark.slow
def test_threads_take_turns():
    study = small(trials=12)
    values = {trial.point: trial.values for trial in tune(study).all_trials}
    made = optimized(study, SAMPLERS["random"](), 8, n_jobs=3)
    assert sorted(trial.number for trial in made.trials) == list(range(8))
    both = {trial.user_attrs["point"]: tuple(trial.values) for trial in made.trials}
    assert all(values.get(point, one) == one for point, one in both.items())


def test_one_setting_needs_no_study_of_optuna():
    best = tune(BOUNDED).optuna_study.best_trial
    assert wb.objective(BOUNDED)(optuna.trial.FixedTrial(best.params)) == tuple(best.values)
    assert all(map(math.isfinite, best.values))


def test_a_folder_keeps_the_runs_and_is_held_until_it_is_closed(tmp_path):
    study = small(trials=4)
    params = [trial.params for trial in tune(study).optuna_study.trials]
    with wb.objective(study, tmp_path / "out") as objective:
        made = optuna.create_study(directions=objective.directions)
        made.enqueue_trial(params[0])
        made.optimize(objective, n_trials=1)
        with pytest.raises(StoreError, match="is in use by process"):
            wb.objective(study, tmp_path / "out")
    with wb.objective(study, tmp_path / "out") as again:
        again(optuna.trial.FixedTrial(params[0]))
        assert again.seconds == 0
    assert len(tune(study, tmp_path / "out").trials) == 4


@pytest.mark.parametrize(
    ("changed", "sentence"),
    [({"objectives": ["drain_cycle"]}, "unknown measure 'drain_cycle'"), ({"machine": {"segments": 8}}, "segments")],
)
def test_a_study_that_is_not_valid_is_refused_before_anything_is_written(tmp_path, changed, sentence):
    with pytest.raises(InputError, match=sentence):
        wb.objective(small(**changed), tmp_path / "out")
    assert not (tmp_path / "out").exists()


def test_the_study_of_optuna_has_every_trial_with_all_that_optuna_draws(tmp_path):
    tune(BOUNDED, tmp_path / "out", 7)
    results = tune(BOUNDED, tmp_path / "out")
    made, opened = results.optuna_study, open_study(tmp_path / "out").optuna_study
    assert made.study_name == "study" and made.metric_names == ["drain_cycles"]
    assert [one.name for one in made.directions] == ["MINIMIZE"]
    assert [facts(trial) for trial in opened.trials] == [facts(trial) for trial in made.trials]
    assert opened.trials[0].datetime_start == made.trials[0].datetime_start
    assert [facts(trial) for trial in tune(BOUNDED).optuna_study.trials] == [facts(trial) for trial in made.trials]
    statuses = {"COMPLETE": "done", "FAIL": "failed", "PRUNED": "pruned"}
    assert [statuses[trial.state.name] for trial in made.trials] == results.trials.status.tolist()
    assert {one.number for one in made.best_trials} >= {one.number for one in results.best_trials}
    feasible = [
        all(excess <= 0 for excess in trial.constraints.values()) and trial.values is not None for trial in made.trials
    ]
    assert feasible == results.trials.feasible.tolist()


def test_what_is_done_to_the_study_of_optuna_changes_no_file(tmp_path):
    results = tune(small(trials=4), tmp_path / "out")
    before = (tmp_path / "out" / "study.journal").read_bytes()
    for one in (results, open_study(tmp_path / "out")):
        one.optuna_study.optimize(wb.objective(small()), n_trials=1)
        assert len(one.optuna_study.trials) == 5
    assert (tmp_path / "out" / "study.journal").read_bytes() == before
    assert len(results.trials) == 4


def test_optuna_computes_and_draws_importances():
    from optuna.visualization.matplotlib import plot_param_importances

    results = tune(small(objectives=["drain_cycles"]))
    parts = optuna.importance.get_param_importances(results.optuna_study)
    assert parts and set(parts) <= {*results.trials.columns}
    axes = plot_param_importances(results.optuna_study)
    bars = {label.get_text(): bar.get_width() for label, bar in zip(axes.get_yticklabels(), axes.patches, strict=True)}
    assert bars == pytest.approx(parts)
    assert axes.get_legend_handles_labels()[1] == ["drain_cycles"]
