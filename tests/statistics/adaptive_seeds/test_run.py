"""Sweeps that add seeds: where they stop, that they resume to the same end, and what their results say."""

from __future__ import annotations

import json
import math
import subprocess
import sys

import numpy as np
import pytest
import yaml

import workbench as wb
from tests.experiments.sweep_validator import sweep_validator
from tests.experiments.test_running import rows_in, wait_for_rows
from tests.slow import thinned
from workbench.api import open_results
from workbench.cli.main import main
from workbench.errors import InputError
from workbench.experiments.progress import Silent
from workbench.experiments.results import Results
from workbench.statistics import mean_interval
from workbench.statistics.adaptive_seeds import stop
from workbench.tuning import read_study

SWEEP = {
    "question": "How narrow?",
    "engine": "shared_memory",
    "workload": {"regime": "large_uniform", "count": 30},
    "policy": {"placement": {"vary": ["first_fit", "best_fit", "nearest_boundary"]}},
    "baseline": {"placement": "first_fit"},
    "measures": ["drain_cycles"],
    "seeds": {"first": 3, "until": {"measure": "drain_cycles", "half_width": "4 %", "at_most": 60, "batch": 10}},
}


def sweep(**until):
    return {**SWEEP, "seeds": {"first": 3, "until": {**SWEEP["seeds"]["until"], **until}}}


class Watching(Silent):
    def __init__(self, most=None):
        self.ids, self.most, self.totals, self.ended = [], most, [], 0

    def begin(self, total, kept):
        self.totals.append((total, kept))

    def advance(self, row):
        self.ids.append(row.id)
        if self.most is not None and len(self.ids) >= self.most:
            raise KeyboardInterrupt

    def end(self):
        self.ended += 1


@pytest.fixture(scope="module")
def every():
    """All the seeds that there may be."""
    return wb.run({**SWEEP, "seeds": {"first": 3, "count": 60}}, workers=1)


@pytest.mark.parametrize("share", [0.04, *(pytest.param(share, marks=pytest.mark.slow) for share in (0.025, 0.05))])
def test_it_stops_at_the_second_look_in_a_row_at_which_every_point_is_narrow(every, share):
    """Of two in a row it is the second."""
    results = wb.run(sweep(half_width=f"{100 * share:g} %"), workers=1)
    before = False
    table = every.table.pivot(index="seed", columns="policy.placement", values="drain_cycles")
    for count in (10, 20, 30, 40, 50, 60):
        first = table.iloc[:count]
        intervals = [mean_interval(first["first_fit"] - first[other]) for other in table.columns[[0, 2]]]
        narrow = [one.high - one.low <= 2 * share * first["first_fit"].mean() for one in intervals]
        if all(narrow) and before:
            break
        before = all(narrow)
    assert results.seeds == list(range(3, 3 + count))
    assert 10 < count < 60
    assert results.table.equals(every.table[every.table["seed"] < 3 + count].reset_index(drop=True))


def test_results_are_those_of_as_many_fixed_seeds():
    """The rule looks at widths alone, so nothing answers for how often it looked."""
    results = wb.run(sweep(), workers=1)
    fixed = wb.run({**SWEEP, "seeds": results.seeds}, workers=1)
    assert results.summary().equals(fixed.summary())
    ours, theirs = (one.figure_data("saving_by_policy").panels[0].gain for one in (results, fixed))
    assert all(np.array_equal(a, b) for a, b in zip(ours, theirs, strict=True))


@pytest.mark.slow
@pytest.mark.parametrize("killed_after", thinned([1, 17, 31, 45], 3))
def test_a_driver_that_is_stopped_comes_to_the_same_end_and_repeats_no_run(tmp_path, killed_after):
    whole = wb.run(sweep(), tmp_path / "whole", workers=1)
    first, again = Watching(most=killed_after), Watching()
    with pytest.raises(KeyboardInterrupt):
        wb.run(sweep(), tmp_path / "r", workers=1, progress=first)
    opened = open_results(tmp_path / "r")
    assert len(opened.seeds) <= len(whole.seeds)
    assert all(math.isinf(width.half_width) or width.n <= len(opened.seeds) for width in stop(opened).widths)
    resumed = wb.run(sweep(), tmp_path / "r", workers=1, progress=again)
    assert resumed.table.equals(whole.table)
    assert set(first.ids).isdisjoint(again.ids)
    assert len(first.ids) + len(again.ids) == len(whole.table)
    assert open_results(tmp_path / "r").table.equals(whole.table)


@pytest.mark.slow
def test_a_folder_that_holds_more_seeds_than_are_needed_gives_the_same_results(tmp_path):
    wb.run(sweep(half_width="2.5 %"), tmp_path / "r", workers=1)
    watch = Watching()
    again = wb.run(sweep(half_width="5 %"), tmp_path / "r", workers=1, progress=watch)
    assert watch.ids == []
    assert again.table.equals(wb.run(sweep(half_width="5 %"), workers=1).table)
    assert open_results(tmp_path / "r").seeds == again.seeds


DRIVER = """
import sys, time, workbench as wb
from workbench.experiments.progress import Silent

class Slow(Silent):
    def advance(self, row):
        time.sleep(0.01)  # stands for a slow disk

wb.run(sys.argv[1], sys.argv[2], workers=1, progress=Slow())
"""


@pytest.mark.slow
def test_a_driver_that_is_killed_twice_leaves_the_same_table_for_any_workers_to_complete(tmp_path):
    (tmp_path / "s.yaml").write_text(yaml.safe_dump(sweep()))
    whole, kept = wb.run(tmp_path / "s.yaml", workers=1).table, 0
    for _ in range(2):
        driver = subprocess.Popen([sys.executable, "-c", DRIVER, str(tmp_path / "s.yaml"), str(tmp_path / "r")])
        wait_for_rows(tmp_path / "r", kept + 20)
        driver.kill()
        driver.wait()
        kept = rows_in(tmp_path / "r")
    assert 40 <= kept < len(whole)
    again = Watching()
    resumed = wb.run(tmp_path / "s.yaml", tmp_path / "r", workers=2, executor="threads", progress=again)
    assert len(again.ids) == len(whole) - kept
    assert resumed.table.equals(whole)
    assert (tmp_path / "r" / "results.parquet").exists()


@pytest.mark.parametrize("executor", ["processes", pytest.param("threads", marks=pytest.mark.slow)])
def test_workers_change_nothing(executor):
    assert wb.run(sweep(), workers=2, executor=executor).table.equals(wb.run(sweep(), workers=1).table)


def test_the_cap_ends_it_and_says_what_is_still_wide():
    results = wb.run(sweep(half_width="0.01 %", at_most=25), workers=1)
    assert len(results.seeds) == 25
    assert len(stop(results).wide) == 2
    assert (
        "25 seeds after 3 of 3 looks, the most there may be: 2 of 2 points are known less well"
        in stop(results).sentence
    )


def test_a_point_that_fails_is_never_narrow_and_fails_once_a_seed():
    watch = Watching()
    config = {**sweep(at_most=20), "policy": {"placement": {"vary": ["first_fit", "best_fit"]}}}
    broken = {**config, "workload": {"regime": "large_uniform", "count": 30}, "options": {}}
    from workbench.policies.placement import Placement

    class AlwaysWrong(Placement):
        def answer(see):
            return 10_000

    results = wb.run(
        broken, workers=1, set={"policy.placement": {"vary": ["first_fit", AlwaysWrong()]}}, progress=watch
    )
    assert len(results.seeds) == 20
    assert len(results.failures) == 20
    assert len(watch.ids) == 40
    assert [(width.n, width.narrow) for width in stop(results).widths] == [(0, False)]


def test_the_watcher_sees_one_sweep():
    watch = Watching()
    results = wb.run(sweep(), workers=1, progress=watch)
    assert watch.totals == [(180, 0)]
    assert watch.ended == 1
    assert len(watch.ids) == len(results.table)


def test_the_command_says_where_it_stopped(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "s.yaml").write_text(yaml.safe_dump(sweep(half_width="50 %")))
    assert main(["plan", "s.yaml"]) == 0
    assert capsys.readouterr().out == "3 points x at most 60 seeds = at most 180 runs, 0 of them kept\n"
    assert main(["run", "s.yaml", "--out", "r", "--workers", "1"]) == 0
    message = "20 seeds after 2 of 6 looks: every point is known as well as was asked (drain_cycles to 50 %)"
    assert message in capsys.readouterr().out
    assert main(["run", "s.yaml", "--out", "r", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["stopped"] == message


def test_the_schema_takes_it():
    validator = sweep_validator()
    validator.validate(sweep())
    validator.validate(sweep(half_width=20))
    assert not validator.is_valid(sweep(half_widht=20))


def test_a_study_has_no_such_seeds():
    config = {key: value for key, value in sweep().items() if key != "measures"}
    config["policy"] = {"placement": {"tune": ["first_fit", "best_fit"]}}
    with pytest.raises(InputError, match=r"study: seeds\.until has no place in a study"):
        read_study({**config, "objectives": ["drain_cycles"], "sampler": {"random": {"seed": 1}}})


def test_what_a_fixed_sweep_says_is_as_before():
    results = wb.run({**SWEEP, "seeds": 12}, workers=1)
    assert isinstance(results, Results)
    row = results.summary().iloc[1]
    values = results.table.pivot(index="seed", columns="policy.placement", values="drain_cycles")
    interval = mean_interval(np.log(values["first_fit"]) - np.log(values[row["policy.placement"]]))
    assert (row["size_low"], row["size_high"]) == pytest.approx((math.exp(interval.low), math.exp(interval.high)))
