"""There is one class of results: `workbench.Results`, in whose hands ever they are."""

from __future__ import annotations

import pickle

import pandas as pd

import workbench as wb
from workbench.experiments.plan import make_plan
from workbench.experiments.results import Results, gather
from workbench.experiments.saved_results import run_kept
from workbench.experiments.stop_rule import EverySeed, run_plan
from workbench.experiments.sweep import read_sweep

SWEEP = {
    "engine": "shared_memory",
    "workload": {"regime": "large_uniform", "count": 20},
    "policy": {"placement": {"vary": ["first_fit", "best_fit"]}},
    "baseline": {"placement": "first_fit"},
    "measures": ["drain_cycles"],
    "seeds": 3,
}


def test_runs_that_packages_below_make_are_results(tmp_path):
    """They had a table and no summary, such as the held-out runs of a study and those of a claim."""
    plan = make_plan(read_sweep(SWEEP))
    runs = run_kept(plan, tmp_path / "kept", lambda plan, store: run_plan(plan, store, 0, stop=EverySeed()))
    assert type(runs) is Results is wb.Results
    assert isinstance(runs.summary(), pd.DataFrame) and runs.sentences()
    assert runs.table.equals(wb.open_results(tmp_path / "kept").table)


def test_results_are_not_made_twice(monkeypatch, tmp_path):
    made = []
    monkeypatch.setattr("workbench.api.gathered", lambda *given: made.append(gather(*given)) or made[-1])
    assert wb.run(SWEEP, workers=0) is made[0]


def test_some_points_keep_the_notes_and_the_class():
    results = wb.run(SWEEP, workers=0)
    results.version_note = "kept by another version"
    some = results.only("first_fit")
    assert type(some) is wb.Results and some.whole is results and some.version_note == results.version_note


def test_a_class_of_the_users_stays_itself():
    class Mine(wb.Results):
        pass

    plan = wb.plan(SWEEP)
    assert type(Mine(plan, ())) is Mine
    assert type(Mine(plan, ()).only("first_fit")) is Mine
    assert type(pickle.loads(pickle.dumps(Results(plan, ())))) is Results
