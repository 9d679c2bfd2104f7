"""Running a plan: what is kept, what is skipped, and that nothing is lost."""

from __future__ import annotations

import math
import os
import signal
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pandas as pd
import pyarrow
import pytest

import workbench as wb
from tests.experiments.stores import edited, rows_of
from tests.waiting import wait_until
from workbench.errors import StoreError, WorkbenchError
from workbench.experiments.plan import make_plan
from workbench.experiments.progress import Silent
from workbench.experiments.results_folder import ROWS, has_store, held
from workbench.experiments.runner import run_missing
from workbench.experiments.saved_results import _arrow
from workbench.experiments.store import Row, Store
from workbench.experiments.sweep import read_sweep
from workbench.policies.placement import Placement
from workbench.workloads.synthetic.random_groups import RandomWorkgroups

SWEEP = {
    "engine": "shared_memory",
    "workload": "large_uniform",
    "policy": {"placement": {"vary": ["first_fit", "nearest_boundary"]}},
    "baseline": {"placement": "first_fit"},
    "seeds": 6,
    "measures": ["drain_cycles", "wear_gini"],
}


class Counter(Silent):
    def __init__(self) -> None:
        self.rows: list[Row] = []

    def advance(self, row: Row) -> None:
        self.rows.append(row)


def test_a_rerun_does_only_what_is_missing(tmp_path):
    first, again, more = Counter(), Counter(), Counter()
    table = wb.run(SWEEP, tmp_path / "r", progress=first).table
    same = wb.run(SWEEP, tmp_path / "r", progress=again).table
    wb.run({**SWEEP, "seeds": 8}, tmp_path / "r", progress=more)
    assert [len(c.rows) for c in (first, again, more)] == [12, 0, 4]
    assert table.equals(same)


def test_the_table_is_the_same_in_one_process_and_in_two(tmp_path):
    assert wb.run(SWEEP, workers=1).table.equals(wb.run(SWEEP, workers=2).table)


def test_the_folder_holds_what_is_promised_and_can_be_opened(tmp_path):
    results = wb.run(SWEEP, tmp_path / "r")
    names = {path.name for path in (tmp_path / "r").iterdir()}
    assert {"rows", "results.parquet", "sweep.yaml", "provenance.json"} <= names
    assert wb.open_results(tmp_path / "r").table.equals(results.table)


class Occupied(Placement):
    def answer(see):
        return 0


class Endless(Placement):
    def answer(see):
        total = 1
        while see.length > 0:
            total = (3 * total + see.segments) % 1009
        return total


class Raises(Placement):
    def answer(see):
        return see.segments // (see.length - see.length)


class PastTheEnd(Placement):
    def answer(see):
        return int(see.free[see.segments])


class Imports(Placement):
    def answer(see):
        import math

        return math.floor(-1.0)


class SaysNothing(Placement):
    def answer(see):
        pass


@pytest.mark.slow
@pytest.mark.parametrize(
    ("policy", "sentence"),
    [
        (
            Imports(),
            r"Imports.answer does not compile: it imports within the function; import above the class instead.",
        ),
        (SaysNothing(), r"SaysNothing.answer does not compile: it must return a whole number on every path."),
        (PastTheEnd(), r"past_the_end raised IndexError \(.*\) in .*, line \d+, for .*; at workgroup 0"),
        (Occupied(), r"occupied answered 0, which is not the start of a free range"),
        (Endless(), r"endless did not end within 1,000,000,000 loop turns for .*; at workgroup 0"),
        (Raises(), r"raises raised ZeroDivisionError \(.*\) in .*; at workgroup 0 \(\d+ segments\) at cycle 0"),
    ],
)
def test_a_policy_that_breaks_its_contract_is_named_in_its_row_and_costs_no_other(policy, sentence):
    results = wb.run(SWEEP, set={"policy.placement": {"vary": ["first_fit", policy]}}, seeds=2)
    table = results.table.set_index(["policy.placement", "seed"])
    assert (table.loc["first_fit", "status"] == "done").all()
    assert (table.loc[policy.name, "status"] == "failed").all()
    assert table.loc[policy.name, "error"].str.contains(sentence).all()


class Faulty(RandomWorkgroups):
    """Kills its process at seed 3 and sleeps at seed 5, in workers only."""

    def workgroups(self, machine, streams):
        if os.environ.get("WORKBENCH_TEST_DRIVER") != str(os.getpid()):
            if streams.seed == 3:
                os._exit(9)
            if streams.seed == 5:
                time.sleep(1000)  # stands for a run that hangs
        return super().workgroups(machine, streams)


@pytest.mark.slow
def test_a_worker_that_dies_or_hangs_costs_one_run_each_and_the_right_one(monkeypatch):
    monkeypatch.setenv("WORKBENCH_TEST_DRIVER", str(os.getpid()))
    plan = make_plan(read_sweep({**SWEEP, "policy": {"placement": "first_fit"}, "seeds": 12}))
    point = plan.points[0]
    workload = Faulty(**point.setup.workload.values())
    from dataclasses import replace

    faulty = replace(plan, points=[point._replace(setup=point.setup._replace(workload=workload))])
    store = Store(None)
    run_missing(faulty, store, workers=2, limit_seconds=4)
    rows = {row.seed: row for row in store.rows()}
    assert {seed for seed, row in rows.items() if row.status == "failed"} == {3, 5}
    assert rows[3].error == "the worker process ended with status 9 during this run."
    assert rows[5].error == "the run did not end within 4 s."
    assert len(rows) == 12


class Slow(Counter):
    """Takes so long over each row that other runs finish meanwhile."""

    def advance(self, row: Row) -> None:
        time.sleep(0.02)  # stands for a slow disk
        super().advance(row)


def test_a_run_that_finishes_while_rows_are_kept_is_not_taken_for_a_dead_worker():
    with ThreadPoolExecutor(2) as threads:
        results = wb.run(SWEEP, executor=threads, seeds=12, progress=Slow())
    assert not results.failures
    assert results.table.equals(wb.run(SWEEP, seeds=12, workers=1).table)


DRIVER = """
import sys, workbench as wb
wb.run(sys.argv[1], sys.argv[2], workers=1)
"""


@pytest.mark.slow
def test_killing_the_driver_loses_no_row_and_repeats_none(tmp_path):
    sweep = tmp_path / "long.yaml"
    sweep.write_text(
        "engine: shared_memory\nworkload: {regime: large_uniform, count: 20000}\n"
        "policy: {placement: {vary: [first_fit, best_fit]}}\nseeds: 40\nmeasures: [drain_cycles]\n"
    )
    kept = 0
    for _ in range(2):
        driver = subprocess.Popen([sys.executable, "-c", DRIVER, str(sweep), str(tmp_path / "r")])
        wait_for_rows(tmp_path / "r", kept + 3)
        driver.send_signal(signal.SIGKILL)
        driver.wait()
        result = rows_in(tmp_path / "r")
        assert result > kept
        kept = result
    counter = Counter()
    resumed = wb.run(sweep, tmp_path / "r", workers=1, progress=counter)
    assert len(counter.rows) == 80 - kept
    assert resumed.table.equals(wb.run(sweep, workers=1).table)


def rows_in(folder: Path) -> int:
    return len(rows_of(folder, read_only=True))


def wait_for_rows(folder: Path, least: int) -> None:
    wait_until(lambda: has_store(folder) and rows_in(folder) >= least, what=f"{least} rows in {folder}")


def test_a_second_driver_on_a_folder_is_told_who_holds_it(tmp_path):
    with held(tmp_path), pytest.raises(StoreError, match=rf"is in use by process {os.getpid()} on "):
        wb.run(SWEEP, tmp_path)


def test_a_folder_of_another_sweep_or_a_newer_version_is_refused_and_left_alone(tmp_path):
    wb.run({**SWEEP, "seeds": 1}, tmp_path / "r")
    with pytest.raises(StoreError, match="belongs to the sweep 'sweep', not to 'other'"):
        Store(tmp_path / "r", "other")
    edited(tmp_path / "r", lambda line: ["meta", "format", "99"] if line[:2] == ["meta", "format"] else line)
    (file,) = (tmp_path / "r" / ROWS).iterdir()
    before = file.read_bytes()
    with pytest.raises(StoreError, match="was written by a newer version"):
        wb.run(SWEEP, tmp_path / "r")
    assert file.read_bytes() == before


def test_a_folder_without_results_is_no_results_folder(tmp_path):
    with pytest.raises(StoreError, match="is not a results folder"):
        wb.open_results(tmp_path)


@pytest.mark.slow
def test_a_full_disk_is_one_sentence_and_earlier_rows_stay(tmp_path):
    script = (
        "import resource, signal, sys; signal.signal(signal.SIGXFSZ, signal.SIG_IGN)\n"
        "import workbench as wb\n"
        "from workbench.errors import StoreError\n"
        "wb.run(sys.argv[1], sys.argv[2], seeds=2, workers=1)\n"
        "resource.setrlimit(resource.RLIMIT_FSIZE, (120_000, 120_000))\n"
        "try:\n    wb.run(sys.argv[1], sys.argv[2], seeds=2000, workers=1)\n"
        "except StoreError as problem:\n    print(problem)\n"
    )
    sweep = tmp_path / "full.yaml"
    sweep.write_text("engine: shared_memory\nworkload: {regime: large_uniform, count: 10}\nmeasures: [drain_cycles]\n")
    command = [sys.executable, "-c", script, str(sweep), str(tmp_path / "r")]
    reply = subprocess.run(command, capture_output=True, text=True, timeout=500)
    assert "the results store cannot be used" in reply.stdout, reply.stderr
    assert reply.stdout.count("\n") == 1
    assert rows_in(tmp_path / "r") >= 2
    assert len(wb.run(sweep, tmp_path / "r", seeds=4, workers=1).rows) == 4


def test_a_worker_with_other_sources_is_refused():
    import cloudpickle

    from workbench.runs.origin import check_origin, origin
    from workbench.runs.run import Task
    from workbench.runs.worker import worker_entry

    check_origin(origin())
    setup = make_plan(read_sweep(SWEEP)).points[0].setup
    with pytest.raises(WorkbenchError, match="other sources of the workbench"):
        worker_entry({"p": cloudpickle.dumps(setup)}, [Task("r", "p", 0)], 10.0, origin()._replace(sources="0" * 16))


LAWS = {"synthetic": "random_workgroups", "count": 9, "duration": {"vary": [5, {"uniform": [1, 9]}]}}


def test_a_lever_of_numbers_and_laws_is_a_column_of_text(tmp_path):
    """Such a sweep ended with a traceback once all of its runs were done."""
    results = wb.run({**SWEEP, "workload": LAWS, "policy": {}, "baseline": {"placement": "first_fit"}}, tmp_path / "r")
    kept = pd.read_parquet(tmp_path / "r" / "results.parquet")
    assert [*dict.fromkeys(kept["workload.duration"])] == ["5", "uniform(1, 9)"]
    others = [name for name in results.table if name != "workload.duration"]
    assert kept[others].equals(results.table[others])


@pytest.mark.parametrize(
    "values",
    [
        [1, 2],
        [1, None, 3],
        [0.5, math.nan],
        [1, 2.5],
        [True, False],
        [True, None],
        ["a", "é", ""],
        ["a", None],
        [None],
        [],
    ],
)
def test_a_column_of_a_table_is_what_pyarrow_makes_of_it(values):
    usual = pyarrow.array(values, from_pandas=True)
    text = usual.cast(pyarrow.large_string()) if usual.type == pyarrow.string() else usual
    column = _arrow(values)
    column.validate(full=True)
    assert column.equals(text)
