"""The program of a worker process: does the bundles that come through a socket until its driver is gone."""

from __future__ import annotations

import fcntl
import os
import pickle
import signal
import threading
import time
from collections.abc import Mapping
from contextlib import suppress
from multiprocessing.connection import Connection
from typing import Any

from workbench.errors import WorkbenchError
from workbench.experiments.fault import fault
from workbench.experiments.pools.elsewhere import shift_clock
from workbench.experiments.pools.worker_process import WORKERS_OWN
from workbench.experiments.unfit import Unfit
from workbench.experiments.work import fit_or_told, work_in_worker
from workbench.identity.observed import observe

READY = b"ready"


def serve(socket: int, lifeline: int, driver: int, elsewhere: int = 0) -> None:
    """Do what comes through a socket, and end with the driver, however it ends and whatever a run does then.

    Parameters
    ----------
    socket : int
        The descriptor of a socket to the driver.
    lifeline : int
        The descriptor of a pipe that the driver holds open.
    driver : int
        The driver's process.
    elsewhere : {0, 1}
        Whether runs are repeated here, under a clock that is ahead.
    """
    _die_with(lifeline, driver)
    if elsewhere:
        shift_clock()
    observe()
    connection = Connection(socket)
    connection.send_bytes(READY)
    be_quiet()
    with suppress(EOFError, OSError):
        while True:
            connection.send_bytes(pickle.dumps(_reply(connection.recv_bytes())))


def _reply(request: bytes) -> Any:
    """Return what came of a bundle, or the error that says why none of it can be done here."""
    try:
        with fit_or_told():
            variables, arguments = pickle.loads(request)
            _take_over(variables)
            return work_in_worker(*arguments)
    except Unfit as problem:
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


def _die_with(lifeline: int, driver: int) -> None:
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
