"""One worker process, and the socket to it."""

from __future__ import annotations

import json
import os
import pickle
import socket
import subprocess
import sys
import tempfile
from contextlib import suppress
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

from workbench.errors import WorkbenchError
from workbench.experiments.pools.elsewhere import environment_elsewhere, path_elsewhere
from workbench.hash_seed import ENVIRONMENT

WORKER_ENVIRONMENT = {
    **dict.fromkeys(
        ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMBA_NUM_THREADS", "NUMEXPR_NUM_THREADS"), "1"
    ),
    **ENVIRONMENT,
}
"""What a worker has in its environment: there are as many workers as cores, each does its arithmetic in one thread, and
a set of texts has the same order in all of them."""

WORKERS_OWN = {*WORKER_ENVIRONMENT, "NUMBA_CACHE_DIR", "TZ"}
"""What stays as a worker was started with it."""

LOOK_SECONDS = 0.5
"""How often a worker that says nothing is looked at: a copy of it may hold its socket open."""

END_SECONDS = 5.0
"""How long the end of a process is waited for; one that waits for a device cannot be ended."""

_PROGRAM = """
import json, sys
sys.path[:] = json.loads(sys.argv[1])
from workbench.experiments.pools.worker import serve
serve(*map(int, sys.argv[2:]))
"""


def request_of(arguments: tuple[Any, ...]) -> bytes:
    """Return what a worker is asked for: the arguments of `work_in_worker`, with the driver's environment as it is now.

    A worker may have been started long before, and what the user's code reads of the environment is the driver's.
    """
    return pickle.dumps(({name: value for name, value in os.environ.items() if name not in WORKERS_OWN}, arguments))


class WorkerDied(Exception):
    """A worker process ended before it had answered."""

    def __init__(self, status: int | None) -> None:
        super().__init__(f"a worker process ended with status {status}")
        self.status = status


class Worker:
    """One process, and the socket to it."""

    def __init__(self, elsewhere: Path | None = None) -> None:
        """Start it: as all workers are, or in another folder and with all else that no run may depend on otherwise."""
        ours, theirs = socket.socketpair()
        lifeline, self._held = os.pipe()
        self.given_up = False
        self._errors = tempfile.TemporaryFile()  # noqa: SIM115 - read when the process does not become ready
        handed = [theirs.fileno(), lifeline]
        path = json.dumps(
            [place for place in sys.path if isinstance(place, str)] if elsewhere is None else path_elsewhere()
        )
        flags = subprocess._args_from_interpreter_flags()  # type: ignore[attr-defined]
        numbers = [*handed, os.getpid(), int(elsewhere is not None)]
        command = [sys.executable, *flags, "-c", _PROGRAM, path, *map(str, numbers)]
        self._process = subprocess.Popen(
            command,
            pass_fds=handed,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=self._errors,
            env={**os.environ, **(WORKER_ENVIRONMENT if elsewhere is None else environment_elsewhere())},
            cwd=elsewhere,
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
                message = lines[-1] if lines else f"status {died.status}"
                raise WorkbenchError(f"a worker process cannot start: {message}") from None
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
