"""Ranges anywhere in a sweep: what is drawn, how it multiplies with policies, and what is refused."""

from __future__ import annotations

import json

import pytest
import yaml

import workbench as wb
from tests.experiments.designs.sweeps import PATHS, one_range, sweep
from tests.experiments.sweep_validator import sweep_validator
from workbench.cli.main import main
from workbench.errors import InputError
from workbench.experiments.designs import draw, with_choices
from workbench.experiments.plan import make_plan
from workbench.experiments.sweep import read_sweep
from workbench.levers import lever
from workbench.policies.placement import Placement


def planned(message):
    return make_plan(read_sweep(message))


def test_every_range_is_drawn_with_the_lever_that_stands_there():
    drawn = draw(read_sweep(sweep()))
    assert drawn.says() == (
        "latin_hypercube(points=16, seed=1): 16 points over machine.segments 64 to 256; "
        "workload.size.uniform[1] 8 to 64 (log); workload.arrival.poisson_load 0.3 to 1.2 (step 0.05); "
        "policy.placement.nearest_boundary.tie low, high, alternate; policy.queue.fifo_lookahead.k 1 to 8"
    )
    assert [axis.path for axis in drawn.axes] == PATHS


def test_a_point_takes_its_values_from_one_row_and_policies_multiply():
    drawn, plan = draw(read_sweep(sweep())), planned(sweep())
    ours = [point for point in plan.points if point.baseline is not None]
    assert [tuple(point.coordinates[path] for path in PATHS) for point in ours] == drawn.rows
    by_id = {point.id: point for point in plan.points}
    shared = [path for path in PATHS if not path.startswith("policy.placement")]
    for point in ours:
        baseline = by_id[point.baseline]
        assert baseline.coordinates["policy.placement"] == "first_fit"
        assert [baseline.coordinates[path] for path in shared] == [point.coordinates[path] for path in shared]


def test_lists_that_are_not_ranges_multiply_with_the_design():
    plan = planned(one_range({"from": 64, "to": 128}, policy={"placement": {"vary": ["first_fit", "best_fit"]}}))
    drawn = {(point.coordinates["machine.segments"], point.coordinates["policy.placement"]) for point in plan.points}
    assert len(drawn) == len(plan.points) == 8


def test_equal_rows_are_one_point():
    result = draw(read_sweep(one_range({"from": 64, "to": 65}, design={"random": 50})))
    assert (len(result.rows), len(result.different)) == (50, 2)
    assert "50 points, 2 of them different, over" in result.says()
    assert len(planned(one_range({"from": 64, "to": 65}, design={"random": 50})).points) == 2


def test_a_range_with_a_count_needs_no_design_and_multiplies():
    config = one_range({"from": 64, "to": 128, "count": 3}, design=None)
    del config["design"]
    config["policy"] = {"queue": {"fifo_lookahead": {"k": {"vary": {"from": 1, "to": 9, "count": 2}}}}}
    results = [tuple(point.coordinates.values()) for point in planned(config).points]
    assert results == [(64, 1), (64, 9), (96, 1), (96, 9), (128, 1), (128, 9)]


@pytest.mark.parametrize(
    ("keys", "path"),
    [
        ({"options": {"allocs_per_cycle": {"vary": {"from": 1, "to": 4}}}}, "options.allocs_per_cycle"),
        ({"workload": {"regime": "bimodal", "count": {"vary": {"from": 10, "to": 20}}}}, "workload.count"),
        (
            {"workload": {"random_workgroups": {"duration": {"exponential": {"vary": {"from": 5, "to": 9}}}}}},
            "workload.random_workgroups.duration.exponential",
        ),
        (
            {"workload": {"synthetic": "random_workgroups", "duration": {"vary": {"from": 5, "to": 9}}}},
            "workload.duration",
        ),
        (
            {"policy": {"placement": {"size_segregated_ends": {"threshold": {"vary": {"to": 9}}}}}},
            "policy.placement.size_segregated_ends.threshold",
        ),
        ({"policy": {"placement": {"vary": {"any_of": ["first_fit", "best_fit"]}}}}, "policy.placement"),
    ],
)
def test_a_range_may_stand_at_any_lever(keys, path):
    config = one_range(True, design={"random": 6}, **keys)
    config["machine"] = {"segments": 128}
    plan = planned(config)
    assert [axis.path for axis in draw(plan.sweep).axes] == [path]
    assert 1 < len(plan.points) <= 6


def test_a_range_of_a_dispatcher_and_of_a_list_of_numbers():
    config = {
        "engine": "dispatch",
        "workload": {"synthetic": "random_groups", "count": 20, "independent": {"vary": True}},
        "policy": {"choice": {"most_residual": {"weights": [{"vary": {"from": 0, "to": 4}}, 1, 1, 1, 1]}}},
        "design": {"sobol": {"points": 4, "seed": 2}},
    }
    result = draw(read_sweep(config))
    assert [axis.says() for axis in result.axes] == [
        "workload.independent 0 to 1 (step 0.05)",
        "policy.choice.most_residual.weights[0] 0 to 4",
    ]
    assert all(isinstance(row[1], float) for row in result.rows)


class Leaning(Placement):
    lean: int = lever(0, least=-8, most=8, description="to which side")

    def answer(see):
        return -1


def test_a_policy_of_ones_own_has_ranges_too():
    config = one_range({"any_of": [64]}, policy={"placement": {"leaning": {"lean": {"vary": True}}}})
    assert [axis.says() for axis in draw(read_sweep(config)).axes][1] == "policy.placement.leaning.lean -8 to 8"


def test_what_has_no_range_is_left_as_it_is():
    message = read_sweep({"engine": "shared_memory", "workload": {"vary": ["bimodal", {"file": "x.csv"}]}})
    assert with_choices(message)["workload"] == {"vary": ["bimodal", {"file": "x.csv"}]}
    assert draw(message) is None


@pytest.mark.parametrize(
    ("said", "sentence"),
    [
        (
            {**one_range({"from": 64}), "design": None},
            "sweep: machine.segments varies over a range without a design; say which points are drawn, such as design: "
            "{latin_hypercube: {points: 64, seed: 1}}, or how many values it has, vary: {count: 5}.",
        ),
        (one_range([64, 128]), "sweep: design has no range to draw from; write vary: {from: , to: } at a lever"),
        (one_range({"to": 5000}), "machine.segments.vary.to must be a whole number from 2 to 4096. Got 5000."),
        (
            one_range({"from": 1}),
            "machine.segments.vary.from must be a whole number from 2 to 4096. Got 1. Nearest: 2.",
        ),
        (
            {**one_range(False), "design": None},
            "sweep: machine.segments.vary must be a list of at least one choice. Got False.",
        ),
        (
            {**one_range(True), "machine": {"segments": {"vary": True, "zip": "a"}}},
            "sweep: machine.segments varies over a range, which takes no zip: its design steps by itself.",
        ),
        (
            {**one_range(True), "machine": {"segmnts": {"vary": True}}},
            "sweep: machine.segmnts is no lever with a range of its own; give a list of values",
        ),
        (one_range(True, design={"sobol": {"points": 3}}), "design.sobol.points must be a power of two"),
        (one_range({"from": 2, "to": 10}), "workload.size must draw at most"),
    ],
)
def test_what_cannot_be_drawn_is_one_sentence(said, sentence):
    with pytest.raises(InputError) as refused:
        planned(said)
    assert sentence in str(refused.value)
    assert "\n" not in str(refused.value)


def test_a_sweep_with_ranges_runs_is_kept_and_is_opened_again(tmp_path):
    results = wb.run(sweep(), tmp_path / "r", workers=1)
    assert not results.failures
    assert wb.open_results(tmp_path / "r").table.equals(results.table)


@pytest.mark.slow
@pytest.mark.parametrize(
    "vary",
    [True, {"from": 8}, {"from": 8, "to": 64, "scale": "log"}, {"count": 4}, {"any_of": [1, 2]}, [64, 128]],
)
def test_the_schema_takes_what_the_reader_takes(vary):
    sweep_validator().validate(one_range(vary))


@pytest.mark.parametrize("vary", [False, {"form": 8}, {"scale": "cubic"}, {"count": 1}, {"any_of": []}, []])
def test_the_schema_refuses_what_the_reader_refuses(vary):
    assert not sweep_validator().is_valid(one_range(vary))


def test_plan_says_what_is_drawn(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "s.yaml").write_text(yaml.safe_dump(one_range({"from": 64, "to": 128}, seeds=3)))
    assert main(["plan", "s.yaml"]) == 0
    assert capsys.readouterr().out.splitlines() == [
        "sobol(points=4): 4 points over machine.segments 64 to 128",
        "4 points x 3 seeds = 12 runs, 0 of them kept",
    ]
    assert main(["plan", "s.yaml", "--json"]) == 0
    output = json.loads(capsys.readouterr().out)["design"]
    assert output["ranges"] == [{"path": "machine.segments", "says": "machine.segments 64 to 128"}]
    assert (output["points"], output["different"]) == (4, 4)
