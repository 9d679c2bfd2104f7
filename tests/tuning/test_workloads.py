"""A study of several workloads: one value a seed over all of them, and each alone in the end."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

import workbench as wb
from tests.tuning.small import Counts, small
from workbench.errors import InputError, StoreError
from workbench.statistics import over_workloads as over_members
from workbench.tuning import open_study, read_study, tune
from workbench.tuning.contrasts import SettingRuns
from workbench.tuning.objective_function import ObjectiveFunction

SIZES = [{"uniform": [1, 16]}, {"uniform": [8, 16]}]
TWO: dict[str, Any] = {
    "workload": {"synthetic": "random_workgroups", "count": 30, "size": {"vary": SIZES}},
    "objectives": ["drain_cycles", "mean_external_fragmentation"],
    "trials": 12,
    "holdout_seeds": {"first": 100, "count": 8},
}
"""Completion times are compared by ratio, fragmentation by difference."""


@pytest.fixture(scope="module")
def two(tmp_path_factory):
    return tune(small(**TWO), tmp_path_factory.mktemp("two") / "out")


def rows_of(results, trial, size):
    """The runs of a trial on one workload, as an ordinary sweep does them."""
    workload = {**small(**TWO)["workload"], "size": size}
    return wb.run({"engine": "shared_memory", "seeds": 2, **trial.proposal.config, "workload": workload}).table


def test_an_objective_is_one_value_a_seed_over_the_workloads(two):
    for trial in two.all_trials[:3]:
        tables = [rows_of(two, trial, size) for size in SIZES]
        times = np.array([table.drain_cycles for table in tables])
        assert trial.values[0] == pytest.approx(np.exp(np.log(times).mean(axis=0)).mean(), rel=1e-12)
        shares = np.array([table.mean_external_fragmentation for table in tables])
        assert trial.values[1] == pytest.approx(shares.mean(), rel=1e-12)


def test_names_of_workloads_are_their_choices():
    assert read_study(small(**TWO)).workload_names == ["uniform(1, 16)", "uniform(8, 16)"]
    regimes = {"vary": ["bimodal", {"regime": "small_uniform", "count": 20}]}
    assert read_study(small(workload=regimes)).workload_names == ["bimodal", "small_uniform, count 20"]
    assert read_study(small()).workload_names == [""]


def test_the_best_is_run_on_every_workload_on_fresh_seeds(two):
    assert len(two.holdout.points) >= 2 * len(two.front)
    table = two.by_workload
    assert len(table) == len(two.front) * 2 * 2
    row = table.iloc[0]
    first, other = (SettingRuns(two.holdout, [""]), two.front.points[0])
    assert row["mean"] == first.interval(other, two.study.objectives[0].measure).mean
    assert (two.folder / "workloads.csv").read_text().count("\n") == len(table) + 1
    best = wb.plan(two.best)
    assert len({point.setup.workload for point in best.points}) == 2


def test_the_comparison_over_workloads_is_that_of_the_statistics(two):
    for (place, name), one in two.front.decided.items():
        assert len(one.members) == 2
        assert one.verdict.comparisons == 3 * len(two.front.decided)
        assert math.isnan(one.verdict.p_direction)
        if name == "drain_cycles":
            pooled = over_members(one.contrast.members)
            assert one.verdict.of.size[:3] == pytest.approx(pooled.size[:3], rel=1e-9), place
            assert one.verdict.of.p_size == pytest.approx(pooled.p_size, rel=1e-6)
        else:
            each = np.array([member.differences for member in one.contrast.members])
            assert one.verdict.of.size.mean == pytest.approx(each.mean(), rel=1e-9)


def test_the_report_says_each_workload(two):
    lines = two.to_take
    objective = next(line for line in lines if line.startswith("    drain_cycles "))
    assert "of 2 workloads; " in objective
    place = lines.index(objective)
    assert [line.startswith(f"        on {name}: ") for line, name in zip(lines[place + 1 :], two.study.workload_names)]
    assert all(line.startswith("        on ") for line in lines[place + 1 : place + 3])


def test_it_goes_on_and_opens_as_any_other(two, tmp_path):
    again = open_study(two.folder)
    assert again.trials.equals(two.trials) and again.pareto.equals(two.pareto)
    tune(small(**TWO), tmp_path / "out", 5)
    assert tune(small(**TWO), tmp_path / "out").trials.equals(two.trials)
    watch = Counts()
    tune(small(**TWO), tmp_path / "out", progress=watch)
    assert watch.runs == []


@pytest.mark.slow
def test_workers_change_nothing(two):
    assert tune(small(**TWO), workers=2).trials.equals(two.trials)


def test_a_folder_of_other_workloads_is_refused(two):
    with pytest.raises(StoreError, match="holds a study of another workload"):
        tune(small(**{**TWO, "workload": {**TWO["workload"], "size": {"vary": SIZES[::-1]}}}), two.folder)


def test_a_constraint_holds_on_every_workload(two):
    means = np.array([[rows_of(two, t, size).drain_cycles.mean() for size in SIZES] for t in two.all_trials[:4]])
    bound = float(np.median(means.max(axis=1)))
    bounded = tune(
        small(
            **{**TWO, "objectives": ["mean_external_fragmentation"], "trials": 4},
            constraints={"drain_cycles": {"most": bound}},
        )
    )
    for trial in bounded.all_trials:
        each = [rows_of(bounded, trial, size).drain_cycles.mean() for size in SIZES]
        assert trial.limits == (pytest.approx(max(each)),)
        assert trial.feasible(bounded.study.constraints) == all(mean <= bound for mean in each)


def test_pruning_looks_at_all_workloads(monkeypatch):
    seen: list[Any] = []
    real = ObjectiveFunction._costs
    monkeypatch.setattr(ObjectiveFunction, "_costs", lambda *given: seen.append(len(given[1])) or real(*given))
    results = tune(small(**TWO, pruning={"after": 1, "margin": 0.0}))
    assert set(seen) == {2} and results.pruned


def test_another_workload_is_held_out():
    results = tune(small(**{**TWO, "trials": 4}), hold_out={"regime": "small_uniform", "count": 20})
    assert len({point.setup.workload for point in results.held_out.points}) == 1
    assert len(results.held_out.seeds) == len(results.report.seeds)


def test_the_same_workload_twice_is_refused():
    with pytest.raises(InputError, match=r"study: workload: bimodal is there twice\."):
        tune(small(workload={"vary": ["bimodal", "bimodal"]}, machine={"segments": 64}))


def test_a_failed_run_says_on_which_workload():
    wrong = {"placement": {"fails_when_wide": {"shift": {"tune": {"values": [0, 2]}}}}}
    results = tune(small(**{**TWO, "policy": wrong}))
    assert results.trials.status.tolist() == ["done", "failed"]
    assert " on " in results.all_trials[1].error.partition(": ")[0]


def test_figures_show_one_place_a_setting(two):
    from workbench.figures import study_figures

    drawn = study_figures()["pareto"].data(two)
    assert len(drawn.fresh.names) == len({*[p.id for p in two.front.points]}) + sum(
        point.id not in {p.id for p in two.front.points} for point in two.front.first_points
    )
