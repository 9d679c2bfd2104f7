"""TPE proposes the levers of a chosen policy together, from one model, and asks nothing about the others."""

from __future__ import annotations

import optuna
import pytest

from tests.tuning.small import small
from workbench.tuning import read_study
from workbench.tuning.optuna_extensions import TpeByPolicy
from workbench.tuning.samplers import Tpe, quiet
from workbench.tuning.space import groups
from workbench.tuning.study import proposed

STUDY = small(
    policy={
        "placement": {
            "tune": [
                "first_fit",
                {"nearest_boundary": {"distance": {"tune": True}, "tie": {"tune": True}}},
                {"size_segregated_ends": {"threshold": {"tune": {"most": 16}}}},
            ]
        },
        "queue": {"tune": ["fifo_head_only", {"fifo_lookahead": {"k": {"tune": {"least": 1, "most": 4}}}}]},
    },
    objectives=["drain_cycles"],
    sampler={"tpe": {"startup": 5}},
)


def test_the_levers_of_a_policy_are_one_group():
    results = [[axis.path for axis in group] for group in groups(read_study(STUDY).space)]
    nearest = "policy.placement.nearest_boundary"
    assert [group for group in results if group] == [
        ["policy.placement", "policy.queue"],
        [f"{nearest}.distance", f"{nearest}.tie"],
        ["policy.placement.size_segregated_ends.threshold"],
        ["policy.queue.fifo_lookahead.k"],
    ]


def test_a_trial_costs_a_model_for_each_policy_that_has_levers(monkeypatch):
    study, requests = read_study(STUDY), []
    real = TpeByPolicy.sample_relative

    def counting(self, asker, trial, space):
        requests.append((trial.number, tuple(space)))
        return real(self, asker, trial, space)

    monkeypatch.setattr(TpeByPolicy, "sample_relative", counting)
    with quiet():
        asker = optuna.create_study(sampler=study.sampler.make(study.space))
        for k in range(40):
            trial = asker.ask()
            proposed(study, lambda dimension, trial=trial: dimension.ask(trial))
            asker.tell(trial, float(k * 7 % 13))
    nearest = 0
    for trial in asker.trials[10:]:
        models = [names for number, names in requests if number == trial.number]
        assert models[0] == ("policy.placement", "policy.queue")
        drawn = [name for names in models for name in names]
        assert sorted(drawn) == sorted(trial.params)
        nearest += trial.params["policy.placement"] == "nearest_boundary"
        assert len(models) == 1 + sum(
            [
                trial.params["policy.placement"] != "first_fit",
                trial.params["policy.queue"] != "fifo_head_only",
            ]
        )
    assert nearest > 3


@pytest.mark.parametrize(("levers", "kind"), [({}, TpeByPolicy), ({"grouped": False}, optuna.samplers.TPESampler)])
def test_it_may_be_left_to_optuna(levers, kind):
    with quiet():
        assert type(Tpe(**levers).make(read_study(STUDY).space)) is kind
