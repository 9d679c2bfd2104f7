"""Do some runs of one point and return their rows: the one function that travels to a worker.

Whatever a user's code does in a run costs that run's row: any exception, of whatever type, becomes a failed row that
names what raised it. The one exception is the driver's own interrupt.
"""

from __future__ import annotations

import os
import time
from bdb import BdbQuit
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, NamedTuple

from workbench.engines.kit.engine import Setup
from workbench.errors import InputError, WorkbenchError
from workbench.identity.observed import Reads, observed, take_reads
from workbench.mechanisms.compilation import COMPILING_SECONDS, first_run
from workbench.mechanisms.measured_by import measured_by
from workbench.mechanisms.mechanism import is_loaded, mechanism
from workbench.mechanisms.user_measure import UserMeasure
from workbench.runs.cells import user_cells
from workbench.runs.crashes import WorkerFailure, worker_failure
from workbench.runs.faults import fault
from workbench.runs.interrupts import is_own, noticed, raise_swallowed
from workbench.runs.origin import Origin, check_hash_seed, check_origin, check_unedited, own_origin
from workbench.runs.output import install
from workbench.runs.pickled_setups import PackedEngine, enter_packed, is_here, opened
from workbench.runs.row import Row
from workbench.runs.run import Task
from workbench.runs.user_code import check_code, has_own_code
from workbench.runs.watchdog import SILENT, Reporter, Watched
from workbench.workloads.importers import Importer, enter_only

_did_runs = False
"""Whether this process, a worker, has begun runs: what raises in it afterwards may be their doing."""


UserMeasures = Mapping[str, UserMeasure]
NOTHING: UserMeasures = {}
_NUMBERS = frozenset({int, float})
"""What every store can hold as it is."""


class Unusable(NamedTuple):
    """Stands for the setup of a point that cannot be had here."""

    error: str


Setups = Mapping[str, Setup | Unusable]
"""The setup of each point."""


class BundleResult(NamedTuple):
    """What came of a bundle of runs."""

    rows: list[Row]
    """In the order of the runs; fewer than there are runs where one did not end in time, which is the last."""
    stuck: bool = False
    """Whether that one goes on although nobody waits for it any more: compiled code cannot be interrupted."""
    worker: str = ""
    """Which worker of a cluster it was."""
    printed: str = ""
    """What the runs printed, up to a bound."""
    reads: Mapping[str, Reads] = {}
    """What code of the user's read in the runs of each point, where the process observes it."""


class Prepared(NamedTuple):
    """What all runs of a setup share, looked up once for a bundle of them."""

    setup: Setup
    simulate: Callable[[Setup, int], Any]
    measure: Callable[[Any], dict[str, float]]
    user_measures: UserMeasures
    observe: Callable[[Any], None] | None
    origin: str
    measured: str
    """What the code that measures is named by."""


def prepared(
    setup: Setup, user_measures: UserMeasures = NOTHING, observe: Callable[[Any], None] | None = None
) -> Prepared:
    """Look up what all runs of a setup share; parameters as of `work`."""
    named = mechanism(setup.engine)
    measured = measured_by(named, user_measures).text
    return Prepared(
        setup,
        named.engine.simulate,
        named.measure,
        user_measures,
        observe,
        own_origin(has_own_code(setup, user_measures)),
        measured,
    )


def work(
    setup: Setup,
    tasks: Sequence[tuple[str, str, int]],
    observe: Callable[[Any], None] | None = None,
    user_measures: UserMeasures = NOTHING,
) -> list[Row]:
    """Do each run of a setup in this thread, however long it takes; a run that fails is a row that says why.

    `see` is shown the record of every run that does not fail: it is gone afterwards. What a run prints is printed.
    `own` are the user's measures that are computed of each.
    """
    each = prepared(setup, user_measures, observe)
    with noticed():
        return [_row(each, Task(*task)) for task in tasks]


def work_within(
    setups: Setups,
    tasks: Sequence[Task],
    limit_seconds: float,
    report: Reporter = SILENT,
    user_measures: UserMeasures = NOTHING,
) -> BundleResult:
    """Do each run in a thread beside this one, which is left behind when a run takes longer than the limit.

    What is compiled meanwhile does not count; the first run of a process may take longer, for what it has to load.
    """
    report.begin(0, limit_seconds + COMPILING_SECONDS)
    first = setups[tasks[0].point]
    if isinstance(first, Unusable):
        return _within(setups, tasks, limit_seconds, report, user_measures)
    with first_run(first.engine) as longer:
        if not longer:
            return _within(setups, tasks, limit_seconds, report, user_measures)
        done = _within(setups, tasks[:1], limit_seconds, report, user_measures, longer=longer)
    if done.stuck or len(tasks) == 1:
        return done
    rest = _within(setups, tasks[1:], limit_seconds, report, user_measures, before=1)
    return rest._replace(rows=done.rows + rest.rows, printed=done.printed + rest.printed)


def _within(
    setups: Setups,
    tasks: Sequence[Task],
    limit_seconds: float,
    report: Reporter,
    user_measures: UserMeasures,
    before: int = 0,
    longer: float = 0.0,
) -> BundleResult:
    runs = Runs(setups, user_measures)
    watched = Watched(
        lambda index: runs.row(tasks[index]),
        len(tasks),
        limit_seconds + longer,
        lambda index, left: report.begin(before + index, left),
    )
    late = watched.wait()
    rows, printed = watched.rows, watched.printed.text()
    if late is None:
        return BundleResult(rows, printed=printed)
    row = failed(tasks[late], f"the run did not end within {limit_seconds:g} s.", limit_seconds)
    return BundleResult([*rows, row], True, printed=printed)


class Runs:
    """Does runs of some points; what the runs of a point share is looked up once."""

    def __init__(self, setups: Setups, user_measures: UserMeasures = NOTHING) -> None:
        self._setups, self._user_measures = setups, user_measures
        self._prepared: dict[str, Prepared] = {}

    def row(self, task: Task) -> Row:
        """Do a run and return its row."""
        each = self._prepared.get(task.point)
        if each is None:
            setup = self._setups[task.point]
            if isinstance(setup, Unusable):
                return failed(task, setup.error)
            each = self._prepared[task.point] = prepared(setup, self._user_measures)
        return _row(each, task)


def work_in_worker(
    parcels: Mapping[str, bytes],
    tasks: Sequence[Task],
    limit_seconds: float,
    driver: Origin,
    report: Reporter = SILENT,
    engine: PackedEngine | None = None,
    fixed_order: bool = True,
) -> BundleResult:
    """Do the same in another process than the driver's, for setups that came as parcels.

    Parameters
    ----------
    driver : Origin
        What the driver computes with; a worker that has something else refuses.
    report : Reporter
        Where each run is reported as it begins.
    engine : PackedEngine, optional
        The engine that the setups name, as the driver has it.
    fixed_order : bool
        Whether sets of texts must have the order here that they have in all workers.

    Raises
    ------
    WorkbenchError
        This process computes with something else than the driver, its sources were edited since it began, or it orders
        sets of texts in its own way and there is code of the user's.
    WorkerFailure
        Something else than a run raised, in the midst of runs or after some.
    """
    with fit_or_told():
        check_origin(driver)
        if engine is not None and not is_loaded(engine.name):
            check_unedited()
        install()
        report.begin(0, limit_seconds + COMPILING_SECONDS)
        unusable, user_measures = _entered(engine) if engine is not None else ("", NOTHING)
        setups = {
            point: Unusable(unusable) if unusable else _opened(point, pickled_setup)
            for point, pickled_setup in parcels.items()
        }
        if engine is not None and not is_here(engine):
            enter_only(_importers(setups))
        if fixed_order and any(
            isinstance(setup, Setup) and has_own_code(setup, user_measures) for setup in setups.values()
        ):
            check_hash_seed()
        done = _in_worker(setups, tasks, limit_seconds, report, user_measures)
        return done._replace(reads=take_reads())


@contextmanager
def fit_or_told() -> Iterator[None]:
    """Raise WorkerFailure where anything but a sentence is raised within this after a run: it may be the run's doing.

    What raises in a process that has done nothing is as it is: no run can be done there.
    """
    used = _did_runs
    try:
        yield
    except (WorkbenchError, WorkerFailure):
        raise
    except BaseException as problem:
        if not used:
            raise
        raise worker_failure(problem, used) from None


def _in_worker(
    setups: Setups, tasks: Sequence[Task], limit_seconds: float, report: Reporter, user_measures: UserMeasures
) -> BundleResult:
    global _did_runs
    used, _did_runs = _did_runs, True
    try:
        return work_within(setups, tasks, limit_seconds, report, user_measures)
    except WorkbenchError:
        raise
    except BaseException as problem:
        raise worker_failure(problem, used) from None


def _importers(setups: Setups) -> Iterator[type[Importer]]:
    classes = (cls for setup in setups.values() if isinstance(setup, Setup) for cls, _ in setup.code)
    return (cls for cls in classes if issubclass(cls, Importer))


def _entered(engine: PackedEngine) -> tuple[str, UserMeasures]:
    """Enter an engine that came along; return what is wrong where that fails, and the user's measures."""
    try:
        return "", enter_packed(engine)
    except InputError as refusal:
        return str(refusal), NOTHING
    except BaseException as problem:
        return f"an engine or a measure cannot be opened in a worker: {fault(problem)}", NOTHING


def _opened(point: str, pickled_setup: bytes) -> Setup | Unusable:
    try:
        with observed(point):
            return opened(pickled_setup)
    except WorkbenchError:
        raise
    except BaseException as problem:  # of the user's own code, which is imported or made anew here
        return Unusable(f"the setup cannot be opened in a worker: {fault(problem)}")


def _row(each: Prepared, task: Task) -> Row:
    began, process = time.perf_counter(), os.getpid()
    error, measures = "", {}
    try:
        check_code(each.setup)
        with observed(task.point):
            record = each.simulate(each.setup, task.seed)
            check_code(each.setup, "during")
            measures = _plain(each.measure(record))
            if each.user_measures:
                measures = {**measures, **user_cells(each.user_measures, record, each.setup, task)}
        if each.observe is not None:
            each.observe(record)
    except MemoryError:
        error = "the run needs more memory than there is."
    except BdbQuit:  # somebody left the debugger
        raise KeyboardInterrupt from None
    except BaseException as problem:
        if is_own(problem):
            raise
        error = fault(problem, each.setup)
    if os.getpid() != process:  # a copy of this process that the run forked: the sweep is not its business
        os._exit(1)
    raise_swallowed()
    if error:
        return failed(task, error, time.perf_counter() - began)
    return Row(*task, "done", "", time.perf_counter() - began, measures, each.origin, each.measured)


def _plain(measures: Mapping[str, Any]) -> dict[str, float]:
    """Return measures as numbers that every store can hold.

    >>> _plain({"cycles": 3, "rate": 0.5})
    {'cycles': 3, 'rate': 0.5}
    """
    if _NUMBERS.issuperset(map(type, measures.values())):
        return dict(measures)
    return {name: value if type(value) in _NUMBERS else float(value) for name, value in measures.items()}


def failed(task: Task, error: str, seconds: float = 0.0) -> Row:
    """Return the row of a run that failed."""
    return Row(*task, "failed", error, seconds, {}, own_origin())
