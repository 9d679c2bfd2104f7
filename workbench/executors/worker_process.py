"""One worker process: how it is started, the socket to it, and the program that it runs until its driver is gone.

Runs are repeated in a process that differs from the driver in all that no run may depend on (environment, clock), so
that what does depend on it shows.
"""

from __future__ import annotations

import datetime
import fcntl
import json
import os
import pickle
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

from workbench.errors import WorkbenchError
from workbench.identity.observed import observe
from workbench.process import ENVIRONMENT, FIXED, VARIABLE
from workbench.runs.crashes import WorkerFailure
from workbench.runs.faults import fault
from workbench.runs.worker import attribute_crash, worker_entry

_THREADS = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMBA_NUM_THREADS", "NUMEXPR_NUM_THREADS")
WORKER_ENVIRONMENT = {**dict.fromkeys(_THREADS, "1"), **ENVIRONMENT}
"""What a worker has in its environment: there are as many workers as cores, each does its arithmetic in one thread, and
a set of texts has the same order in all of them."""

WORKERS_OWN = {*WORKER_ENVIRONMENT, "NUMBA_CACHE_DIR", "TZ"}
"""What stays as a worker was started with it."""

LOOK_SECONDS = 0.5
"""How often a worker that says nothing is looked at: a copy of it may hold its socket open."""

STOPPED_LOOKS = 10
"""How many looks in a row a worker may be stopped (by SIGSTOP) while this process goes on: then it is ended."""

END_SECONDS = 5.0
"""How long the end of a process is waited for; one that waits for a device cannot be ended."""

_PROGRAM = """
import importlib, json, sys
sys.path[:] = json.loads(sys.argv[1])
importlib.import_module(sys.argv[2]).serve(*map(int, sys.argv[3:]))
"""
"""The main module of a child process: the user's may have no main guard, so it is never imported there."""


def request_of(arguments: tuple[Any, ...]) -> bytes:
    """Return the request to a worker: the arguments of `worker_entry`, with the driver's environment as it is now.

    A worker may have been started long before, and what the user's code reads of the environment is the driver's.
    """
    return pickle.dumps(({name: value for name, value in os.environ.items() if name not in WORKERS_OWN}, arguments))


class WorkerDied(Exception):
    """A worker process ended before it had answered."""

    def __init__(self, status: int | None) -> None:
        super().__init__(f"a worker process ended with status {status}")
        self.status = status


class Child:
    """A process that calls `serve` of a module, and the socket to it."""

    name = "process"

    def __init__(self, module: str, environment: Mapping[str, str], number: int) -> None:
        """Start it with some variables set; `serve` gets a socket, a lifeline, the driver's process and a number."""
        ours, theirs = socket.socketpair()
        lifeline, self._held = os.pipe()
        self.given_up = False
        self._errors = tempfile.TemporaryFile()  # noqa: SIM115 - read when the process does not become ready
        handed = [theirs.fileno(), lifeline]
        path = json.dumps([one for one in sys.path if isinstance(one, str)])
        flags = subprocess._args_from_interpreter_flags()  # type: ignore[attr-defined]
        numbers = [*handed, os.getpid(), number]
        command = [sys.executable, *flags, "-c", _PROGRAM, path, module, *map(str, numbers)]
        self._process = subprocess.Popen(
            command,
            pass_fds=handed,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=self._errors,
            env={**os.environ, **environment},
        )
        os.close(lifeline)
        # If the child's end stayed open here, the socket would not tell when the child has ended.
        theirs.close()
        self._connection = Connection(ours.detach())

    def ready(self) -> bytes:
        """Wait until it can be asked; return its first message.

        Raises
        ------
        WorkerDied
            It was killed meanwhile.
        WorkbenchError
            It cannot start.
        """
        try:
            return self._receive()
        except WorkerDied as died:
            if died.status is not None and died.status > 0:
                self._errors.seek(0)
                lines = self._errors.read().decode(errors="replace").strip().splitlines()
                message = lines[-1] if lines else f"status {died.status}"
                raise WorkbenchError(f"a {self.name} cannot start: {message}") from None
            raise
        finally:
            self._errors.close()

    def ask(self, request: bytes) -> Any:
        """Return the reply to a request; raises WorkerDied if the process ends meanwhile, or is given up."""
        try:
            self.send(request)
        except OSError:
            raise WorkerDied(self._status()) from None
        return pickle.loads(self._receive())

    def send(self, request: bytes) -> None:
        """Send a request, and wait for nothing; raises OSError if the process has ended."""
        self._connection.send_bytes(request)

    def _receive(self) -> bytes:
        stopped = 0
        try:
            while not self._connection.poll(LOOK_SECONDS):
                stopped = stopped + 1 if _is_stopped(self._process.pid) else 0
                if stopped == STOPPED_LOOKS:
                    self._process.kill()  # it ends as one that was killed from outside, and its runs are done again
                # A process that has ended may have left its last message in the socket.
                if self.given_up or (self._process.poll() is not None and not self._connection.poll()):
                    raise WorkerDied(self._status())
            return self._connection.recv_bytes()
        except (OSError, EOFError):
            raise WorkerDied(self._status()) from None

    def _status(self) -> int | None:
        """Return the end of the process; None for one that does not end."""
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
        if not self._connection.closed:  # a number closed twice may be of another file by then
            self._connection.close()
            os.close(self._held)


class Worker(Child):
    """A process that does bundles of runs."""

    name = "worker process"

    def __init__(self, repeats: bool = False) -> None:
        """Start it: as all workers are, or to repeat runs, with all that no run may depend on otherwise."""
        super().__init__(
            "workbench.executors.worker_process",
            environment_elsewhere() if repeats else WORKER_ENVIRONMENT,
            int(repeats),
        )


def _is_stopped(pid: int) -> bool:
    """Return whether a process is stopped, as far as the system tells."""
    try:
        state = Path(f"/proc/{pid}/stat").read_text()
    except OSError:
        return False
    return state.rpartition(")")[2].split()[:1] == ["T"]


READY = b"ready"


def serve(socket: int, lifeline: int, driver: int, repeats: int = 0) -> None:
    """Do what comes through a socket, and end with the driver, however it ends and whatever a run does then.

    Parameters
    ----------
    socket : int
        The descriptor of a socket to the driver.
    lifeline : int
        The descriptor of a pipe that the driver holds open.
    driver : int
        The driver's process.
    repeats : {0, 1}
        Whether runs are repeated here, under a clock that is ahead.
    """
    die_with(lifeline, driver)
    sys.argv[1:] = ["repeats"] * repeats  # code may read these, too
    if repeats:
        shift_clock()
    observe(does_nothing_else=True)
    connection = Connection(socket)
    connection.send_bytes(READY)
    be_quiet()
    with suppress(EOFError, OSError):
        while True:
            connection.send_bytes(pickle.dumps(_reply(connection.recv_bytes())))


def _reply(request: bytes) -> Any:
    """Return the outcome of a bundle, or the error that says why none of it can be done here."""
    try:
        with attribute_crash():
            variables, arguments = pickle.loads(request)
            _take_over(variables)
            return worker_entry(*arguments)
    except WorkerFailure as problem:
        return problem
    except WorkbenchError as problem:
        return WorkbenchError(str(problem))
    except BaseException as problem:
        return WorkbenchError(f"a worker cannot do a run: {fault(problem)}")


def _take_over(variables: Mapping[str, str]) -> None:
    """Have the environment of the driver, but for what is a worker's own."""
    for name in os.environ.keys() - variables.keys() - WORKERS_OWN:
        del os.environ[name]
    for name, value in variables.items():
        if os.environ.get(name) != value:
            os.environ[name] = value


def be_quiet() -> None:
    """Leave Ctrl-C to the driver, and send what native code and copies of this process print nowhere.

    What Python code prints in a run is captured before.
    """
    with suppress(ValueError):  # not the main thread
        signal.signal(signal.SIGINT, signal.SIG_IGN)
    nowhere = os.open(os.devnull, os.O_RDWR)
    for stream in (1, 2):
        os.dup2(nowhere, stream)
    os.close(nowhere)


def die_with(lifeline: int, driver: int) -> None:
    """Have the system kill this process when the pipe's other end closes; a thread looks too, where it cannot."""
    with suppress(OSError, AttributeError, ValueError):
        fcntl.fcntl(lifeline, fcntl.F_SETSIG, signal.SIGKILL)
        fcntl.fcntl(lifeline, fcntl.F_SETOWN, os.getpid())
        fcntl.fcntl(lifeline, fcntl.F_SETFL, fcntl.fcntl(lifeline, fcntl.F_GETFL) | os.O_ASYNC)

    def watch() -> None:
        while os.getppid() == driver:
            time.sleep(0.5)
        os._exit(1)

    threading.Thread(target=watch, daemon=True).start()


AHEAD_SECONDS = 1009 * 86400 + 5 * 3600 + 17 * 60 + 23
"""By how much the clock of such a process is ahead: another year, month, day of the week, hour, minute and second."""

_COUNT_ON_DATES = ("cftime", "dateutil", "pandas", "polars", "psycopg2", "pyarrow", "pytz", "sqlalchemy", "xarray")
"""Packages whose compiled code, or that of what they import, takes Python's own class of dates for granted."""

DIFFERENCES = "another hash seed, time zone, clock and number of threads"
"""What such a process has, as a part of a sentence."""


def environment_elsewhere() -> dict[str, str]:
    """Return the environment of such a process; machine code of the engines is kept where it is.

    >>> environment_elsewhere()["PYTHONHASHSEED"] == FIXED
    False
    """
    zone = "Pacific/Kiritimati" if os.environ.get("TZ") != "Pacific/Kiritimati" else "America/Caracas"
    kept = {name: os.path.abspath(place) for name in ("NUMBA_CACHE_DIR",) if (place := os.environ.get(name))}
    return {**dict.fromkeys(_THREADS, "2"), VARIABLE: str(int(FIXED) + 1), "TZ": zone, **kept}


def shift_clock(seconds: int = AHEAD_SECONDS) -> None:
    """Set the clock of this process ahead, for all that Python code asks for the time of day."""
    now, now_ns = time.time, time.time_ns
    time.time = lambda: now() + seconds
    time.time_ns = lambda: now_ns() + seconds * 10**9
    for name in ("localtime", "gmtime", "ctime"):
        setattr(time, name, _of_shifted(getattr(time, name)))
    strftime, asctime, localtime = time.strftime, time.asctime, time.localtime
    time.strftime = lambda text, when=None: strftime(text, localtime() if when is None else when)
    time.asctime = lambda when=None: asctime(localtime() if when is None else when)
    ahead = datetime.timedelta(seconds=seconds)
    original = datetime.datetime

    class Shifted(original):  # type: ignore[misc,valid-type]
        """A date with its time, whose `now` is ahead."""

        @classmethod
        def now(cls, tz: Any = None) -> Any:
            return super().now(tz) + ahead

        @classmethod
        def today(cls) -> Any:
            return cls.now()

        @classmethod
        def utcnow(cls) -> Any:
            return cls.now(datetime.UTC).replace(tzinfo=None)

    class Restoring:
        """Gives the class back before a package is imported that counts on Python's own."""

        def find_spec(self, name: str, *more: Any) -> None:
            if name in _COUNT_ON_DATES:
                vars(datetime)["datetime"] = original

    sys.meta_path.insert(0, Restoring())
    Shifted.__name__ = Shifted.__qualname__ = original.__name__
    Shifted.__module__ = original.__module__
    vars(datetime)["datetime"] = Shifted


def _of_shifted(function: Callable[..., Any]) -> Callable[..., Any]:
    return lambda seconds=None: function(time.time() if seconds is None else seconds)
