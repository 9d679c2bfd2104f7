"""The schema with which an editor completes a sweep file takes what the workbench takes."""

import copy
from pathlib import Path

import jsonschema
import pytest
import yaml

from tests.experiments.sweep_validator import sweep_validator

SWEEPS = sorted(Path(__file__).parents[2].glob("sweeps/[!t]*/**/*.yaml"))
SWEEP = {
    "engine": "shared_memory",
    "machine": {"segments": 128},
    "workload": {"synthetic": "random_workgroups", "size": {"uniform": [1, 32]}, "duration": {"exponential": 50}},
    "policy": {"placement": "first_fit"},
    "seeds": 200,
}


def changed(path: str, value: object) -> dict:
    message = copy.deepcopy(SWEEP)
    *folders, last = path.split(".")
    place: dict = message
    for key in folders:
        place = place[key]
    place[last] = value
    return message


@pytest.mark.slow
def test_the_schema_is_one():
    jsonschema.Draft202012Validator.check_schema(sweep_validator().schema)


@pytest.mark.parametrize("path", SWEEPS, ids=lambda path: path.stem)
def test_every_sweep_of_the_project_fits(path):
    sweep_validator().validate(yaml.safe_load(path.read_text()))


@pytest.mark.parametrize(
    ("path", "value"),
    [
        ("machine", "h100"),
        ("machine", {"preset": "h100", "segments": 64}),
        ("machine.segments", {"vary": [64, 128], "zip": "n"}),
        ("workload", "large_uniform"),
        ("workload", {"vary": ["large_uniform", {"file": "jobs.csv"}]}),
        ("workload.size", {"vary": [{"uniform": [1, 16]}, {"powers_of_two": [1, 64]}]}),
        ("workload.size.uniform", [1, {"vary": [16, 32, 64]}]),
        ("workload.duration.exponential", {"vary": [50, 100]}),
        ("workload.duration", {"correlated": {"law": {"uniform": [1, {"vary": [9, 99]}]}}}),
        ("workload.duration", {"correlated": {"rank_correlation": {"vary": [0, 1]}}}),
        ("workload.arrival", {"poisson_load": {"vary": [0.5, 0.9]}}),
        ("policy.placement", {"nearest_boundary": {"tie": {"vary": ["low", "high"]}}}),
        ("policy.placement", {"vary": ["first_fit", {"nearest_boundary": {"tie": "low"}}]}),
        ("seeds", [0, 3]),
        ("seeds", {"first": 0, "count": 1}),
        ("planned", 40),
        ("least_effect", {"drain_cycles": 5, "wear_gini": 0.02}),
    ],
)
def test_a_choice_may_stand_at_any_depth(path, value):
    sweep_validator().validate(changed(path, value))


@pytest.mark.parametrize(
    ("path", "value"),
    [
        ("machine", "h1000"),
        ("planned", 0),
        ("least_effect", {"drain_cycle": 5}),
        ("least_effect", {"drain_cycles": 0}),
        ("estimand", "mean"),
        ("looks", [20]),
        ("machine.segments", 1),
        ("machine.segments", {"vary": []}),
        ("workload.size.uniform", [1, {"varied": [16]}]),
        ("workload.size", {"unifrom": [1, 2]}),
        ("workload.sise", 4),
        ("policy.placement", "best"),
        ("policy.placement", {"nearest_boundary": {"tie": "middle"}}),
        ("seeds", 0),
        ("seeds", [-1]),
        ("seeds", {"first": -1, "count": 1}),
    ],
)
def test_what_is_wrong_does_not_fit(path, value):
    assert not sweep_validator().is_valid(changed(path, value))
