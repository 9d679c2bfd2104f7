"""Hopeless trials are given up after a few seeds; nothing else changes, and a study goes on with it to the bit."""

from __future__ import annotations

import pytest

from tests.tuning.small import small
from tests.tuning.test_resume import Counts, DiesAt, in_a_child
from workbench.experiments.store import Store
from workbench.tuning import tune

RULE = {"after": 2, "margin": 0.01}
SAMPLERS = [{"nsga2": {"population": 6, "seed": 3}}, {"tpe": {"startup": 4}}, {"random": {"together": 5}}]


def study(**changed):
    return small(**{"seeds": 5, "trials": 30, "pruning": RULE, "objectives": ["drain_cycles", "wear_cv"], **changed})


def rows(folder):
    store = Store(folder)
    try:
        return {(row.point, row.seed): row.measures for row in store.rows()}
    finally:
        store.close()


@pytest.mark.slow
def test_who_is_given_up_is_beaten_on_every_first_seed_by_a_trial_of_the_front_before_it(tmp_path):
    results = tune(study(), tmp_path / "out")
    kept, names = rows(tmp_path / "out"), ("drain_cycles", "wear_cv")
    assert results.pruned and not results.failures
    for trial in results.all_trials:
        beaten = []
        for other in results.all_trials[: trial.number // 6 * 6]:
            if other.values is None:
                continue
            pairs = [(kept[other.point, seed][n], kept[trial.point, seed][n]) for seed in (0, 1) for n in names]
            beaten.append(all(b - a > 0.01 * abs(a) for a, b in pairs))
        assert (trial.status == "pruned") == any(beaten), trial.number


@pytest.mark.slow
def test_those_that_are_not_given_up_rest_on_all_seeds_and_those_that_are_on_few(tmp_path):
    results = tune(study(sampler={"random": {"together": 5, "seed": 2}}), tmp_path / "out")
    without = tune(study(sampler={"random": {"together": 5, "seed": 2}}, pruning=False))
    done = results.trials.status == "done"
    assert (results.trials.point_id == without.trials.point_id).all()
    assert results.trials[done].drain_cycles.equals(without.trials[done].drain_cycles)
    kept = rows(tmp_path / "out")
    finished = {trial.point for trial in results.all_trials if trial.values is not None}
    given_up = {trial.point for trial in results.pruned} - finished
    assert given_up
    assert all({seed for point, seed in kept if point == lost and seed < 100} == {0, 1} for lost in given_up)
    assert results.trials.error[~done].str.fullmatch(r"given up: trial \d+ beats it in every objective\.").all()
    assert not results.any_failed


@pytest.mark.slow
@pytest.mark.parametrize("sampler", SAMPLERS)
@pytest.mark.parametrize("runs", [3, 31, 52])
def test_a_killed_study_that_prunes_goes_on_to_the_bit(tmp_path, sampler, runs):
    whole, every = Counts(), Counts()
    expected = tune(study(sampler=sampler), progress=whole)
    assert in_a_child(lambda: tune(study(sampler=sampler), tmp_path / "out", progress=DiesAt(runs)))
    resumed = tune(study(sampler=sampler), tmp_path / "out", progress=every)
    assert resumed.trials.equals(expected.trials)
    assert len(every.runs) == len(set(every.runs)) == len(whole.runs) - runs


def test_pruning_is_part_of_what_a_study_is(tmp_path):
    from workbench.errors import StoreError

    tune(study(), tmp_path / "out", 3)
    with pytest.raises(StoreError, match="holds a study of another pruning"):
        tune(study(pruning={"after": 1}), tmp_path / "out")
