"""Whatever a user's code does costs one row: in every executor, whatever it raises, prints, stops or holds."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
import time
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pytest
from numba.core.compiler_lock import global_compiler_lock

import workbench as wb
from benchmarks.faults.deeds import IN_ANY, SENTENCES
from benchmarks.faults.runs import SWEEP, faulty_plan
from workbench import lever
from workbench.errors import InputError, StoreError
from workbench.executors import cluster, scheduler
from workbench.executors.bundles import Bundle
from workbench.experiments.runner import run_missing
from workbench.experiments.store import Store
from workbench.levers import Spec
from workbench.machine import Machine
from workbench.mechanisms.mechanism import Mechanism, enter
from workbench.metrics.measure import Measure, declared
from workbench.policies import Placement
from workbench.runs import crashes, watchdog, worker
from workbench.runs.row import Row
from workbench.runs.run import Task
from workbench.runs.worker import execute_with_timeout
from workbench.workloads.synthetic.random_groups import RandomWorkgroups

LIMIT = 2.0
SEEDS = 30


@pytest.fixture(autouse=True)
def _short_waits(monkeypatch):
    monkeypatch.setattr(crashes, "PAUSE_SECONDS", 0.1)
    monkeypatch.setattr(scheduler, "SLACK_SECONDS", 1.0)


@pytest.fixture(autouse=True, scope="module")
def _no_cluster_stays():
    yield
    cluster.close_all()


def outcome(plan, **options) -> dict[int, Row]:
    store = Store(None)
    run_missing(plan, store, **options)
    return {row.seed: row for row in store.rows()}


def check(deeds: dict[str, str], rows: dict[int, Row]) -> None:
    """Nothing lost, every culprit named with its cause, and no other blamed."""
    assert sorted(rows) == list(range(SEEDS))
    for seed, row in rows.items():
        sentence = SENTENCES.get(deeds.get(str(seed), ""))
        assert (row.status == "failed") == (sentence is not None), row
        assert sentence is None or sentence.format(limit=LIMIT) in row.error, row
        assert row.error.isprintable()


def at_seeds(names) -> dict[str, str]:
    return {str(2 + 2 * number): name for number, name in enumerate(names)}


HERE = [name for name in IN_ANY if name != "loops"]


@pytest.mark.parametrize(
    ("how", "names"),
    [
        ({"workers": 0}, HERE),
        pytest.param({"workers": 1}, IN_ANY, marks=pytest.mark.slow),
        pytest.param({"workers": 2, "executor": "threads"}, IN_ANY, marks=pytest.mark.slow),
        pytest.param({"workers": 2}, [*IN_ANY, "ends"], marks=pytest.mark.slow),
        pytest.param({"executor": "local:2"}, IN_ANY, marks=pytest.mark.slow),
    ],
    ids=lambda given: str(given) if "workers" in given or "executor" in given else "",
)
def test_whatever_a_run_does_costs_its_row(how, names, capfd):
    deeds = at_seeds(names)
    check(deeds, outcome(faulty_plan(SEEDS, deeds=deeds), limit_seconds=LIMIT, **how))
    printed = capfd.readouterr()
    if how != {"workers": 0}:  # for a debugger, which needs the terminal
        assert printed.out == ""
        assert "more letters were printed" in printed.err
        assert all(len(line) < 400 for line in printed.err.splitlines() if "out out" in line)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("how", "deed"),
    [
        ({"workers": 2}, "kills_itself"),
        ({"workers": 2}, "stops_itself"),
        ({"workers": 2}, "holds_the_lock"),
        ({"executor": "local:2"}, "kills_itself"),
        ({"executor": "local:2"}, "holds_the_lock"),
    ],
    ids=str,
)
def test_a_worker_that_is_killed_stopped_or_holds_the_lock_costs_one_row(how, deed):
    deeds = {"4": deed}
    rows = outcome(faulty_plan(SEEDS, deeds=deeds), limit_seconds=LIMIT, **how)
    if how.get("executor"):  # Dask gives a bundle up after two deaths
        rows[4] = rows[4]._replace(error=rows[4].error.replace("four times", "three times"))
    check(deeds, rows)


class Refuses(Placement):
    """Raises an error of the workbench's own kind, of itself or by asking the workbench for what there is not."""

    looks: bool = lever(False, description="whether the workbench raises it")

    def parameters(self):
        if self.looks:
            self.but(no_such_lever=1)
        raise StoreError("my store")

    def answer(see):
        return 0


def test_an_error_of_the_workbenchs_kind_is_named_like_any_other():
    sweep = {**SWEEP, "policy": {"placement": Refuses()}, "seeds": 1}
    (row,) = wb.run(sweep, workers=0).rows.values()
    assert row.error.startswith("refuses raised StoreError (my store) in parameters (test_user_faults.py:")
    (row,) = wb.run({**sweep, "policy": {"placement": Refuses(looks=True)}}, workers=0).rows.values()
    assert "no_such_lever" in row.error
    assert "raised" not in row.error


@pytest.mark.slow
@pytest.mark.parametrize("how", [{"workers": 2}, {"executor": "local:2"}], ids=str)
def test_a_run_after_which_its_worker_can_do_nothing_costs_no_row(how):
    deeds = {"4": "breaks_threads", "15": "breaks_threads"}
    check(deeds, outcome(faulty_plan(SEEDS, deeds=deeds), limit_seconds=LIMIT, **how))


@pytest.mark.slow
def test_an_executor_that_was_handed_in_goes_on_without_a_worker_that_does_not_answer():
    deeds = at_seeds([*HERE, "stops_itself"])
    executor = ProcessPoolExecutor(2)
    try:
        check(deeds, outcome(faulty_plan(SEEDS, deeds=deeds), limit_seconds=LIMIT, executor=executor))
    finally:
        for process in executor._processes.values():
            process.kill()
        executor.shutdown()


class Wrong(Placement):
    """Raises in the method that a lever names."""

    where: str = lever("", description="which method raises")

    def check(self):
        if self.where == "check":
            raise ValueError("in check")

    def function(self):
        if self.where == "function":
            raise ValueError("in function")
        return super().function()

    def parameters(self):
        if self.where == "parameters":
            raise ValueError("in parameters")
        return super().parameters()

    def footprint(self, length, segments):
        if self.where == "footprint":
            raise SystemExit(4)
        return super().footprint(length, segments)

    def __reduce__(self):
        if self.where == "reduce":
            raise ValueError("in reduce")
        return super().__reduce__()

    def answer(see):
        return 0


def twelve(policy) -> dict:
    return {**SWEEP, "policy": {"placement": {"vary": ["first_fit", policy]}}, "seeds": 6}


@pytest.mark.parametrize("workers", [0, pytest.param(1, marks=pytest.mark.slow), 2])
@pytest.mark.parametrize("where", ["function", "parameters"])
def test_a_policy_that_raises_in_any_method_is_named_and_costs_its_rows(where, workers):
    table = wb.run(twelve(Wrong(where=where)), workers=workers).table.set_index("policy.placement")
    assert list(table.loc["first_fit", "status"]) == ["done"] * 6
    assert list(table.loc[f"wrong(where={where})", "status"]) == ["failed"] * 6
    sentence = rf"wrong\(where={where}\) raised ValueError \(in {where}\) in {where} \(test_user_faults.py:\d+\)\."
    assert table.loc[f"wrong(where={where})", "error"].str.fullmatch(sentence).all()


def test_a_policy_that_cannot_travel_costs_its_rows():
    table = wb.run(twelve({"wrong": {"where": "reduce"}}), workers=2).table.set_index("policy.placement")
    assert list(table.loc["first_fit", "status"]) == ["done"] * 6
    errors = table.loc["wrong(where=reduce)", "error"]
    assert errors.str.startswith("the setup cannot be sent to a worker: wrong(where=reduce) raised ValueError").all()


@pytest.mark.parametrize(
    ("policy", "sentence"),
    [
        ({"wrong": {"where": "check"}}, r"wrong\(where=check\) raised ValueError \(in check\) in check"),
        ({"wrong": {"where": "footprint"}}, r"wrong\(where=footprint\) raised SystemExit \(4\) in footprint"),
    ],
)
def test_what_raises_while_a_sweep_is_planned_is_one_sentence(policy, sentence):
    with pytest.raises(InputError, match=sentence) as refused:
        wb.run(twelve(policy))
    assert len(str(refused.value).splitlines()) == 1
    assert "where policy.placement" in str(refused.value)


class Record(NamedTuple):
    seed: int


class Fragile:
    """An engine of one's own that raises where an option says so."""

    name, revision, machine, workload_kind, slots = "fragile", 1, Machine, "workgroups", {}

    class Options(Spec):
        where: str = lever("", description="which method raises")

    options = Options

    def validate(self, setup, seed):
        if setup.options.where == "validate":
            raise ValueError("in validate")

    def simulate(self, setup, seed, events=False):
        if setup.options.where == "simulate" and seed == 1:
            raise KeyError("in simulate")
        return Record(seed if setup.options.where != "measure" else -1)


def fragile_measure(record) -> dict[str, float]:
    if record.seed < 0:
        raise ZeroDivisionError("in measure")
    return {"seed": np.float32(record.seed)}


FRAGILE = {"engine": "fragile", "workload": "large_uniform", "seeds": 3}


@pytest.fixture
def _fragile_engine():
    enter(Mechanism(Fragile(), declared(Measure("seed", "", "higher", "the seed")), fragile_measure, lambda it: {}))


@pytest.mark.parametrize("workers", [1, 2])
@pytest.mark.usefixtures("_fragile_engine")
def test_an_engine_of_ones_own_runs_in_workers_and_its_faults_cost_their_rows(workers):
    rows = wb.run({**FRAGILE, "options": {"where": "simulate"}}, workers=workers).table
    assert list(rows["status"]) == ["done", "failed", "done"]
    assert "the engine fragile raised KeyError ('in simulate') in simulate (test_user_faults.py:" in rows["error"][1]
    rows = wb.run({**FRAGILE, "options": {"where": "measure"}}, workers=workers).table
    assert rows["error"].str.contains("the engine fragile raised ZeroDivisionError").all()


@pytest.mark.usefixtures("_fragile_engine")
def test_an_engine_that_raises_while_it_is_planned_is_named():
    with pytest.raises(InputError, match=r"the engine fragile raised ValueError \(in validate\) in validate"):
        wb.run({**FRAGILE, "options": {"where": "validate"}})


class Compiles(RandomWorkgroups):
    """Takes three times the limit, for compiling or for nothing."""

    compiles: bool = lever(True, description="whether it compiles meanwhile")

    def workgroups(self, machine, streams):
        if self.compiles:
            with global_compiler_lock:
                time.sleep(3 * LIMIT)  # stands for a compilation
        else:
            time.sleep(3 * LIMIT)  # stands for a long run
        return super().workgroups(machine, streams)


@pytest.mark.slow
@pytest.mark.parametrize(("compiles", "status"), [(True, "done"), (False, "failed")])
def test_what_is_compiled_does_not_count_against_the_limit(compiles, status, monkeypatch):
    monkeypatch.setattr(watchdog, "STOPPED_SECONDS", 1000.0)
    setup = faulty_plan(1).points[0].setup
    workload = Compiles(**{k: v for k, v in setup.workload.values().items() if k in RandomWorkgroups.levers})
    slow = setup._replace(workload=workload.but(compiles=compiles))
    execute_with_timeout({"p": setup}, [Task("first", "p", 0)], 60.0)
    (row,) = execute_with_timeout({"p": slow}, [Task("run", "p", 1)], LIMIT).rows
    assert row.status == status


def test_a_report_is_read_until_its_place_is_another_bundles():
    mine = watchdog.Board()
    first = mine.reporter()
    assert mine.read(first) is None
    first.begin(3, 100.0)
    report = mine.read(first)
    assert report is not None
    assert (report.pid, report.run) == (os.getpid(), 3)
    assert 0 < report.deadline - time.monotonic() <= 100  # stands for the driver, which reads this clock
    mine.release(first)
    second = mine.reporter()
    assert second.place == first.place
    first.begin(4, 100.0)  # a worker that was given up goes on
    assert mine.read(second) is None
    first._replace(machine="another").begin(5, 1.0)
    mine.close()


@pytest.mark.slow
def test_a_worker_that_never_begins_is_replaced(monkeypatch):
    """One that was stopped while it had nothing to do."""
    monkeypatch.setattr(scheduler, "START_SECONDS", 1.0)
    held, pools = threading.Event(), []

    class Idle:
        width, reports = 1, True

        def submit(self, bundle: Bundle, limit, report):
            from concurrent.futures import Future

            future: Future = Future()
            future.set_running_or_notify_cancel()
            pools.append(future)
            if held.is_set():
                report.begin(0, limit)
                future.set_result(worker.BundleResult([Row(*task, "done", "", 0.0, {}) for task in bundle.tasks]))
            return future

        def end(self, future, pid):
            held.set()
            future.set_exception(TimeoutError())
            return True

        def death(self, problem, pid):
            return crashes.Death(None)

        def look(self): ...

        def leave(self, under_way): ...

    from workbench.executors.bundles import Bundler
    from workbench.experiments.runner import in_executor

    rows = [row for done in in_executor(Bundler(faulty_plan(1).runs()), Idle(), LIMIT) for row in done.rows]
    assert [row.status for row in rows] == ["done"]
    assert len(pools) == 2


COMMAND = """
import sys
from workbench.cli.main import main
sys.exit(main(sys.argv[1:]))
"""

POLICY = """
import os, sys
from workbench.policies import Placement

class Loud(Placement):
    def parameters(self):
        print("to the user", end="")
        print("about an error", file=sys.stderr)
        sys.stdout.buffer.write(b" in bytes")
        return super().parameters()

    def answer(see):
        return -1 if see.length > see.segments else 0
"""


@pytest.mark.slow
@pytest.mark.parametrize("workers", ["1", "2"])
def test_what_a_policy_prints_stays_out_of_the_commands_output(tmp_path, workers):
    (tmp_path / "loud.py").write_text(POLICY)
    (tmp_path / "s.yaml").write_text(json.dumps({**SWEEP, "policy": {"placement": "loud.py:Loud"}, "seeds": 3}))
    command = [sys.executable, "-c", COMMAND, "run", "s.yaml", "--json", "--workers", workers]
    environment = {**os.environ, "PYTHONPATH": str(Path(wb.__file__).parent.parent)}
    reply = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=300, env=environment)
    assert reply.returncode == 1, reply.stderr  # the answer grants what is taken
    assert json.loads(reply.stdout)["runs"] == 3
    assert "| to the user" in reply.stderr
    assert "about an error" in reply.stderr
    assert " in bytes" in reply.stderr
