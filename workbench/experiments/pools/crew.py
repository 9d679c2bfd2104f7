"""A crew of worker processes, a thread of the driver at the side of each: a death costs one bundle and one worker."""

from __future__ import annotations

import threading
from concurrent.futures import Future
from queue import Empty, SimpleQueue
from typing import NamedTuple

from workbench.errors import WorkbenchError
from workbench.experiments.pools.worker_process import Worker, WorkerDied
from workbench.experiments.unfit import Unfit
from workbench.experiments.work import Done

IDLE_SECONDS = 300
"""After which a worker without work ends; until then the next sweep of this process finds it warm."""

MOST_STARTS = 20
"""Workers that may be killed in a row before they are ready."""


class _Job(NamedTuple):
    future: Future[Done]
    request: bytes


class _Hand(threading.Thread):
    """Passes jobs to one worker after the other, as long as there are jobs."""

    def __init__(self, jobs: SimpleQueue[_Job | None]) -> None:
        super().__init__(daemon=True)
        self._jobs = jobs
        self._lock = threading.Lock()
        self._worker: Worker | None = None
        self._future: Future[Done] | None = None
        """The job that the worker does."""
        self._given_up: Future[Done] | None = None

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
        if isinstance(reply, Unfit):
            self.kill()
            self.dismiss()
        if isinstance(reply, BaseException):
            job.future.set_exception(reply)
            return
        if reply.stuck:
            self.kill()
            self.dismiss()
        job.future.set_result(reply)

    def _have(self, future: Future[Done]) -> Worker:
        """Return the worker, started if there is none, unless the job was given up meanwhile."""
        worker = self._worker or _started()
        with self._lock:
            self._worker = worker
            if self._given_up is future:
                raise WorkerDied(None)
        return worker

    def end(self, future: Future[Done]) -> None:
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


class Crew:
    """A number of worker processes, started when there is something to do."""

    def __init__(self, workers: int) -> None:
        self._jobs: SimpleQueue[_Job | None] = SimpleQueue()
        self._hands = [_Hand(self._jobs) for _ in range(workers)]
        for hand in self._hands:
            hand.start()

    def submit(self, request: bytes) -> Future[Done]:
        """Have a bundle done by the next worker that has nothing to do."""
        future: Future[Done] = Future()
        self._jobs.put(_Job(future, request))
        return future

    def end(self, future: Future[Done]) -> None:
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
