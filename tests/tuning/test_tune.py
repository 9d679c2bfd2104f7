"""What a study finds: ordinary runs, a true front, failures as rows, fresh seeds before anything is best."""

import math

import numpy as np
import pytest

import workbench as wb
from tests.slow import thinned
from tests.tuning.small import FailsWhenWide, small, undisturbed
from workbench.errors import WorkbenchError
from workbench.experiments.store import Store
from workbench.tuning import tune


def stored(folder):
    store = Store(folder)
    try:
        return {row.id: row.measures for row in store.rows()}
    finally:
        store.close()


@pytest.mark.slow
def test_evaluations_are_the_runs_that_a_sweep_would_do(tmp_path):
    tune(small(), tmp_path / "tuned")
    choices = {
        "placement": {
            "vary": [
                "first_fit",
                "worst_fit",
                {"worst_fit": {"tie": "high"}},
                {"size_segregated_ends": {"threshold": {"vary": list(range(1, 17))}}},
            ]
        },
        "queue": {"vary": ["fifo_head_only", {"fifo_lookahead": {"k": {"vary": [1, 2, 3, 4]}}}]},
    }
    swept = {
        k: v for k, v in small(policy=choices).items() if k in ("engine", "machine", "workload", "policy", "seeds")
    }
    results = wb.run(swept)
    by_sweep = {row.id: row.measures for row in results.rows.values()}
    tuned = {run: m for run, m in stored(tmp_path / "tuned").items() if run in by_sweep}
    assert len(tuned) >= 20
    assert tuned == {run: by_sweep[run] for run in tuned}
    fresh = set(stored(tmp_path / "tuned")) - set(tuned)
    assert fresh  # the hold-out runs are on other seeds


def test_an_objective_is_the_mean_over_the_seeds():
    results = tune(small(trials=6))
    for trial in results.all_trials:
        point = trial.proposal.config
        runs = wb.run({**{k: small()[k] for k in ("engine", "workload", "seeds")}, **point})
        assert trial.values == (runs.table.drain_cycles.mean(), runs.table.mean_external_fragmentation.mean())


def beaten(row, rows):
    """By the words of the definition, every objective minimised."""
    return any(all(a <= b for a, b in zip(o, row)) and any(a < b for a, b in zip(o, row)) for o in rows)


def test_the_front_of_a_study_and_its_fresh_seeds():
    results = tune(small(trials=40))
    rows = [trial.values for trial in results.all_trials]
    assert set(results.trials.point_id[results.trials.front]) == {
        trial.point for trial in results.all_trials if not beaten(trial.values, rows)
    }
    assert results.holdout.seeds == [100, 101, 102]
    assert set(results.holdout.table.seed) == {100, 101, 102}
    means = results.pareto[["drain_cycles", "mean_external_fragmentation"]].to_numpy().tolist()
    assert results.pareto.best.tolist() == [not beaten(row, means) for row in means]
    for name in ("drain_cycles", "mean_external_fragmentation"):
        assert (results.pareto[f"{name}_low"] <= results.pareto[name]).all()
        assert (results.pareto[name] <= results.pareto[f"{name}_high"]).all()


def test_the_front_is_drawn_like_any_other_runs():
    from workbench.figures import figure

    results = tune(small(trials=40))
    drawn = figure("pareto").data(results.holdout, "drain_cycles", "mean_external_fragmentation")
    assert "first_fit, fifo_head_only" in drawn.panels[0].names
    assert len(drawn.panels[0].names) == len({point.id for point in results.holdout.points})


def test_the_front_is_compared_with_the_baseline_seed_by_seed():
    results = tune(small(trials=30, holdout_seeds={"first": 100, "count": 8}))
    table = results.holdout.table
    baseline = table[(table["policy.placement"] == "first_fit") & (table["policy.queue"] == "fifo_head_only")]
    row = results.pareto.iloc[0]
    point = results.front.points[0]
    own = table[table.run_id.isin({r.id for r in results.holdout.plan.runs() if r.point.id == point.id})]
    ratios = baseline.drain_cycles.to_numpy() / own.drain_cycles.to_numpy()
    assert row.drain_cycles_size == pytest.approx(np.exp(np.log(ratios).mean()), rel=1e-12)
    assert row.n == 8
    assert row.drain_cycles_size_low <= row.drain_cycles_size <= row.drain_cycles_size_high


def test_a_notebook_shows_the_point_to_take_and_its_table():
    html = (results := undisturbed()[0])._repr_html_()
    assert "20 trials; objectives: drain_cycles, mean_external_fragmentation" in html
    assert html.count("<li>") == len([*results.to_take, *results.trades])
    assert html.count("<caption") == 2 and "the one to take" in html and "<td>baseline</td>" in html
    lines = str(results).splitlines()
    assert lines[0] == "20 trials; objectives: drain_cycles, mean_external_fragmentation" and len(lines) <= 30
    assert repr(results) == str(results) and "baseline" in str(results) and max(map(len, lines)) <= 80


def test_a_failed_run_is_a_failed_trial_with_its_reason():
    study = small(
        policy={"placement": {"tune": [FailsWhenWide]}}, baseline=None, trials=12, objectives=["drain_cycles"]
    )
    results = tune(study)
    wide = results.trials["policy.placement.fails_when_wide.shift"] > 1
    assert 0 < wide.sum() < 12
    assert (results.trials.status == np.where(wide, "failed", "done")).all()
    assert all("seed 0: fails_when_wide" in error for error in results.trials.error[wide])
    assert results.trials.drain_cycles[wide].isna().all()
    assert results.any_failed
    assert results.pareto.best.all()
    assert set(results.pareto.policy) <= {"fails_when_wide", "fails_when_wide(shift=1)"}


def test_a_study_whose_trials_all_fail_says_so():
    study = small(policy={"placement": {"fails_when_wide": {"shift": {"tune": {"values": [2, 3]}}}}}, trials=4)
    results = tune(study)
    assert results.holdout is None
    with pytest.raises(WorkbenchError, match="all 2 trials failed; the first: seed 0: fails_when_wide"):
        _ = results.pareto
    assert "all 2 trials failed; the first: seed 0: fails_when_wide" in results._repr_html_()


def test_an_objective_that_is_no_number_fails_the_trial(monkeypatch):
    from workbench.runs import execution

    real = execution._execute_run

    def poisoned(each, task):
        row = real(each, task)
        return row._replace(measures={**row.measures, "drain_cycles": math.nan}) if task[2] == 1 else row

    monkeypatch.setattr(execution, "_execute_run", poisoned)
    results = tune(small(trials=3))
    assert set(results.trials.error) == {"seed 1: drain_cycles is not a finite number."}


def test_a_run_that_refused_fails_its_trial_with_the_reason(monkeypatch):
    """Of a node whose application was refused the makespan is missing, so that nobody is chosen for refusing."""
    from workbench.metrics import shared_memory
    from workbench.runs import execution

    real, drains = execution._execute_run, shared_memory.MEASURES["drain_cycles"]

    def refusing(each, task):
        row = real(each, task)
        return row._replace(measures={**row.measures, "drain_cycles": math.nan, "attempts": 2.0})

    monkeypatch.setattr(execution, "_execute_run", refusing)
    monkeypatch.setitem(shared_memory.MEASURES, "drain_cycles", drains._replace(refusals="attempts"))
    results = tune(small(trials=3))
    reason = "seed 0: drain_cycles is missing, as something was refused (attempts: 2)."
    assert set(results.trials.error) == {reason}


SAMPLERS = ["nsga2", "tpe", {"tpe": {"grouped": True, "together": 4}}, "random", "qmc"]


@pytest.mark.slow
@pytest.mark.parametrize("sampler", thinned(SAMPLERS, 2))
def test_every_sampler_proposes_the_same_again(sampler, capfd):
    first, second = tune(small(sampler=sampler)), tune(small(sampler=sampler))
    assert first.trials.equals(second.trials)
    assert first.trials.point_id.nunique() > 5
    other = tune(small(sampler={next(iter(sampler)) if isinstance(sampler, dict) else sampler: {"seed": 9}}))
    assert not first.trials.equals(other.trials)
    assert capfd.readouterr() == ("", "")


@pytest.mark.slow
def test_workers_do_not_change_what_is_proposed():
    assert tune(small(), workers=2).trials.equals(tune(small()).trials)


@pytest.mark.slow
def test_the_folder_opens_as_the_sweep_over_its_front(tmp_path):
    study_results = tune(small(), tmp_path / "out")
    results = wb.open_results(tmp_path / "out")
    assert set(results.table.run_id) == set(study_results.holdout.table.run_id)
    assert len(results.rows) == len(results.plan)
    assert (tmp_path / "out" / "trials.csv").read_text().count("\n") == 21
    assert (tmp_path / "out" / "front.csv").is_file()
    again = tune(tmp_path / "out" / "study.yaml")
    assert again.trials.equals(study_results.trials)
