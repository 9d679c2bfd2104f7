"""Every kind of worker: the same table, and whatever goes wrong costs the run that is to blame and no other."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from concurrent.futures import BrokenExecutor, Future, ProcessPoolExecutor, ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path

import pytest

import workbench as wb
from benchmarks.faults.faults import workers_of
from benchmarks.faults.runs import SWEEP, Faulty, faulty_plan
from tests.waiting import wait_until
from workbench.errors import InputError, WorkbenchError
from workbench.executors import bundle_executor, worker_process
from workbench.executors import cluster as connect
from workbench.executors.bundles import Bundler
from workbench.executors.worker_process import WORKER_ENVIRONMENT
from workbench.experiments.progress import Silent
from workbench.experiments.runner import in_executor, run_missing
from workbench.experiments.store import Store
from workbench.runs import crashes
from workbench.runs.crashes import Death
from workbench.runs.origin import origin
from workbench.runs.row import Row
from workbench.runs.worker import BundleResult

pytestmark = pytest.mark.slow

SEVERAL = {**SWEEP, "policy": {"placement": {"vary": ["first_fit", "nearest_boundary"]}}, "seeds": 20}
DIED = "the worker process ended with status 9 during this run."


@pytest.fixture(autouse=True, scope="module")
def _no_cluster_stays():
    yield
    connect.close_all()


def outcome(plan, **options) -> dict[int, Row]:
    store = Store(None)
    run_missing(plan, store, **options)
    return {row.seed: row for row in store.rows()}


def failures(rows: dict[int, Row]) -> dict[int, str]:
    return {seed: row.error for seed, row in rows.items() if row.status == "failed"}


@pytest.mark.parametrize(
    "options",
    [
        {"workers": 0},
        pytest.param({"workers": 2, "executor": "threads"}, marks=pytest.mark.slow),
        {"workers": 2, "executor": "processes"},
        pytest.param({"executor": "local:2"}, marks=pytest.mark.slow),
    ],
    ids=str,
)
def test_the_table_is_the_same_whoever_does_the_runs(options):
    assert wb.run(SEVERAL, **options).table.equals(wb.run(SEVERAL, workers=1).table)


def test_a_worker_of_a_cluster_that_dies_or_hangs_costs_one_run_each_and_the_right_one():
    rows = outcome(faulty_plan(12, kills=3, hangs=8), executor="local:2", limit_seconds=2)
    assert failures(rows) == {3: DIED, 8: "the run did not end within 2 s."}
    assert len(rows) == 12


@pytest.mark.parametrize("options", [{"workers": 1}, {"workers": 2, "executor": "threads"}], ids=str)
def test_a_run_that_hangs_in_this_process_costs_itself(options):
    rows = outcome(faulty_plan(12, hangs=5), limit_seconds=1, **options)
    assert failures(rows) == {5: "the run did not end within 1 s."}
    assert len(rows) == 12


def test_a_run_that_hangs_does_not_keep_the_process_alive():
    script = (
        "from tests.executors.test_pools import *\n"
        "print(failures(outcome(faulty_plan(4, hangs=1), workers=2, executor='threads', limit_seconds=1)))"
    )
    reply = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, timeout=500)
    assert reply.stdout == "{1: 'the run did not end within 1 s.'}\n", reply.stderr


class Flaky:
    """A pool of one worker that dies of its own accord, as often as it is told to and whatever it does."""

    width = 3
    reports = True

    def __init__(self, deaths: int, status: int | None = -signal.SIGKILL, begins: bool = True) -> None:
        self.left, self.status, self.begins = deaths, status, begins

    def submit(self, bundle, limit, report):
        future: Future[BundleResult] = Future()
        self.left -= 1
        if self.begins:
            report.begin(0, limit)
        if self.left >= 0:
            future.set_exception(BrokenExecutor())
        else:
            future.set_result(BundleResult([Row(*task, "done", "", 0.01, {}) for task in bundle.tasks]))
        return future

    def death(self, problem, pid):
        return Death(self.status) if isinstance(problem, BrokenExecutor) else None

    def look(self): ...

    def leave(self, under_way): ...


@pytest.fixture
def _no_pauses(monkeypatch):
    monkeypatch.setattr(crashes, "PAUSE_SECONDS", 0.0)


def rows_of(plan, pool) -> list[Row]:
    return [row for done in in_executor(Bundler(plan.runs()), pool, 10.0) for row in done.rows]


@pytest.mark.parametrize("deaths", [1, 2, 4])
@pytest.mark.usefixtures("_no_pauses")
def test_a_run_is_not_blamed_for_one_death_alone(deaths):
    rows = rows_of(faulty_plan(40), Flaky(deaths))
    assert sorted(row.seed for row in rows) == list(range(40))
    assert all(row.status == "done" for row in rows)


class Company(Flaky):
    """A pool like a cluster's: a death costs the bundle alone, and counts twice; the second bundle waits meanwhile."""

    def __init__(self) -> None:
        super().__init__(1)
        self.waiting: Future[BundleResult] | None = None

    def submit(self, bundle, limit, report):
        future = super().submit(bundle, limit, report)
        if self.left == -1:
            self.waiting, self.rows = Future(), future.result()
            return self.waiting
        if self.waiting is not None and not self.waiting.done():
            self.waiting.set_result(self.rows)
        return future

    def death(self, problem, pid):
        if self.waiting is not None and not self.waiting.done():
            threading.Timer(0.2, self.waiting.set_result, [self.rows]).start()
        return Death(self.status, times=2)


def test_a_run_is_not_blamed_for_deaths_in_company():
    rows = rows_of(faulty_plan(12), Company())
    assert sorted(row.seed for row in rows) == list(range(12))
    assert all(row.status == "done" for row in rows)


KILLED = "the worker process was killed by signal 9 three times during this run."


@pytest.mark.parametrize(
    ("deaths", "status", "outcome"),
    [
        (2, 9, ("done", "")),
        (3, 9, ("failed", DIED)),
        (2, -11, ("done", "")),
        (3, -11, ("failed", "the worker process was killed by signal 11 twice during this run.")),
        (3, -9, ("done", "")),
        (4, -9, ("failed", KILLED)),
        (3, None, ("done", "")),
        (4, None, ("failed", "the worker process died three times during this run.")),
    ],
)
@pytest.mark.usefixtures("_no_pauses")
def test_a_run_is_blamed_for_its_second_exit_alone_and_its_third_death_by_a_signal(deaths, status, outcome):
    """One death more, for the first is in company."""
    rows = rows_of(faulty_plan(1), Flaky(deaths, status))
    assert [(row.status, row.error) for row in rows] == [outcome]


@pytest.mark.usefixtures("_no_pauses")
def test_a_run_that_had_not_begun_is_never_blamed():
    rows = rows_of(faulty_plan(2), Flaky(20, begins=False))
    assert [row.status for row in rows] == ["done", "done"]


def test_a_run_is_tried_again_some_time_after_a_signal(monkeypatch):
    monkeypatch.setattr(crashes, "PAUSE_SECONDS", 0.3)
    pool, at = Flaky(2), []
    submit = pool.submit
    clock = time.monotonic  # stands for whoever waits meanwhile
    monkeypatch.setattr(pool, "submit", lambda *given: (at.append(clock()), submit(*given))[1])
    rows = rows_of(faulty_plan(1), pool)
    assert [row.status for row in rows] == ["done"]
    assert len(at) == 3
    assert at[2] - at[1] >= 0.3


class Assassin(Silent):
    """Kills or stops a worker whenever some more rows were kept, a number of times."""

    def __init__(self, times: int, victims: Callable[[], list[int]], by: int = signal.SIGKILL) -> None:
        self.left, self.victims, self.by = times, victims, by
        self.rows = 0

    def advance(self, row: Row) -> None:
        self.rows += 1
        if self.left and self.rows % 8 == 1:
            self.left -= 1
            alive = wait_until(self.victims)  # asked once: a nanny may start or bury one meanwhile
            os.kill(alive[self.left % len(alive)], self.by)


@pytest.mark.parametrize(
    "how",
    [
        pytest.param({"workers": 2}, marks=pytest.mark.slow),
        pytest.param({"executor": "local:2"}, marks=pytest.mark.slow),
    ],
    ids=str,
)
def test_workers_that_somebody_else_kills_cost_nothing(how):
    sleepy = faulty_plan(60, sleeps_ms=20)
    killer = Assassin(5, lambda: [*workers_of(os.getpid())])
    if "workers" in how:
        connect.close_all()  # whose workers are workers of this process too
    rows = outcome(sleepy, progress=killer, **how)
    assert killer.left == 0
    assert failures(rows) == {}
    assert len(rows) == killer.rows == 60
    assert {r.seed: r.measures for r in rows.values()} == {
        r.seed: r.measures for r in outcome(sleepy, workers=1).values()
    }


@pytest.mark.slow
def test_a_worker_that_somebody_stops_is_replaced_in_some_seconds(monkeypatch):
    """It held the driver for as long as a run may take."""
    monkeypatch.setattr(worker_process, "STOPPED_LOOKS", 2)
    stopper = Assassin(1, lambda: [*workers_of(os.getpid())], signal.SIGSTOP)
    connect.close_all()  # whose workers are workers of this process too
    rows = outcome(faulty_plan(24, sleeps_ms=20), progress=stopper, workers=2)
    assert (stopper.left, failures(rows), len(rows)) == (0, {}, 24)


def test_a_worker_that_is_closed_twice_closes_no_file_of_others():
    worker = worker_process.Worker()
    worker.ready()
    worker.close()
    files = [os.open(os.devnull, os.O_RDONLY) for _ in range(8)]
    worker.close()
    for file in files:
        os.close(file)


def test_a_local_cluster_leaves_no_folder(tmp_path, monkeypatch):
    monkeypatch.setenv("DASK_TEMPORARY_DIRECTORY", str(tmp_path))
    address = "local:1"
    connect.forget(connect.connection(address))
    assert [*tmp_path.rglob("worker-*")] == []


ORPHANS = """
import json, sys
from tests.executors.test_pools import *
from workbench.experiments.progress import Silent

class Told(Silent):
    def advance(self, row):
        print("a run ended", flush=True)

outcome(faulty_plan(8, hangs=2), limit_seconds=500, progress=Told(), **json.loads(sys.argv[1]))
"""


@pytest.mark.parametrize(
    "how", [{"workers": 2}, pytest.param({"executor": "local:2"}, marks=pytest.mark.slow)], ids=str
)
def test_no_worker_outlives_a_driver_that_is_killed(how):
    command = [sys.executable, "-c", ORPHANS, json.dumps(how)]
    driver = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
    assert driver.stdout.readline() == "a run ended\n"
    workers = wait_until(
        lambda: (results := [*workers_of(driver.pid)]) and len(results) >= 2 and results, what="two workers"
    )
    driver.kill()
    wait_until(lambda: not any(alive(worker) for worker in workers), what="the end of the workers")
    driver.communicate()


def alive(process: int) -> bool:
    try:
        return Path(f"/proc/{process}/stat").read_text().rsplit(")", 1)[1].split()[0] != "Z"
    except OSError:
        return False


def environment() -> dict[str, str | None]:
    return {name: os.environ.get(name) for name in WORKER_ENVIRONMENT}


class TellsItsThreads(Faulty):
    def workgroups(self, machine, streams):
        raise ValueError("one thread" if environment() == WORKER_ENVIRONMENT else "several")


def test_workers_do_their_arithmetic_in_one_thread():
    plan = faulty_plan(1)
    setup = plan.points[0].setup
    reply = setup._replace(workload=TellsItsThreads(**setup.workload.values()))
    rows = outcome(replace(plan, points=[plan.points[0]._replace(setup=reply)]), workers=2)
    assert "raised ValueError (one thread)" in failures(rows)[0]
    client = connect.connection("local:2").client
    assert set(map(str, client.run(environment).values())) == {str(WORKER_ENVIRONMENT)}


def test_a_broken_executor_that_was_handed_in_is_one_sentence():
    with ProcessPoolExecutor(1) as executor:
        with pytest.raises(
            WorkbenchError, match=r"handed in is broken.*what was finished is kept.*Under way .*seed 2 of first_fit"
        ):
            outcome(faulty_plan(4, kills=2), executor=executor)
        assert isinstance(executor, ProcessPoolExecutor)


def test_threads_that_are_handed_in_are_used():
    with ThreadPoolExecutor(2) as executor:
        assert wb.run(SEVERAL, executor=executor).table.equals(wb.run(SEVERAL, workers=1).table)


@pytest.mark.parametrize(
    ("address", "sentence"),
    [
        ("tcp://127.0.0.1:9", "the cluster at tcp://127.0.0.1:9 cannot be reached"),
        ("foo:bar", "the cluster at foo:bar cannot be reached"),
        ("local:none", "a local cluster is written local:N"),
        ("local:0", "a local cluster is written local:N"),
    ],
)
def test_a_cluster_that_is_not_there_is_one_sentence_after_one_try_that_ends(address, sentence, monkeypatch):
    import distributed

    requests, real = [], distributed.Client

    def client(*given, **options):
        requests.append(options["timeout"])
        return real(*given, **options)

    monkeypatch.setattr(distributed, "Client", client)
    monkeypatch.setattr(connect, "REACH_SECONDS", 1.0)
    with pytest.raises(WorkbenchError, match=sentence) as refused:
        wb.run(SEVERAL, executor=address)
    assert len(str(refused.value).splitlines()) == 1
    assert requests == ([] if address.startswith("local") else [1.0])


def test_a_cluster_without_workers_is_one_sentence(monkeypatch):
    from distributed import LocalCluster

    monkeypatch.setattr(connect, "WORKER_SECONDS", 0.2)
    sentence = "has had no worker for 0 s; start some with: dask worker tcp://"
    with LocalCluster(n_workers=0, dashboard_address=":0") as empty, pytest.raises(WorkbenchError, match=sentence):
        wb.run(SEVERAL, executor=empty.scheduler_address)


def test_workers_with_other_versions_are_named_and_refused(monkeypatch):
    client = connect.connection("local:2").client
    client.wait_for_workers(2, timeout=300)
    address = client.scheduler.address
    driver, mine = os.getpid(), origin()._replace(versions={**origin().versions, "numba": "0.1.0"})
    monkeypatch.setattr(connect, "origin", lambda: mine if os.getpid() == driver else origin())  # workers call it too
    sentence = r"worker tcp://\S+ has numba \S+ \(the driver: 0.1.0\) \(and 1 more differ\); install the same"
    with pytest.raises(WorkbenchError, match=sentence):
        wb.run(SEVERAL, executor=address)


def test_a_worker_without_the_workbench_is_named():
    assert connect._unlike(ModuleNotFoundError("No module named 'workbench'"), origin()) == (
        "no workbench of this version (ModuleNotFoundError: No module named 'workbench')"
    )


def test_a_cluster_that_goes_away_is_one_sentence():
    from distributed import LocalCluster

    cluster = LocalCluster(n_workers=1, threads_per_worker=1, dashboard_address=":0", silence_logs=60)
    ends = threading.Thread(target=lambda: wait_until(lambda: at_work(cluster)) and cluster.close())
    ends.start()
    with pytest.raises(WorkbenchError, match=r"the cluster at tcp://\S+ was lost; what was finished is kept."):
        outcome(faulty_plan(4, hangs=1), executor=cluster.scheduler_address, limit_seconds=300)
    ends.join()


def at_work(cluster) -> bool:
    """Whether a worker of a cluster has something to do."""
    return any(task.state == "processing" for task in list(cluster.scheduler.tasks.values()))


@pytest.mark.parametrize(
    ("executor", "workers", "sentence"),
    [
        ("thread", None, "unknown executor 'thread'; there are .* Did you mean threads?"),
        ("local:2", 3, "workers are counted for processes and threads"),
        ("processes", 1000, "workers must be a whole number from 0 to 256. Got 1000."),
    ],
)
def test_what_is_no_pool_is_one_sentence(executor, workers, sentence):
    with pytest.raises(InputError, match=sentence):
        wb.run(SEVERAL, executor=executor, workers=workers)


def test_a_limit_must_be_positive():
    with pytest.raises(InputError, match=r"the limit of a run must be more than 0 seconds. Got 0"):
        wb.run(SEVERAL, limit_seconds=0)


def test_a_pool_that_is_asked_for_by_name():
    assert bundle_executor("threads", 3).width == 3
