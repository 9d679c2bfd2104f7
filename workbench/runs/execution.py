"""Execute single runs in this process and return their rows.

Whatever a user's code does in a run costs that run's row: any exception, of whatever type, becomes a failed row that
names what raised it. The one exception is the driver's own interrupt.
"""

from __future__ import annotations

import os
import time
from bdb import BdbQuit
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

from workbench.engines.kit.engine import Setup
from workbench.identity.observed import observed
from workbench.mechanisms.measured_by import measured_by
from workbench.mechanisms.mechanism import mechanism
from workbench.mechanisms.user_measure import UserMeasure
from workbench.runs.cells import user_cells
from workbench.runs.faults import fault
from workbench.runs.interrupts import is_own, noticed, raise_swallowed
from workbench.runs.origin import own_origin
from workbench.runs.row import Row
from workbench.runs.run import Task
from workbench.runs.user_code import check_code, has_own_code

UserMeasures = Mapping[str, UserMeasure]
NOTHING: UserMeasures = {}
_NUMBERS = frozenset({int, float})
"""What every store can hold as it is."""


class SetupFailure(NamedTuple):
    """Stands for the setup of a point that cannot be had here."""

    error: str


Setups = Mapping[str, Setup | SetupFailure]
"""The setup of each point."""


class RunContext(NamedTuple):
    """What all runs of a setup share, looked up once for a bundle of them."""

    setup: Setup
    simulate: Callable[[Setup, int], Any]
    measure: Callable[[Any], dict[str, float]]
    user_measures: UserMeasures
    observe: Callable[[Any], None] | None
    origin: str
    measured: str
    """What the code that measures is named by."""


def run_context(
    setup: Setup, user_measures: UserMeasures = NOTHING, observe: Callable[[Any], None] | None = None
) -> RunContext:
    """Look up what all runs of a setup share; parameters as of `execute_runs`."""
    named = mechanism(setup.engine)
    measured = measured_by(named, user_measures).text
    return RunContext(
        setup,
        named.engine.simulate,
        named.measure,
        user_measures,
        observe,
        own_origin(has_own_code(setup, user_measures)),
        measured,
    )


def execute_runs(
    setup: Setup,
    tasks: Sequence[tuple[str, str, int]],
    observe: Callable[[Any], None] | None = None,
    user_measures: UserMeasures = NOTHING,
) -> list[Row]:
    """Do each run of a setup in this thread, however long it takes; a run that fails is a row that says why.

    `observe` gets the record of every run that does not fail: it is gone afterwards. What a run prints is printed.
    `user_measures` are computed of each record.
    """
    each = run_context(setup, user_measures, observe)
    with noticed():
        return [_execute_run(each, Task(*task)) for task in tasks]


class RunExecutor:
    """Does runs of some points; what the runs of a point share is looked up once."""

    def __init__(self, setups: Setups, user_measures: UserMeasures = NOTHING) -> None:
        self._setups, self._user_measures = setups, user_measures
        self._contexts: dict[str, RunContext] = {}

    def row(self, task: Task) -> Row:
        """Do a run and return its row."""
        each = self._contexts.get(task.point)
        if each is None:
            setup = self._setups[task.point]
            if isinstance(setup, SetupFailure):
                return failed_row(task, setup.error)
            each = self._contexts[task.point] = run_context(setup, self._user_measures)
        return _execute_run(each, task)


def _execute_run(each: RunContext, task: Task) -> Row:
    began, process = time.perf_counter(), os.getpid()
    error, measures = "", {}
    try:
        check_code(each.setup)
        with observed(task.point):
            record = each.simulate(each.setup, task.seed)
            check_code(each.setup, "during")
            measures = _plain_measures(each.measure(record))
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
        return failed_row(task, error, time.perf_counter() - began)
    return Row(*task, "done", "", time.perf_counter() - began, measures, each.origin, each.measured)


def _plain_measures(measures: Mapping[str, Any]) -> dict[str, float]:
    """Return measures as numbers that every store can hold.

    >>> _plain_measures({"cycles": 3, "rate": 0.5})
    {'cycles': 3, 'rate': 0.5}
    """
    if _NUMBERS.issuperset(map(type, measures.values())):
        return dict(measures)
    return {name: value if type(value) in _NUMBERS else float(value) for name, value in measures.items()}


def failed_row(task: Task, error: str, seconds: float = 0.0) -> Row:
    """Return the row of a run that failed."""
    return Row(*task, "failed", error, seconds, {}, own_origin())
