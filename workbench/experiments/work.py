"""Do some runs of one point and return their rows: the one function that travels to a worker."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

from workbench.engines.engine import Setup
from workbench.errors import WorkbenchError
from workbench.experiments.measured_by import measures_digest
from workbench.experiments.mechanism import Mechanism, mechanism
from workbench.experiments.parcel import opened
from workbench.experiments.planned_code import check_code
from workbench.experiments.row import Row
from workbench.experiments.row_origins import own_origin
from workbench.experiments.sources import Origin, check_origin
from workbench.experiments.warm import first_run


class Task(NamedTuple):
    """One run to do."""

    id: str
    point: str
    seed: int


Setups = Mapping[str, Setup]
"""The setup of each point."""


class Done(NamedTuple):
    """What came of a bundle of runs."""

    rows: list[Row]
    """In the order of the runs; fewer than there are runs where one did not end in time, which is the last."""
    stuck: bool = False
    """Whether that one goes on although nobody waits for it any more: compiled code cannot be interrupted."""
    worker: str = ""
    """Which worker of a cluster it was."""


def work(setup: Setup, tasks: Sequence[tuple[str, str, int]], see: Callable[[Any], None] | None = None) -> list[Row]:
    """Do each run of a setup in this thread, however long it takes; a run that fails is a row that says why.

    `see` is shown the record of every run that does not fail: it is gone afterwards.
    """
    found = mechanism(setup.engine)
    return [_row(found, setup, Task(*task), see) for task in tasks]


def work_within(setups: Setups, tasks: Sequence[Task], limit_seconds: float) -> Done:
    """Do each run in a thread beside this one, which is left behind when a run takes longer than the limit.

    The first run of a process may take longer, for what has to be compiled and loaded before it.
    """
    with first_run(setups[tasks[0].point].engine) as longer:
        if longer:
            first = _within(setups, tasks[:1], limit_seconds, longer)
        else:
            return _within(setups, tasks, limit_seconds)
    if first.stuck or len(tasks) == 1:
        return first
    done = _within(setups, tasks[1:], limit_seconds)
    return done._replace(rows=first.rows + done.rows)


def _within(setups: Setups, tasks: Sequence[Task], limit_seconds: float, longer: float = 0.0) -> Done:
    watched = _Watched(setups, tasks, limit_seconds + longer)
    watched.start()
    while not watched.ended.wait(watched.left()):
        rows, late = watched.late()
        if late is not None:
            return Done([*rows, failed(late, f"the run did not end within {limit_seconds:g} s.", limit_seconds)], True)
    if watched.problem is not None:
        raise watched.problem
    return Done(watched.rows)


def work_in_worker(parcels: Mapping[str, bytes], tasks: Sequence[Task], limit_seconds: float, driver: Origin) -> Done:
    """The same in another process than the driver's, for setups that came as parcels."""
    check_origin(driver)
    setups = {point: opened(parcel) for point, parcel in parcels.items()}
    return work_within(setups, tasks, limit_seconds)


class _Watched(threading.Thread):
    """Does runs one after the other, and tells how long the present one has been going on."""

    def __init__(self, setups: Setups, tasks: Sequence[Task], limit: float) -> None:
        super().__init__(daemon=True)
        self._setups, self._tasks, self._limit = setups, tasks, limit
        self._present = (0, time.perf_counter())
        self._left_behind = False
        self.rows: list[Row] = []
        self.ended = threading.Event()
        self.problem: BaseException | None = None

    def run(self) -> None:
        try:
            for number, task in enumerate(self._tasks):
                self._present = number, time.perf_counter()
                setup = self._setups[task.point]
                row = _row(mechanism(setup.engine), setup, task)
                if self._left_behind:
                    return
                self.rows.append(row)
        except BaseException as problem:  # raised again where it is waited for
            self.problem = problem
        finally:
            self.ended.set()

    def left(self) -> float:
        """How many seconds the present run still has."""
        return max(self._present[1] + self._limit - time.perf_counter(), 0.0)

    def late(self) -> tuple[list[Row], Task | None]:
        """The rows so far, and the run that has taken longer than the limit, if one has."""
        number, began = self._present
        rows = list(self.rows)
        if len(rows) != number or time.perf_counter() - began < self._limit:
            return rows, None
        self._left_behind = True
        return rows, self._tasks[number]


def _row(found: Mechanism, setup: Setup, task: Task, see: Callable[[Any], None] | None = None) -> Row:
    began = time.perf_counter()
    try:
        check_code(setup)
        record = found.engine.simulate(setup, task.seed)
        check_code(setup, "during")
        measures = found.measure(record)
        if see is not None:
            see(record)
    except WorkbenchError as problem:
        return failed(task, str(problem), time.perf_counter() - began)
    except MemoryError:
        return failed(task, "the run needs more memory than there is.", time.perf_counter() - began)
    seconds = time.perf_counter() - began
    return Row(*task, "done", "", seconds, measures, own_origin(), measures_digest(found))


def failed(task: Task, error: str, seconds: float = 0.0) -> Row:
    """The row of a run that failed."""
    return Row(*task, "failed", error, seconds, {}, own_origin())
