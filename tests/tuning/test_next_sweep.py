"""From tuning to the next sweep: each point of a front as a sweep, and the best on a workload that was held out."""

from __future__ import annotations

from pathlib import Path

import pytest
import yaml

import workbench as wb
from tests.tuning.small import Counts, small
from workbench.errors import InputError
from workbench.experiments.results_folder import OWN
from workbench.tuning import importances, tune

OTHER = {"regime": "small_uniform", "count": 20}


@pytest.fixture(scope="module")
def tuned(tmp_path_factory):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(importances, "SHUFFLES", 2)
        return tune(small(), tmp_path_factory.mktemp("tuned") / "study", hold_out=OTHER)


def test_front_and_best_are_sweeps_whose_runs_are_those_of_the_hold_out_and_of_the_report(tuned):
    again = wb.run(tuned.best)
    assert again.seeds == [103, 104, 105]  # 0 and 1 are tuned on, 100 to 102 chose
    assert set(again.rows) == set(tuned.report.rows) and not set(again.rows) & set(tuned.holdout.rows)
    assert wb.open_study(tuned.folder).report.table.equals(tuned.report.table)
    assert again.baseline_of(again.points[0]) is not None or len(again.points) == 1
    assert [wb.plan(sweep).points[0].id for sweep in tuned.front] == [one.id for one in tuned.front.points]
    assert {point.id for point in wb.plan(tuned.front.sweep).points} == {point.id for point in tuned.holdout.points}
    assert len(tuned.front[1:]) == len(tuned.front) - 1


def test_the_one_to_take_is_still_best_on_fresh_seeds_and_no_other_is_nearer_to_the_ideal(tuned):
    table = tuned.pareto
    assert bool(table.best[tuned.front.chosen])
    best = table[table.best][["drain_cycles", "mean_external_fragmentation"]]
    scaled = (best - best.min()) / (best.max() - best.min()).where(best.max() > best.min(), 1)
    assert (scaled**2).sum(axis=1).idxmin() == tuned.front.chosen


def test_the_folder_has_a_sweep_file_a_point_that_plans_to_that_point_and_its_baseline(tuned):
    files = {path.name for path in (tuned.folder / "front").iterdir()}
    assert files == {f"trial_{trial.number}.yaml" for trial in tuned.front.trials}
    for place, trial in enumerate(tuned.front.trials):
        plan = wb.plan(tuned.folder / "front" / f"trial_{trial.number}.yaml")
        assert plan.points[0].id == tuned.front.points[place].id
        assert plan.sweep.seeds == [100, 101, 102]
    best = wb.plan(tuned.folder / "best.yaml").points
    assert best[0].id == tuned.front.points[tuned.front.chosen].id
    text = (tuned.folder / "best.yaml").read_text()
    assert text.startswith(f"# Trial {tuned.front.trials[tuned.front.chosen].number} of the study study: ")


def test_files_of_an_earlier_front_go_and_others_stay(tuned):
    folder = tuned.folder / "front"
    (folder / "trial_999.yaml").write_text("stale: true\n")
    (folder / "mine.yaml").write_text("kept: true\n")
    tune(small(), tuned.folder)
    assert not (folder / "trial_999.yaml").exists()
    assert (folder / "mine.yaml").exists()
    (folder / "mine.yaml").unlink()


def test_the_front_of_a_study_is_taken_by_the_next_sweep(tuned):
    sweep = {"engine": "shared_memory", "workload": OTHER, "vary": {"front": str(tuned.folder)}, "seeds": 2}
    points = wb.plan(sweep).points
    assert [point.setup.policies for point in points] == [point.setup.policies for point in tuned.front.points]


def test_a_folder_that_was_run_says_so_when_the_front_became_another(tuned, tmp_path):
    class Hears(Counts):
        lines: list[str] = []

        def say(self, line: str) -> None:
            self.lines.append(line)

    sweep = {"engine": "shared_memory", "workload": OTHER, "vary": {"front": str(tuned.folder)}, "seeds": 1}
    wb.run(sweep, tmp_path / "next", progress=Hears())
    assert Hears.lines == []
    kept = yaml.safe_load((tmp_path / "next" / "sweep.yaml").read_text())
    for slot in kept["policy"].values():
        slot["vary"] = slot["vary"][1:]
    (tmp_path / "next" / "sweep.yaml").write_text(yaml.safe_dump(kept))
    (tmp_path / "next" / OWN).unlink()  # else it is an edited file
    wb.run(sweep, tmp_path / "next", progress=Hears())
    assert Hears.lines == [
        f"the front of {tuned.folder} is another than when this folder was run: 1 point is new, 0 are gone."
    ]


def test_the_best_is_compared_on_the_workload_that_was_held_out_at_seeds_that_nobody_saw(tuned):
    runs = tuned.held_out
    assert runs.seeds == [106, 107, 108]
    assert runs.points[0].setup.policies == tuned.front.points[tuned.front.chosen].setup.policies
    assert runs.points[0].setup.workload.count == 20
    assert runs.baseline_of(runs.points[0]).setup.policies["placement"].name == "first_fit"
    opened = wb.open_results(runs.folder)
    assert opened.table.equals(runs.table)
    assert runs.folder.parent == tuned.folder / "hold_out"


def test_a_study_in_memory_holds_out_too_and_the_workload_of_the_study_gives_other_runs_of_itself():
    tuned = tune(small(trials=6), hold_out=small()["workload"])
    assert tuned.held_out.seeds == [106, 107, 108]
    assert tuned.held_out.folder is None


def test_runs_that_the_study_saw_are_left_out(tmp_path, monkeypatch):
    from workbench.tuning import holdout

    real = holdout.repeated

    def known(*seeds):
        """Have runs of the other workload been seen, which alone are compared up to a limit."""
        return lambda *given: real(*given) | (dict.fromkeys(seeds, 0) if given[5:] else {})

    monkeypatch.setattr(holdout, "repeated", known(107))
    assert tune(small(trials=6), hold_out=OTHER).held_out.seeds == [106, 108]
    monkeypatch.setattr(holdout, "repeated", known(106, 107, 108))
    with pytest.raises(InputError, match=r"hold-out: the study saw every run of small_uniform_\w+; name a workload"):
        tune(small(trials=6), tmp_path / "out", hold_out=OTHER)
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize(
    ("changed", "given", "sentence"),
    [
        ({"baseline": None}, OTHER, "study: names no baseline, and a hold-out compares the best with it."),
        ({}, "smal_uniform", "hold-out: workload: .*Did you mean small_uniform"),
        ({}, "large_uniform", "hold-out: workload.size must draw at most 32 segments"),
        ({}, {"regime": "small_uniform", "cuont": 3}, "hold-out: workload: unknown key 'cuont'"),
    ],
)
def test_a_hold_out_that_cannot_be_run_is_refused_before_anything_is(tmp_path, changed, given, sentence):
    watch = Counts()
    with pytest.raises(InputError, match=sentence):
        tune(small(**changed), tmp_path / "out", progress=watch, hold_out=given)
    assert watch.runs == []
    assert not (tmp_path / "out").exists()


def test_a_trace_is_held_out_by_its_path_alone(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    rows = "\n".join(f"{k},{k % 8 + 1},{9 + k}" for k in range(12))
    Path("jobs.csv").write_text(f"arrival,length,duration\n{rows}\n")
    runs = tune(small(trials=6), hold_out="jobs.csv").held_out
    assert len(runs.seeds) == 1
    assert runs.plan.sweep.config["workload"] == {"file": str(tmp_path / "jobs.csv")}
