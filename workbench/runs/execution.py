"""Execute single runs in this process and return their rows.

Whatever a user's code does in a run costs that run's row: any exception, of whatever type, becomes a failed row that
names what raised it. The one exception is the driver's own interrupt.
"""

from __future__ import annotations

import os
import time
from bdb import BdbQuit
from collections.abc import Callable, Mapping, Sequence
from contextlib import nullcontext
from typing import Any, NamedTuple

from workbench.engines.kit.engine import Setup
from workbench.identity import current
from workbench.identity.native_reads import MAPPING
from workbench.identity.observed import NO_INPUTS, observed_run, reads_of
from workbench.identity.reads import Reads, declared_reads
from workbench.mechanisms.measured_by import measured_by
from workbench.mechanisms.mechanism import mechanism
from workbench.mechanisms.user_measure import UserMeasure
from workbench.runs.cells import user_cells
from workbench.runs.faults import fault, is_starved
from workbench.runs.interrupts import is_own, noticed, raise_swallowed
from workbench.runs.origin import origin_of_own_code, own_origin
from workbench.runs.row import STARVED, Row
from workbench.runs.run import Task
from workbench.runs.user_code import check_code, has_own_code, own_things

UserMeasures = Mapping[str, UserMeasure]
NOTHING: UserMeasures = {}
_UNNOTED = nullcontext()
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
    own_code: bool
    """Whether code of the user's is executed: what it reads is noted."""
    declared: Reads
    """What the user's code says that it reads, as it is now."""
    has_inputs: bool
    """Whether it says so at all, even that it reads nothing."""
    sharing: list[str]
    """The points whose code keeps what it has read in the same functions: what a run of one has read, another uses."""


def run_context(
    setup: Setup, user_measures: UserMeasures = NOTHING, observe: Callable[[Any], None] | None = None
) -> RunContext:
    """Look up what all runs of a setup share; parameters as of `execute_runs`."""
    named = mechanism(setup.engine)
    measured = measured_by(named, user_measures).text
    own_code = has_own_code(setup, user_measures)
    things = own_things(setup, user_measures) if own_code else []
    return RunContext(
        setup,
        named.engine.simulate,
        named.measure,
        user_measures,
        observe,
        own_origin() if not own_code else origin_of_own_code(),
        measured,
        own_code,
        declared_reads(things) | _unseen_reads(things),
        any(hasattr(thing, "inputs") for thing in things),
        [],
    )


def _unseen_reads(things: Sequence[Any]) -> Reads:
    """Return the packages that the user's code uses and that do not report what they read."""
    packages = sorted(MAPPING.intersection(*[current(thing).installed for thing in things][:1]))
    return Reads(acts=tuple(f"uses {name}, which does not tell what it reads, and {NO_INPUTS}" for name in packages))


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
        self._caching: list[str] = []
        """The points whose code keeps what it returned."""

    def row(self, task: Task) -> Row:
        """Do a run and return its row."""
        each = self._contexts.get(task.point)
        if each is None:
            setup = self._setups[task.point]
            if isinstance(setup, SetupFailure):
                return failed_row(task, setup.error)
            each = run_context(setup, self._user_measures)
            things = own_things(setup, self._user_measures) if each.own_code else []
            if any(current(thing).caches for thing in things):
                self._caching.append(task.point)
                each = each._replace(sharing=self._caching)
            self._contexts[task.point] = each
        return _execute_run(each, task)


def _execute_run(each: RunContext, task: Task) -> Row:
    began, process = time.perf_counter(), os.getpid()
    error, starved, measures = "", False, {}
    try:
        check_code(each.setup)
        with observed_run(task.point) if each.own_code else _UNNOTED:
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
        error, starved = fault(problem, each.setup), is_starved(problem)
    if os.getpid() != process:  # a copy of this process that the run forked: the sweep is not its business
        os._exit(1)
    raise_swallowed()
    if error:
        return failed_row(task, error, time.perf_counter() - began, starved)
    seconds = time.perf_counter() - began
    reads = _reads(each, task) if each.own_code else ""
    return Row(*task, "done", "", seconds, measures, each.origin, each.measured, reads)


def _reads(each: RunContext, task: Task) -> str:
    """Return the files that the user's code has read for a run: by itself, when its setup was opened, or before, into
    caches."""
    reads = reads_of(*each.sharing, task.point) | each.declared
    if each.has_inputs:
        reads = reads._replace(acts=tuple(act for act in reads.acts if not act.endswith(NO_INPUTS)))
    return reads.text()


def _plain_measures(measures: Mapping[str, Any]) -> dict[str, float]:
    """Return measures as numbers that every store can hold.

    >>> _plain_measures({"cycles": 3, "rate": 0.5})
    {'cycles': 3, 'rate': 0.5}
    """
    if _NUMBERS.issuperset(map(type, measures.values())):
        return dict(measures)
    return {name: value if type(value) in _NUMBERS else float(value) for name, value in measures.items()}


def failed_row(task: Task, error: str, seconds: float = 0.0, starved: bool = False) -> Row:
    """Return the row of a run that failed, or of one in which something waits for ever."""
    return Row(*task, STARVED if starved else "failed", error, seconds, {}, own_origin())
