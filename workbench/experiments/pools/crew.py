"""A crew of worker processes, a thread of the driver at the side of each: a death costs one bundle and one worker."""

from __future__ import annotations

import json
import os
import pickle
import socket
import subprocess
import sys
import tempfile
import threading
from concurrent.futures import Future
from contextlib import suppress
from multiprocessing.connection import Connection
from queue import Empty, SimpleQueue
from typing import Any, NamedTuple

from workbench.errors import WorkbenchError
from workbench.experiments.work import Done

ONE_THREAD = dict.fromkeys(
    ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMBA_NUM_THREADS", "NUMEXPR_NUM_THREADS"), "1"
)
"""The environment of a worker: there are as many workers as cores, and each does its arithmetic in one thread."""

IDLE_SECONDS = 300
"""After which a worker without work ends; until then the next sweep of this process finds it warm."""

LOOK_SECONDS = 0.5
"""How often a worker that says nothing is looked at: a copy of it may hold its socket open."""

END_SECONDS = 5.0
"""How long the end of a process is waited for; one that waits for a device cannot be ended."""

MOST_STARTS = 20
"""Workers that may be killed in a row before they are ready."""

_PROGRAM = """
import json, sys
sys.path[:] = json.loads(sys.argv[1])
from workbench.experiments.pools.worker import serve
serve(*map(int, sys.argv[2:]))
"""


class WorkerDied(Exception):
    """A worker process ended before it had answered."""

    def __init__(self, status: int | None) -> None:
        super().__init__(f"a worker process ended with status {status}")
        self.status = status


class Worker:
    """One process, and the socket to it."""

    def __init__(self) -> None:
        ours, theirs = socket.socketpair()
        lifeline, self._held = os.pipe()
        self.given_up = False
        self._errors = tempfile.TemporaryFile()  # noqa: SIM115 - read when the process does not become ready
        handed = [theirs.fileno(), lifeline]
        path = json.dumps([place for place in sys.path if isinstance(place, str)])
        flags = subprocess._args_from_interpreter_flags()  # type: ignore[attr-defined]
        command = [sys.executable, *flags, "-c", _PROGRAM, path, *map(str, [*handed, os.getpid()])]
        self._process = subprocess.Popen(
            command,
            pass_fds=handed,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=self._errors,
            env={**os.environ, **ONE_THREAD},
        )
        os.close(lifeline)
        theirs.close()
        self._connection = Connection(ours.detach())

    def ready(self) -> None:
        """Wait until it can be asked.

        Raises
        ------
        WorkerDied
            It was killed meanwhile.
        WorkbenchError
            It cannot start.
        """
        try:
            self._receive()
        except WorkerDied as died:
            if died.status is not None and died.status > 0:
                self._errors.seek(0)
                lines = self._errors.read().decode(errors="replace").strip().splitlines()
                said = lines[-1] if lines else f"status {died.status}"
                raise WorkbenchError(f"a worker process cannot start: {said}") from None
            raise
        finally:
            self._errors.close()

    def ask(self, request: bytes) -> Any:
        """Have a bundle done; raises WorkerDied if the process ends meanwhile, or is given up."""
        try:
            self._connection.send_bytes(request)
        except OSError:
            raise WorkerDied(self._status()) from None
        return pickle.loads(self._receive())

    def _receive(self) -> bytes:
        try:
            while not self._connection.poll(LOOK_SECONDS):
                if self.given_up or (self._process.poll() is not None and not self._connection.poll()):
                    raise WorkerDied(self._status())
            return self._connection.recv_bytes()
        except (OSError, EOFError):
            raise WorkerDied(self._status()) from None

    def _status(self) -> int | None:
        """Return how the process ended; None for one that does not."""
        self.close()
        with suppress(subprocess.TimeoutExpired):
            return self._process.wait(0.0 if self.given_up else END_SECONDS)
        self.kill()
        return None

    def kill(self) -> None:
        """End the process at once, and wait for nothing: one that waits for a device ends when that answers."""
        self.given_up = True
        self._process.kill()

    def close(self) -> None:
        """Hang up: the process ends when it has nothing to do."""
        with suppress(OSError):
            self._connection.close()
            os.close(self._held)


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
