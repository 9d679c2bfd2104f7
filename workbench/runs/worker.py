"""Execute a bundle of runs within a time limit: `worker_entry` is the one function that travels to a worker."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import NamedTuple

from workbench.engines.kit.engine import Setup
from workbench.errors import InputError, WorkbenchError
from workbench.identity.observed import OPENING, observed
from workbench.mechanisms.compilation import COMPILING_SECONDS, first_run
from workbench.mechanisms.mechanism import is_loaded
from workbench.runs.crashes import WorkerFailure, worker_failure
from workbench.runs.execution import NOTHING, RunExecutor, SetupFailure, Setups, UserMeasures, failed_row
from workbench.runs.faults import fault
from workbench.runs.origin import Origin, check_hash_seed, check_origin, check_unedited
from workbench.runs.output import install
from workbench.runs.pickled_setups import PackedEngine, enter_packed, is_here, opened
from workbench.runs.row import Row
from workbench.runs.run import Task
from workbench.runs.user_code import begin_anew, has_own_code
from workbench.runs.watchdog import SILENT, Reporter, Watched
from workbench.workloads.importers import Importer, enter_only

_did_runs = False
"""Whether this process, a worker, has begun runs: what raises in it afterwards may be their doing."""


class BundleResult(NamedTuple):
    """What came of a bundle of runs."""

    rows: list[Row]
    """In the order of the runs; fewer than there are runs where one did not end in time, which is the last."""
    stuck: bool = False
    """Whether that one goes on although its result is not used any more: compiled code cannot be interrupted."""
    worker: str = ""
    """Which worker of a cluster it was."""
    printed: str = ""
    """What the runs printed, up to a bound."""


def execute_with_timeout(
    setups: Setups,
    tasks: Sequence[Task],
    limit_seconds: float,
    report: Reporter = SILENT,
    user_measures: UserMeasures = NOTHING,
) -> BundleResult:
    """Do each run in a thread next to this one, which is left behind when a run takes longer than the limit.

    What is compiled meanwhile does not count; the first run of a process may take longer, for what it has to load.
    """
    report.begin(0, limit_seconds + COMPILING_SECONDS)
    first = setups[tasks[0].point]
    if isinstance(first, SetupFailure):
        return _execute_watched(setups, tasks, limit_seconds, report, user_measures)
    with first_run(first.engine) as longer:
        if not longer:
            return _execute_watched(setups, tasks, limit_seconds, report, user_measures)
        done = _execute_watched(setups, tasks[:1], limit_seconds, report, user_measures, longer=longer)
    if done.stuck or len(tasks) == 1:
        return done
    rest = _execute_watched(setups, tasks[1:], limit_seconds, report, user_measures, before=1)
    return rest._replace(rows=done.rows + rest.rows, printed=done.printed + rest.printed)


def _execute_watched(
    setups: Setups,
    tasks: Sequence[Task],
    limit_seconds: float,
    report: Reporter,
    user_measures: UserMeasures,
    before: int = 0,
    longer: float = 0.0,
) -> BundleResult:
    runs = RunExecutor(setups, user_measures)
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
    row = failed_row(tasks[late], f"the run did not end within {limit_seconds:g} s.", limit_seconds)
    return BundleResult([*rows, row], True, printed=printed)


def worker_entry(
    parcels: Mapping[str, bytes],
    tasks: Sequence[Task],
    limit_seconds: float,
    driver: Origin,
    report: Reporter = SILENT,
    engine: PackedEngine | None = None,
    fixed_order: bool = True,
) -> BundleResult:
    """Return the outcome of a bundle of runs in a worker process, for setups that came as parcels.

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
    with attribute_crash():
        check_origin(driver)
        if engine is not None and not is_loaded(engine.name):
            check_unedited()
        install()
        report.begin(0, limit_seconds + COMPILING_SECONDS)
        unusable, user_measures = _enter_engine(engine) if engine is not None else ("", NOTHING)
        setups = {
            point: SetupFailure(unusable) if unusable else _open_setup(point, pickled_setup)
            for point, pickled_setup in parcels.items()
        }
        begin_anew((setup for setup in setups.values() if isinstance(setup, Setup)), user_measures)
        if engine is not None and not is_here(engine):
            enter_only(_importer_classes(setups))
        if fixed_order and any(
            isinstance(setup, Setup) and has_own_code(setup, user_measures) for setup in setups.values()
        ):
            check_hash_seed()
        return _execute_in_worker(setups, tasks, limit_seconds, report, user_measures)


@contextmanager
def attribute_crash() -> Iterator[None]:
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


def _execute_in_worker(
    setups: Setups, tasks: Sequence[Task], limit_seconds: float, report: Reporter, user_measures: UserMeasures
) -> BundleResult:
    global _did_runs
    used, _did_runs = _did_runs, True
    try:
        return execute_with_timeout(setups, tasks, limit_seconds, report, user_measures)
    except WorkbenchError:
        raise
    except BaseException as problem:
        raise worker_failure(problem, used) from None


def _importer_classes(setups: Setups) -> Iterator[type[Importer]]:
    classes = (cls for setup in setups.values() if isinstance(setup, Setup) for cls, _ in setup.code)
    return (cls for cls in classes if issubclass(cls, Importer))


def _enter_engine(engine: PackedEngine) -> tuple[str, UserMeasures]:
    """Enter an engine that came along; return what is wrong where that fails, and the user's measures."""
    try:
        return "", enter_packed(engine)
    except InputError as refusal:
        return str(refusal), NOTHING
    except BaseException as problem:
        return f"an engine or a measure cannot be opened in a worker: {fault(problem)}", NOTHING


def _open_setup(point: str, pickled_setup: bytes) -> Setup | SetupFailure:
    try:
        with observed(OPENING + point):
            return opened(pickled_setup)
    except WorkbenchError:
        raise
    except BaseException as problem:  # of the user's own code, which is imported or made again here
        return SetupFailure(f"the setup cannot be opened in a worker: {fault(problem)}")
