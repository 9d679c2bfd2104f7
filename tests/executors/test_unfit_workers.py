"""An exception of a worker's own machinery: the worker is replaced, and no run is blamed for what another one left."""

from __future__ import annotations

import pickle
import threading
from concurrent.futures import Future

import pytest

from benchmarks.faults.runs import faulty_plan
from workbench.errors import WorkbenchError
from workbench.executors import worker_process
from workbench.executors.bundles import Bundle, Bundler
from workbench.executors.worker_process import request_of
from workbench.experiments.runner import in_executor
from workbench.runs import crashes
from workbench.runs import worker as work
from workbench.runs.crashes import Death, WorkerFailure
from workbench.runs.origin import origin
from workbench.runs.pickled_setups import Packer
from workbench.runs.row import Row
from workbench.runs.run import Task
from workbench.runs.worker import BundleResult

LEFT = "its worker could not go on: RuntimeError (no thread)."


class Spoiled:
    """Workers of which each is of no use after certain runs, until it is replaced; `itself` fails in them at once."""

    reports = True

    def __init__(self, spoilers: set[int], itself: set[int] = frozenset(), workers: int = 2) -> None:
        self.width = workers
        self._spoilers, self._itself = spoilers, itself
        self._spoiled, self._used = [False] * workers, [False] * workers
        self._turn = 0
        self.replaced = 0

    def submit(self, bundle: Bundle, limit: float, report) -> Future[BundleResult]:
        future: Future[BundleResult] = Future()
        self._turn = (self._turn + 1) % self.width
        here, used = self._turn, self._used[self._turn]
        self._used[here] = True
        rows = []
        for index, task in enumerate(bundle.tasks):
            report.begin(index, limit)
            if self._spoiled[here] or task.seed in self._itself:
                future.set_exception(WorkerFailure("RuntimeError (no thread)", used))
                self._spoiled[here] = self._used[here] = False
                self.replaced += 1
                return future
            self._spoiled[here] = task.seed in self._spoilers
            rows.append(Row(*task, "done", "", 1e-3, {}))
        future.set_result(BundleResult(rows))
        return future

    def death(self, problem, pid):
        return problem.death() if isinstance(problem, WorkerFailure) else None

    def look(self): ...

    def leave(self, under_way): ...


def rows_of(seeds: int, pool: Spoiled) -> dict[int, Row]:
    rows = [row for done in in_executor(Bundler(faulty_plan(seeds).runs()), pool, 10.0) for row in done.rows]
    assert len(rows) == seeds
    return {row.seed: row for row in rows}


@pytest.mark.parametrize("spoilers", [{20}, {20, 21, 22}, {0, 5, 58, 59}, set(range(0, 60, 3))], ids=str)
@pytest.mark.parametrize("workers", [1, 2, 4])
def test_runs_that_spoil_their_worker_cost_nothing_and_no_other_is_blamed(spoilers, workers):
    pool = Spoiled(spoilers, workers=workers)
    assert {row.status for row in rows_of(60, pool).values()} == {"done"}
    assert pool.replaced <= 3 * len(spoilers)


@pytest.mark.parametrize("workers", [1, 4])
def test_a_run_in_which_every_worker_fails_is_blamed_with_the_cause(workers):
    pool = Spoiled({3, 41, 42}, itself={30}, workers=workers)
    rows = rows_of(60, pool)
    assert {seed: row.error for seed, row in rows.items() if row.status != "done"} == {30: LEFT}


def test_a_failure_in_a_worker_that_did_other_runs_is_no_strike():
    result = crashes.CrashPolicy()
    spoiled = WorkerFailure("RuntimeError (no thread)", used=True).death()
    fresh = WorkerFailure("RuntimeError (no thread)", used=False).death()
    assert [result.add("a", death) for death in (spoiled, spoiled, spoiled, fresh, fresh)] == [None] * 4 + [LEFT]
    assert spoiled.pause_seconds == 0
    assert result.add("b", Death(3)) is None


@pytest.fixture
def request_of_one_run(monkeypatch):
    monkeypatch.setattr(work, "install", lambda: None)
    (point,) = (plan := faulty_plan(1)).points
    (run,) = plan.runs()
    packed = {point.id: Packer().pack(point.id, point.setup)}
    return request_of((packed, [Task(run.id, point.id, run.seed)], 5.0, origin(), work.SILENT, None))


def test_a_worker_that_cannot_start_a_run_says_so_and_whether_it_did_others(request_of_one_run, monkeypatch):
    def no_thread(_: threading.Thread) -> None:
        raise RuntimeError("no thread")

    monkeypatch.setattr(work, "_did_runs", False)
    monkeypatch.setattr(threading.Thread, "start", no_thread)
    for used in (False, True):
        message = worker_process._reply(request_of_one_run)
        assert isinstance(message, WorkerFailure)
        assert (str(message), message.used) == ("RuntimeError (no thread)", used)
        assert pickle.loads(pickle.dumps(message)).args == message.args
    assert isinstance(worker_process._reply(b"no request"), WorkerFailure)


def test_what_a_fresh_worker_cannot_even_open_is_no_runs_fault(monkeypatch):
    monkeypatch.setattr(work, "_did_runs", False)
    message = worker_process._reply(b"no request")
    assert isinstance(message, WorkbenchError)
    assert str(message).startswith("a worker cannot do a run: ")
