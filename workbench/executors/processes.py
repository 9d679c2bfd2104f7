"""Workers of this machine: processes, with a thread of the driver at the side of each, or threads.

A process that dies costs one bundle and one worker. Threads have nothing to start and nothing to send; engines release
the lock that Python code shares.
"""

from __future__ import annotations

import atexit
import os
import sys
import threading
from collections.abc import Sequence
from concurrent.futures import Future
from queue import Empty, SimpleQueue
from typing import NamedTuple

from workbench.errors import WorkbenchError
from workbench.executors.bundles import Bundle, Requests
from workbench.executors.worker_process import Worker, WorkerDied, request_of
from workbench.runs.crashes import Death, WorkerFailure
from workbench.runs.watchdog import Reporter
from workbench.runs.worker import BundleResult, execute_with_timeout


class Processes:
    """A pool of processes to which policies from a notebook can travel; kept for the next sweep of this process.

    Raises
    ------
    WorkbenchError
        The optional part `workers` is not installed.
    """

    reports = True

    def __init__(self, workers: int) -> None:
        self.width = 2 * workers
        self._requests = Requests()
        self._crew = _crew(workers)

    def submit(self, bundle: Bundle, limit: float, report: Reporter) -> Future[BundleResult]:
        return self._crew.submit(request_of(self._requests.pack(bundle, limit, report)))

    def death(self, problem: BaseException, pid: int) -> Death | None:
        if isinstance(problem, WorkerFailure):
            return problem.death()
        return Death(problem.status) if isinstance(problem, WorkerDied) else None

    def end(self, future: Future[BundleResult], pid: int) -> bool:
        self._crew.end(future)
        return True

    def replace(self, worker: str) -> None:
        """Do nothing: the crew has replaced it already."""

    def look(self) -> None: ...

    def leave(self, under_way: Sequence[Future[BundleResult]]) -> None:
        for future in under_way:
            if not future.cancel():
                self._crew.end(future)


class Crew:
    """A number of worker processes, started when there is something to do."""

    def __init__(self, workers: int) -> None:
        self._jobs: SimpleQueue[_Job | None] = SimpleQueue()
        self._hands = [_Hand(self._jobs) for _ in range(workers)]
        for hand in self._hands:
            hand.start()

    def submit(self, request: bytes) -> Future[BundleResult]:
        """Have a bundle done by the next worker that has nothing to do."""
        future: Future[BundleResult] = Future()
        self._jobs.put(_Job(future, request))
        return future

    def end(self, future: Future[BundleResult]) -> None:
        """Kill the worker that does a bundle, if one does."""
        for hand in self._hands:
            hand.end(future)

    def dismiss(self) -> None:
        """Let every worker go when it has done what it does."""
        for _ in self._hands:
            self._jobs.put(None)

    def kill(self) -> None:
        """End every worker at once."""
        for hand in self._hands:
            hand.kill()


_kept: dict[tuple[object, ...], Crew] = {}
"""The crew of the latest sweep: at most one."""


def _crew(workers: int) -> Crew:
    """Return the crew of the last sweep if it is as large and was started from the same places, else another."""
    kind = (workers, os.getpid(), os.getcwd(), *sys.path)
    if kind not in _kept:
        for _, crew in list(_kept.items()):
            crew.dismiss()
        _kept.clear()
        _kept[kind] = Crew(workers)
    return _kept[kind]


@atexit.register
def _end_all() -> None:
    for crew in _kept.values():
        crew.kill()


IDLE_SECONDS = 300
"""After which a worker without work ends; until then the next sweep of this process finds it warm."""

MOST_STARTS = 20
"""Workers that may be killed in a row before they are ready."""


class _Job(NamedTuple):
    future: Future[BundleResult]
    request: bytes


class _Hand(threading.Thread):
    """Passes jobs to one worker after the other, as long as there are jobs."""

    def __init__(self, jobs: SimpleQueue[_Job | None]) -> None:
        super().__init__(daemon=True)
        self._jobs = jobs
        self._lock = threading.Lock()
        self._worker: Worker | None = None
        self._future: Future[BundleResult] | None = None
        """The job that the worker does."""
        self._given_up: Future[BundleResult] | None = None

    def run(self) -> None:
        while True:
            try:
                job = self._jobs.get(timeout=IDLE_SECONDS if self._worker else None)
            except Empty:
                self.dismiss()
                continue
            if job is None:
                break
            if job.future.set_running_or_notify_cancel():
                self._do(job)
        self.dismiss()

    def _do(self, job: _Job) -> None:
        self._future = job.future
        try:
            reply = self._have(job.future).ask(job.request)
        except BaseException as problem:
            reply = problem
            self.dismiss()
        self._future = None
        if isinstance(reply, WorkerFailure):
            self.kill()
            self.dismiss()
        if isinstance(reply, BaseException):
            job.future.set_exception(reply)
            return
        if reply.stuck:
            self.kill()
            self.dismiss()
        job.future.set_result(reply)

    def _have(self, future: Future[BundleResult]) -> Worker:
        """Return the worker, started if there is none, unless the job was given up meanwhile."""
        worker = self._worker or _started()
        # If `end` was called while the worker started, it found no worker to kill.
        with self._lock:
            self._worker = worker
            if self._given_up is future:
                raise WorkerDied(None)
        return worker

    def end(self, future: Future[BundleResult]) -> None:
        """Kill the worker if it does a job, or is being started for it."""
        with self._lock:
            if self._future is future:
                self._given_up = future
                self.kill()

    def kill(self) -> None:
        """End the worker at once."""
        worker = self._worker
        if worker is not None:
            worker.kill()

    def dismiss(self) -> None:
        """Let the worker end when it has nothing to do."""
        worker, self._worker = self._worker, None
        if worker is not None:
            worker.close()


def _started() -> Worker:
    """Return a worker that is ready; one that is killed before it is, is tried again."""
    for _ in range(MOST_STARTS):
        worker = Worker()
        try:
            worker.ready()
        except WorkerDied:
            continue
        return worker
    raise WorkbenchError(f"{MOST_STARTS} worker processes in a row were killed before they were ready.")


class Threads:
    """A thread a bundle, a fixed number at a time.

    The threads end with the process whatever they do, so a run that hangs cannot keep it alive; until then it goes on.
    A run that ends or stops its process, or holds Python's lock in native code, does so to this one: policies that are
    not trusted belong in processes.
    """

    reports = False

    def __init__(self, workers: int) -> None:
        self.width = workers

    def submit(self, bundle: Bundle, limit: float, report: Reporter) -> Future[BundleResult]:
        future: Future[BundleResult] = Future()
        threading.Thread(target=_do, args=(future, bundle, limit), daemon=True).start()
        return future

    def death(self, problem: BaseException, pid: int) -> Death | None:
        return None

    def end(self, future: Future[BundleResult], pid: int) -> bool:
        return False

    def replace(self, worker: str) -> None: ...

    def look(self) -> None: ...

    def leave(self, under_way: Sequence[Future[BundleResult]]) -> None: ...


def _do(future: Future[BundleResult], bundle: Bundle, limit: float) -> None:
    try:
        future.set_result(execute_with_timeout(bundle.setups, bundle.tasks, limit, user_measures=bundle.user_measures))
    except BaseException as problem:  # raised again where the result is asked for
        future.set_exception(problem)
