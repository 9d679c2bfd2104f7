"""Do some runs of one point and return their rows: the one function that travels to a worker."""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from workbench.engines.engine import Setup
from workbench.errors import WorkbenchError
from workbench.experiments.mechanism import Mechanism, mechanism
from workbench.experiments.sources import check_sources
from workbench.experiments.store import Row

Task = tuple[str, str, int]
"""Run id, point id, seed."""


def work(setup: Setup, tasks: Sequence[Task], see: Callable[[Any], None] | None = None) -> list[Row]:
    """Run each seed of a setup; a run that fails is a row that says why.

    `see` is shown the record of every run that does not fail: it is gone afterwards.
    """
    found = mechanism(setup.engine)
    return [_row(found, setup, task, see) for task in tasks]


def work_in_worker(setup: Setup, tasks: Sequence[Task], limit_seconds: float, driver: tuple[str, int]) -> list[Row]:
    """The same for a driver (its sources and process number), usually in a process of its own.

    That process ends itself when one run takes longer than the limit; a thread of the driver's cannot.
    """
    check_sources(driver[0])
    if os.getpid() == driver[1]:
        return work(setup, tasks)
    found = mechanism(setup.engine)
    rows = []
    for task in tasks:
        with _ends_after(limit_seconds):
            rows.append(_row(found, setup, task))
    return rows


@contextmanager
def _ends_after(seconds: float) -> Iterator[None]:
    """Compiled code cannot be interrupted, but it holds no lock: a timer ends the process under it."""
    timer = threading.Timer(seconds, os._exit, (1,))
    timer.daemon = True
    timer.start()
    try:
        yield
    finally:
        timer.cancel()


def _row(found: Mechanism, setup: Setup, task: Task, see: Callable[[Any], None] | None = None) -> Row:
    run, point, seed = task
    began = time.perf_counter()
    try:
        record = found.engine.simulate(setup, seed)
        measures = found.measure(record)
        if see is not None:
            see(record)
    except WorkbenchError as problem:
        return failed(task, str(problem), time.perf_counter() - began)
    except MemoryError:
        return failed(task, "the run needs more memory than there is.", time.perf_counter() - began)
    return Row(run, point, seed, "done", "", time.perf_counter() - began, measures)


def failed(task: Task, error: str, seconds: float = 0.0) -> Row:
    """The row of a run that failed."""
    return Row(*task, "failed", error, seconds, {})
