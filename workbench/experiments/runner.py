"""Do what a plan says and a store does not hold yet."""

from __future__ import annotations

import time
from collections.abc import Callable, Generator, Iterator
from concurrent.futures import Executor
from contextlib import closing

from workbench.compiling import working_clock
from workbench.errors import WorkbenchError, wrong_value
from workbench.experiments.board import SILENT
from workbench.experiments.chunks import Bundler, Chunk
from workbench.experiments.executors import in_pool, in_process
from workbench.experiments.foreign_rows import foreign_sentence
from workbench.experiments.interrupts import held_back, noticed, raise_swallowed
from workbench.experiments.measured import lacking
from workbench.experiments.measuring_again import MeasuringAgain
from workbench.experiments.plan import Plan, PlannedRun
from workbench.experiments.planned_code import has_own_code
from workbench.experiments.point_ids import PointIds
from workbench.experiments.pools import check_pool, cores, pool_of
from workbench.experiments.pools.request import Requests
from workbench.experiments.printed import Echo, contain, routed
from workbench.experiments.progress import Progress, Silent
from workbench.experiments.repeating import Repeating, repeats, withdraw_stale
from workbench.experiments.row_origins import own_origin
from workbench.experiments.sources import check_unedited
from workbench.experiments.store import Store
from workbench.experiments.warm import say_compiling
from workbench.experiments.watchers import usual_watcher
from workbench.experiments.work import Done, Own
from workbench.hash_seed import FIXED, VARIABLE, has_fixed_hash_seed
from workbench.identity import one_moment

TRY_SECONDS = 1.0
"""How long runs are done in this process before it is decided whether workers pay off."""

WORTH_SECONDS = 8.0
"""Workers are started when the rest would take so long here: each takes about two seconds to be ready."""

LIMIT_SECONDS = 600.0


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
        Who watches; left out, in a notebook a line below the cell, elsewhere nobody.
    limit_seconds : float
        The longest that one run may take.
    repeat : bool, optional
        Whether runs are repeated in a fresh process (`repeating`): with False, rows of the user's code stay unchecked.
        Left out, they are, but for `workers=0` and where the environment has `WORKBENCH_REPEAT=0`.
    """
    began, watch = time.perf_counter(), progress or usual_watcher()
    check_limit(limit_seconds)
    check_pool(executor, workers)
    for note in store.notes:
        watch.say(note)
    known = store.points()
    with one_moment():
        named = PointIds(plan.sweep.mechanism.revision)
        store.add_points((p.id, named.identity(p.setup)) for p in plan.points if p.id not in known)
    measured = plan.sweep.measured_by(anew=True)
    for message in withdraw_stale(plan, store):
        watch.say(message)
    done = store.measured()
    pending = [run for run in plan.runs() if lacking(done.get(run.id), measured)]
    again = MeasuringAgain(store, {run.id for run in pending if run.id in done})
    if foreign := foreign_sentence(plan, store, done):
        watch.say(f"{foreign}; they stay, and every run is done anew.")
    store.driven(len(plan), len(plan) - len(pending))
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
            closing(_batches(pending, plan.sweep.own, workers, executor, limit_seconds, watch.say)) as batches,
        ):
            _keep(batches, store, watch, again, repeating)
        store.prove_place()
        for message in repeating.end() if repeating is not None else ():
            watch.say(message)
    except KeyboardInterrupt:
        if repeating is not None:
            repeating.kill()
        store.prove_place()
        wanted = {run.id for run in plan.runs()}
        kept = sum(row.id in wanted for row in store.kept())
        raise Stopped(_stopped(kept, len(plan), store)) from None
    finally:
        watch.end()
        contain()
    if changed := again.sentence():
        watch.say(changed)
    return time.perf_counter() - began


def _keep(
    batches: Iterator[Done], store: Store, watch: Progress, again: MeasuringAgain, repeating: Repeating | None
) -> None:
    """Keep every row as it comes; an interrupt waits until all that is finished is written."""
    echo = Echo()
    for done in batches:
        with held_back():
            for row in done.rows:
                row = again.see(row if row.origin else row._replace(origin=own_origin()))
                store.add(row)
                again.note(row, store.failed_again)
                if repeating is not None:
                    repeating.see(row, done.reads)
                watch.advance(row)
            echo.show(done.printed)
        raise_swallowed()


class Stopped(KeyboardInterrupt):
    """The user stopped a sweep; the text says what is kept."""


def _stopped(kept: int, total: int, store: Store) -> str:
    if store.path is None:
        return f"stopped after {kept} of {total} runs, which had no results folder to be kept in."
    return f"stopped; {kept} of {total} runs are kept in {store.path.parent}, and the same command goes on from there."


def check_limit(seconds: float) -> None:
    """Refuse a limit that no run could keep."""
    if not seconds > 0:
        raise wrong_value("", "the limit of a run", "must be more than 0 seconds", seconds)


def _elsewhere(executor: Executor | str | None) -> bool:
    """Return whether runs are done on machines that compile for themselves."""
    return isinstance(executor, str) and ":" in executor and not executor.startswith("local:")


def _batches(
    pending: list[PlannedRun],
    own: Own,
    workers: int | None,
    executor: Executor | str | None,
    limit: float,
    say: Callable[[str], None],
) -> Generator[Done]:
    bundler = Bundler(pending, own)
    if not pending:
        return
    in_driver = executor == "threads" or (executor is None and (workers is None or workers <= 1))
    if in_driver and not has_fixed_hash_seed() and any(has_own_code(run.point.setup, own) for run in pending):
        reason = _reason_to_stay(pending, own, workers, executor)
        if not reason:
            yield from in_pool(bundler, pool_of(None, workers or min(cores(), len(pending))), limit)
            return
        say(
            f"these runs are done in this process, as {reason}: code of your own that goes through a set of texts may "
            "give other numbers elsewhere, for this process orders such sets in its own way; start Python with "
            f"{VARIABLE}={FIXED}."
        )
    if executor is None and workers is None:
        yield from _as_it_pays(bundler, len(pending), limit)
    elif executor is None and workers is not None and workers <= 1:
        yield from in_process(bundler, limit if workers else None)
    else:
        yield from in_pool(bundler, pool_of(executor, workers), limit)


def _reason_to_stay(pending: list[PlannedRun], own: Own, workers: int | None, executor: Executor | str | None) -> str:
    """Return why runs of a user's code cannot be handed to a worker, which orders sets as all workers do; empty if they
    can."""
    if executor is not None:
        return f"the executor {executor!r} was named"
    if workers == 0:
        return "workers=0 was asked for"
    requests = Requests()
    kinds = {(setup.engine, setup.code, setup.engine_code): run for run in pending if (setup := run.point.setup)}
    try:
        for run in kinds.values():
            requests.pack(Chunk({run.point.id: run.point.setup}, [], own), 0.0, SILENT)
    except WorkbenchError as problem:
        return str(problem).rstrip(".")
    return ""


def _as_it_pays(bundler: Bundler, total: int, limit: float) -> Iterator[Done]:
    """Begin here; go on in one process a core when what is left would take long."""
    began, done = working_clock(), 0
    for batch in in_process(bundler, limit):
        yield batch
        done += len(batch.rows)
        spent = working_clock() - began
        if spent > TRY_SECONDS and spent / done * (total - done) > WORTH_SECONDS and cores() > 1:
            break
    if not bundler.empty():
        yield from in_pool(bundler, pool_of(None, None), limit)


__all__ = ["LIMIT_SECONDS", "Progress", "Silent", "run_missing"]
