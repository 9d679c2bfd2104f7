"""Do what a plan says and a store does not hold yet, in this process or through a pool of workers.

Workers may die and runs may hang; neither costs more than the run that is to blame (`scheduler`). Saved runs that lack
a cell are simulated once more, and what was saved of them is compared with it to the bit: which measures have changed,
and was there any reason to?
"""

from __future__ import annotations

import json
import struct
import time
from collections import Counter, deque
from collections.abc import Callable, Collection, Generator, Iterator
from concurrent.futures import Executor
from contextlib import closing

from workbench.errors import WorkbenchError, wrong_value
from workbench.executors import bundle_executor, cores
from workbench.executors.bundles import Bundle, Bundler, Requests
from workbench.executors.scheduler import BundleExecutor, Scheduler
from workbench.experiments.checked_rows import withdraw_stale
from workbench.experiments.plan import Plan
from workbench.experiments.progress import Progress, usual_watcher
from workbench.experiments.reproducibility import Repeating, repeats
from workbench.experiments.saved_results import stale_sentence
from workbench.experiments.store import Store
from workbench.identity import one_moment
from workbench.mechanisms.compilation import say_compiling
from workbench.mechanisms.measured_by import MeasuredBy, lacking, read_measured
from workbench.process import FIXED, VARIABLE, has_fixed_hash_seed, working_clock
from workbench.runs.execution import RunExecutor, UserMeasures
from workbench.runs.interrupts import held_back, noticed, raise_swallowed
from workbench.runs.origin import check_unedited, own_origin
from workbench.runs.output import Echo, contain, routed
from workbench.runs.row import Row
from workbench.runs.run import PlannedRun, Task
from workbench.runs.user_code import PointIds, begin_anew, check_loaded, has_own_code, own_things
from workbench.runs.watchdog import SILENT
from workbench.runs.worker import BundleResult, execute_with_timeout

TRY_SECONDS = 1.0
"""How long runs are done in this process before it is decided whether workers pay off."""

WORTH_SECONDS = 8.0
"""Workers are started when the rest would take so long here: each takes about two seconds to be ready."""

LIMIT_SECONDS = 600.0
MOST_WORKERS = 256


def run_missing(
    plan: Plan,
    store: Store,
    workers: int | None = None,
    executor: Executor | str | None = None,
    progress: Progress | None = None,
    limit_seconds: float = LIMIT_SECONDS,
    repeat: bool | None = None,
) -> float:
    """Run what is missing; every row is kept as it comes. Returns the seconds that it took.

    Parameters
    ----------
    workers : int, optional
        Processes (or threads). 1 runs in this process, 0 in this very thread and without a limit, for a debugger. Left
        out, one process a core is started when that pays off.
    executor : str or Executor, optional
        `processes`, `threads`, a Dask cluster (`tcp://HOST:PORT`, or `local:4` for one of this machine's own), or
        anything that submits as `concurrent.futures` does.
    progress : Progress, optional
        The watcher; left out, in a notebook a line below the cell, elsewhere none.
    limit_seconds : float
        The longest that one run may take.
    repeat : bool, optional
        Whether runs are repeated in a fresh process (`repeating`): with False, rows of own code stay provisional.
        Left out, they are, but for `workers=0` and where the environment has `WORKBENCH_REPEAT=0`.
    """
    began, watch = time.perf_counter(), progress or usual_watcher()
    check_limit(limit_seconds)
    check_pool(executor, workers)
    check_plan(plan)
    for note in store.notes:
        watch.say(note)
    known = store.points()
    with one_moment():
        named = PointIds(plan.sweep.mechanism.revision)
        store.add_points((p.id, named.identity(p.setup)) for p in plan.points if p.id not in known)
    measured = plan.sweep.measured_by(anew=True)
    for message in withdraw_stale(plan, store):
        watch.say(message)
    # After `withdraw_stale`: withdrawn rows are not done.
    done = store.measured()
    pending = [run for run in plan.runs() if lacking(done.get(run.id), measured)]
    again = Remeasured(store, {run.id for run in pending if run.id in done})
    if foreign := stale_sentence(plan, store, done):
        watch.say(f"{foreign}; they stay, and every run is done again.")
    store.driven(len(plan), len(plan) - len(pending), plan.sweep.folder)
    if pending and not _elsewhere(executor):
        say_compiling(pending[0].point.setup.engine, watch.say)
    if pending:
        check_unedited()
    watch.begin(len(plan), len(plan) - len(pending))
    missing = {run.id for run in pending}
    repeating = None
    if repeats(repeat) and workers != 0:
        repeating = Repeating(plan, store, (run for run in done if run not in missing))
    try:
        if repeating is not None:
            repeating.begin()
        with (
            noticed(),
            routed(),
            closing(
                _batches(pending, plan.sweep.user_measures, workers, executor, limit_seconds, watch.say)
            ) as batches,
        ):
            _keep(batches, store, watch, again, repeating)
        # The store looks at most once a second whether its files are in place, so look again for the last rows.
        store.prove_place()
        for message in repeating.end() if repeating is not None else ():
            watch.say(message)
    except KeyboardInterrupt:
        if repeating is not None:
            repeating.kill()
        store.prove_place()
        wanted = {*plan.ids}
        kept = sum(row.id in wanted for row in store.kept())
        raise Stopped(_stopped(kept, len(plan), store)) from None
    finally:
        watch.end()
        contain()
    if changed := again.sentence():
        watch.say(changed)
    return time.perf_counter() - began


def check_plan(plan: Plan) -> None:
    """Refuse a plan of user's code whose files hold something else than when this process imported them.

    Raises
    ------
    PolicyError
        The sentence names the file.
    """
    measures = plan.sweep.user_measures
    things = (own_things(one.setup, measures) for one in plan.points if has_own_code(one.setup, measures))
    check_loaded({id(thing): thing for some in things for thing in some}.values())


def _keep(
    batches: Iterator[BundleResult], store: Store, watch: Progress, again: Remeasured, repeating: Repeating | None
) -> None:
    """Keep every row as it comes; an interrupt waits until all that is finished is written."""
    echo = Echo()
    for done in batches:
        with held_back():
            for row in done.rows:
                row = again.observe(row if row.origin else row._replace(origin=own_origin()))
                store.add(row)
                again.note(row, store.failed_again)
                if repeating is not None:
                    repeating.observe(row)
                watch.advance(row)
            echo.show(done.printed)
        raise_swallowed()


class Stopped(KeyboardInterrupt):
    """The user stopped a sweep; the text says what is kept."""


def _stopped(kept: int, total: int, store: Store) -> str:
    if store.folder is None:
        return f"stopped after {kept} of {total} runs, which had no results folder to be kept in."
    return f"stopped; {kept} of {total} runs are kept in {store.folder}, and the same command goes on from there."


def check_limit(seconds: float) -> None:
    """Refuse a limit that no run could keep."""
    if not seconds > 0:
        raise wrong_value("", "the limit of a run", "must be more than 0 seconds", seconds)


def check_pool(executor: Executor | str | None, workers: int | None) -> None:
    """Refuse an absurd number of workers, and a pool that cannot be had, before anything is written."""
    if workers is not None and not 0 <= workers <= MOST_WORKERS:
        raise wrong_value("", "workers", f"must be a whole number from 0 to {MOST_WORKERS}", workers, cores())
    if isinstance(executor, str) and executor != "processes":
        bundle_executor(executor, workers)


def _elsewhere(executor: Executor | str | None) -> bool:
    """Return whether runs are done on machines that compile for themselves."""
    return isinstance(executor, str) and ":" in executor and not executor.startswith("local:")


def _batches(
    pending: list[PlannedRun],
    user_measures: UserMeasures,
    workers: int | None,
    executor: Executor | str | None,
    limit: float,
    say: Callable[[str], None],
) -> Generator[BundleResult]:
    if not pending:
        return
    in_driver = executor == "threads" or (executor is None and (workers is None or workers <= 1))
    if in_driver and not has_fixed_hash_seed() and any(has_own_code(run.point.setup, user_measures) for run in pending):
        reason = _reason_to_stay(pending, user_measures, workers, executor)
        if not reason:
            yield from in_executor(
                Bundler(pending, user_measures), bundle_executor(None, workers or min(cores(), len(pending))), limit
            )
            return
        say(
            f"these runs are done in this process, as {reason}: code of your own that goes through a set of texts may "
            "give other numbers elsewhere, for this process orders such sets in its own way; start Python with "
            f"{VARIABLE}={FIXED}."
        )
    if executor is None and workers == 0:
        yield from _one_by_one(pending, user_measures)
    elif executor is None and workers is None:
        yield from _as_it_pays(Bundler(pending, user_measures), len(pending), limit)
    elif executor is None and workers == 1:
        yield from in_process(Bundler(pending, user_measures), limit)
    else:
        yield from in_executor(Bundler(pending, user_measures), bundle_executor(executor, workers), limit)


def _reason_to_stay(
    pending: list[PlannedRun], user_measures: UserMeasures, workers: int | None, executor: Executor | str | None
) -> str:
    """Return the reason why runs of a user's code cannot be handed to a worker, which orders sets as all workers do;
    empty if they can."""
    if executor is not None:
        return f"the executor {executor!r} was named"
    if workers == 0:
        return "workers=0 was asked for"
    requests = Requests()
    kinds = {(setup.engine, setup.code, setup.engine_code): run for run in pending if (setup := run.point.setup)}
    try:
        for run in kinds.values():
            requests.pack(Bundle({run.point.id: run.point.setup}, [], user_measures), 0.0, SILENT)
    except WorkbenchError as problem:
        return str(problem).rstrip(".")
    return ""


def _as_it_pays(bundler: Bundler, total: int, limit: float) -> Iterator[BundleResult]:
    """Begin here; go on in one process a core when what is left would take long."""
    began, done = working_clock(), 0
    for batch in in_process(bundler, limit):
        yield batch
        done += len(batch.rows)
        spent = working_clock() - began
        if spent > TRY_SECONDS and spent / done * (total - done) > WORTH_SECONDS and cores() > 1:
            break
    if not bundler.empty():
        yield from in_executor(bundler, bundle_executor(None, None), limit)


def in_process(bundler: Bundler, limit: float) -> Iterator[BundleResult]:
    """Do every run in this process, one after the other.

    A run that does not end within the limit is left behind in its thread. One that holds Python's lock in native code,
    or stops or ends the process, cannot be guarded against here: such runs belong in processes.
    """
    again: deque[Bundle] = deque()
    while (bundle := again.popleft() if again else bundler.next()) is not None:
        begin_anew(bundle.setups.values(), bundle.user_measures)
        done = execute_with_timeout(bundle.setups, bundle.tasks, limit, user_measures=bundle.user_measures)
        again.extend(bundle.after(len(done.rows)))
        bundler.learn(done.rows)
        yield done


def _one_by_one(pending: list[PlannedRun], user_measures: UserMeasures) -> Iterator[BundleResult]:
    """Do each run in this very thread, however long it takes; an interrupt costs only the one under way."""
    runs = RunExecutor(setups := {run.point.id: run.point.setup for run in pending}, user_measures)
    begin_anew(setups.values(), user_measures)
    for run in pending:
        yield BundleResult([runs.row(Task(run.id, run.point.id, run.seed))])


def in_executor(bundler: Bundler, executor: BundleExecutor, limit: float) -> Iterator[BundleResult]:
    """Do the runs in workers, a bounded number of bundles under way; `limit` is the longest that one run may take."""
    scheduler = Scheduler(bundler, executor, limit)
    try:
        while scheduler.submit():
            scheduler.wait()
            yield from scheduler.collect()
    finally:
        scheduler.close()


class Remeasured:
    """Compares each run that is measured again with what was kept of it, to the bit."""

    def __init__(self, store: Store, again: Collection[str]) -> None:
        """Find what is kept of runs that are done but lack a cell, or were measured by other code, given their ids."""
        kept = store.kept() if again else ()
        self._before = {
            row.id: (json.loads(row.measures), read_measured(row.measured)) for row in kept if row.id in again
        }
        self._edited = self._filled = 0
        self._columns: dict[str, None] = {}
        """The user's measures that were filled in."""
        self._changed: Counter[str] = Counter()
        self._first: dict[str, str] = {}

    def observe(self, row: Row) -> Row:
        """Return the row of a run that ended as it is to be kept, compared with what was kept of it, if anything was.

        Cells of the user's that were not computed this time are carried over. Where the same code gives another
        value, it is the row of a run that failed.
        """
        if row.id not in self._before or row.status != "done":
            return row
        cells, by = self._before[row.id]
        now = read_measured(row.measured)
        other = [name for name in cells.keys() & row.measures.keys() if _bits(cells[name]) != _bits(row.measures[name])]
        if unlike := sorted(name for name in other if by.same(now, name)):
            error = _unlike(unlike[0], cells[unlike[0]], row.measures[unlike[0]])
            return row._replace(status="failed", error=error, measures={}, measured="")
        self._count(row.id, other, by, now)
        carried = {
            name: digest for name, digest in by.user_measures.items() if name not in now.user_measures and name in cells
        }
        measures = {**row.measures, **{name: cells[name] for name in carried}}
        return row._replace(measures=measures, measured=MeasuredBy(now.engine, {**carried, **now.user_measures}).text)

    def note(self, row: Row, failed_again: dict[str, Row]) -> None:
        """Note a run that is kept as done and failed now; forget one that is done again."""
        if row.id in self._before and row.status != "done":
            failed_again[row.id] = row
        else:
            failed_again.pop(row.id, None)

    def _count(self, run: str, other: list[str], by: MeasuredBy, now: MeasuredBy) -> None:
        self._filled += by.engine == now.engine
        self._edited += by.engine != now.engine
        self._columns |= dict.fromkeys(name for name in now.user_measures if not by.same(now, name))
        for name in other:
            self._changed[name] += 1
            self._first.setdefault(name, run)

    def sentence(self) -> str:
        """Say what was measured again and which measures changed; empty where nothing was."""
        return " ".join(one for one in (self._of_edited(), self._of_filled()) if one)

    def _of_filled(self) -> str:
        if not self._filled:
            return ""
        return (
            f"{self._filled} runs were simulated once more to fill {', '.join(self._columns)}; "
            "their other measures are the same to the bit."
        )

    def _of_edited(self) -> str:
        if not self._edited:
            return ""
        messages = [
            f"{name} changed in {count} (such as {self._first[name]})" for name, count in self._changed.most_common()
        ]
        changed = "; ".join(messages) or "no value changed"
        warning = (
            " A measure that changed though nobody edited it means that the engine gives other results."
            if messages
            else ""
        )
        return f"{self._edited} runs were measured again, as the code of their measures was edited: {changed}.{warning}"


def _unlike(name: str, before: float, now: float) -> str:
    return (
        f"simulated once more, {name} is {now!r} and was {before!r} when this run was kept, though the code that "
        "computes it is the same: the engine or this machine gives other results. What was kept stays."
    )


def _bits(value: float) -> bytes:
    # Compare bits: NaN equals a NaN of the same sign and payload, and 0.0 differs from -0.0.
    return struct.pack("<d", float(value))
