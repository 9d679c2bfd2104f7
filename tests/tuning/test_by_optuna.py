"""Optuna's own names of samplers and of their arguments, in a study file."""

from __future__ import annotations

import optuna
import pytest

from tests.tuning.small import small, undisturbed
from workbench.errors import InputError
from workbench.tuning import read_study, tune
from workbench.tuning.samplers import ALIKE, OF_A_SWEEP

NUMERIC = {"policy": {"placement": "first_fit", "queue": {"fifo_lookahead": {"k": {"tune": {"least": 1, "most": 40}}}}}}
ONE = {**NUMERIC, "objectives": ["drain_cycles"]}


def test_every_sampler_of_optuna_is_taken_or_refused_by_name():
    public = {name for name in optuna.samplers.__all__ if name.endswith("Sampler") and not name.startswith("Base")}
    assert public == {*ALIKE, *OF_A_SWEEP}


def test_the_same_sampler_by_either_name_proposes_the_same_trials():
    ours, _ = undisturbed()
    results = tune(small(sampler={"NSGAIISampler": {"population_size": 6, "seed": 3}}))
    assert [t.proposal for t in results.all_trials] == [t.proposal for t in ours.all_trials]
    assert [t.values for t in results.all_trials] == [t.values for t in ours.all_trials]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("sampler", "changed"),
    [
        ("RandomSampler", {}),
        ({"TPESampler": {"n_startup_trials": 3, "multivariate": True, "group": True, "seed": 5}}, {}),
        ({"NSGAIIISampler": {"population_size": 4, "dividing_parameter": 2}}, {}),
        ({"QMCSampler": {"qmc_type": "halton", "scramble": True}}, {}),
        ({"CmaEsSampler": {"n_startup_trials": 2}}, ONE),
    ],
    ids=str,
)
def test_a_study_goes_on_as_if_it_had_never_stopped(sampler, changed, tmp_path):
    study = small(sampler=sampler, trials=9, holdout_seeds=2, **changed)
    whole = tune(study)
    assert not whole.failures
    tune(study, tmp_path / "r", 5)
    assert [t.values for t in tune(study, tmp_path / "r", 9).all_trials] == [t.values for t in whole.all_trials]


def test_every_argument_is_written_down_and_a_seed_that_is_not_given_is_0():
    sampler = read_study(small(sampler={"TPESampler": {"n_ei_candidates": 9}})).sampler
    assert (sampler.plain()["n_ei_candidates"], sampler.plain()["n_startup_trials"], sampler.plain()["seed"]) == (
        9,
        10,
        0,
    )
    assert "gamma" not in sampler.plain()


@pytest.mark.parametrize(
    ("changed", "sentence"),
    [
        ({"sampler": "TPESamplr"}, "study: sampler: unknown sampler 'TPESamplr'; there are CmaEsSampler, GPSampler,"),
        ({"sampler": "TPESamplr"}, "Did you mean TPESampler?"),
        (
            {"sampler": {"NSGAIISampler": {"population": 9}}},
            "study: sampler.NSGAIISampler: unknown argument 'population'",
        ),
        ({"sampler": {"NSGAIISampler": {"population": 9}}}, "Did you mean population_size?"),
        (
            {"sampler": {"TPESampler": {"n_startup_trials": "ten"}}},
            "study: sampler.TPESampler.n_startup_trials must be int. Got 'ten'.",
        ),
        ({"sampler": {"TPESampler": {"group": 1}}}, "study: sampler.TPESampler.group must be bool. Got 1."),
        (
            {"sampler": {"TPESampler": {"gamma": 3}}},
            "study: sampler.TPESampler.gamma takes an object of Python's, which a study file cannot hold; leave",
        ),
        (
            {"sampler": {"TPESampler": {"seed": None}}},
            "study: sampler.TPESampler.seed must be a whole number from 0 to",
        ),
        ({"sampler": {"TPESampler": 3}}, "study: sampler.TPESampler must be a mapping of arguments. Got 3."),
        ({"sampler": {"NSGAIISampler": {"population_size": 1}}}, "study: sampler.NSGAIISampler: Optuna refuses it: "),
        (
            {"sampler": {"QMCSampler": {"qmc_type": "sobl"}}},
            "study: sampler.QMCSampler: Optuna refuses it: The `qmc_type=",
        ),
        ({"sampler": "GridSampler"}, "study: sampler: GridSampler has no place in a study: a sweep runs every"),
        ({"sampler": "CmaEsSampler"}, "study: sampler CmaEsSampler serves one objective. Got 2; nsga2,"),
    ],
)
def test_what_optuna_does_not_take_is_one_sentence(tmp_path, changed, sentence):
    with pytest.raises(InputError) as refused:
        tune(small(**changed), tmp_path / "out")
    assert sentence in str(refused.value)
    assert "\n" not in str(refused.value)
    assert not (tmp_path / "out").exists()
