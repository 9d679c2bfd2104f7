"""Compile the engines of later sweeps in a process of its own, while earlier sweeps run.

The process does one run of each point of those sweeps, and keeps no row: it leaves compiled code in the cache. It holds
the engine's lock meanwhile (`first_run`). A run that arrives waits for it and compiles nothing twice. The system frees
the lock when the process ends, also after a crash. A failure here is silent: the sweep itself reports it.
"""

from __future__ import annotations

import pickle
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from multiprocessing.connection import Connection
from pathlib import Path

from workbench.compiled import INTERPRETED
from workbench.errors import WorkbenchError
from workbench.executors.worker_process import WORKER_ENVIRONMENT, Child, be_quiet, die_with
from workbench.experiments.plan import make_plan
from workbench.experiments.sweep import read_sweep
from workbench.mechanisms.compilation import first_run, is_compiled


@contextmanager
def compiling_ahead(sweeps: Sequence[str]) -> Iterator[None]:
    """Compile, within this context, the engines that the first of some sweeps does not have.

    Parameters
    ----------
    sweeps : sequence of str
        The files in the order in which they run.
    """
    if INTERPRETED or len(sweeps) < 2:
        yield
        return
    child = Child(__name__, WORKER_ENVIRONMENT, 0)
    try:
        child.send(pickle.dumps(list(sweeps)))
        yield
    finally:
        child.kill()
        child.close()


def serve(socket: int, lifeline: int, driver: int, _: int) -> None:
    """Compile for the sweeps that come through a socket, and end.

    Parameters
    ----------
    socket : int
        The descriptor of a socket to the driver.
    lifeline : int
        The descriptor of a pipe that the driver holds open.
    driver : int
        The driver's process.
    """
    die_with(lifeline, driver)
    be_quiet()
    with suppress(EOFError, OSError):
        compile_later(pickle.loads(Connection(socket).recv_bytes()))


def compile_later(sweeps: Sequence[str]) -> None:
    """Compile the engines of sweeps, but for the engine of the first one; leave out sweeps with files of code."""
    engines: set[str] = set()
    for name in sweeps:
        with suppress(WorkbenchError, OSError):
            if ".py" in Path(name).read_text():
                continue
            sweep = read_sweep(name)
            engine = sweep.mechanism.engine
            if engines and engine.name not in engines and not is_compiled(engine.name):
                with first_run(engine.name):
                    for point in make_plan(sweep).points:
                        sweep.mechanism.measure(engine.simulate(point.setup, sweep.seeds[0]))
            engines.add(engine.name)
