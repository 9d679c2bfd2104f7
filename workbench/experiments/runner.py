"""Do what a plan says and a store does not hold yet."""

from __future__ import annotations

import time
from collections.abc import Iterator
from concurrent.futures import Executor
from typing import Protocol

from workbench.errors import wrong_value
from workbench.experiments.chunks import Bundler
from workbench.experiments.executors import in_pool, in_process
from workbench.experiments.plan import Plan, PlannedRun
from workbench.experiments.pools import cores, end_pool, local_pool
from workbench.experiments.run_id import canonical
from workbench.experiments.store import Row, Store
from workbench.experiments.warm import warm_up

MOST_WORKERS = 256
TRY_SECONDS = 1.0
"""How long runs are done in this process before it is decided whether workers pay off."""

WORTH_SECONDS = 8.0
"""Workers are started when the rest would take so long here: each takes about two seconds to be ready."""

LIMIT_SECONDS = 600.0


class Progress(Protocol):
    """Someone who watches a sweep."""

    def say(self, line: str) -> None:
        """Something worth a line happens before the first run."""

    def begin(self, total: int, kept: int) -> None:
        """A sweep of so many runs begins; so many are kept already."""

    def advance(self, row: Row) -> None:
        """A run ended."""

    def end(self) -> None:
        """The sweep ended or was stopped."""


class Silent:
    """Watches and says nothing."""

    def say(self, line: str) -> None: ...

    def begin(self, total: int, kept: int) -> None: ...

    def advance(self, row: Row) -> None: ...

    def end(self) -> None: ...


def run_plan(
    plan: Plan,
    store: Store,
    workers: int | None = None,
    executor: Executor | None = None,
    progress: Progress | None = None,
    limit_seconds: float = LIMIT_SECONDS,
) -> float:
    """Run what is missing; every row is kept as it comes. Returns the seconds that it took.

    Parameters
    ----------
    workers : int, optional
        Processes; 0 or 1 runs in this process. Left out, one process a core is started when that pays off.
    executor : Executor, optional
        Anything that submits as `concurrent.futures` does, used instead of processes of our own.
    limit_seconds : float
        The longest that one run may take in a worker.
    """
    began, watch = time.perf_counter(), progress or Silent()
    store.add_points((point.id, canonical(point.setup.identity())) for point in plan.points)
    done = store.done()
    pending = [run for run in plan.runs() if run.id not in done]
    if pending:
        warm_up(pending[0].point.setup, watch.say)
    watch.begin(len(plan), len(plan) - len(pending))
    try:
        for rows in _batches(pending, workers, executor, limit_seconds):
            for row in rows:
                store.add(row)
                watch.advance(row)
    finally:
        watch.end()
    return time.perf_counter() - began


def _batches(
    pending: list[PlannedRun], workers: int | None, executor: Executor | None, limit: float
) -> Iterator[list[Row]]:
    if workers is not None and not 0 <= workers <= MOST_WORKERS:
        raise wrong_value("", "workers", f"must be a whole number from 0 to {MOST_WORKERS}", workers, cores())
    bundler = Bundler(pending)
    if executor is not None:
        return in_pool(bundler, lambda: executor, lambda pool: None, 8, limit)
    if workers is None:
        return _as_it_pays(bundler, len(pending), limit)
    return in_process(bundler) if workers <= 1 else _in_local_pool(bundler, workers, limit)


def _as_it_pays(bundler: Bundler, total: int, limit: float) -> Iterator[list[Row]]:
    """Begin here; go on in one process a core when what is left would take long."""
    began, done = time.perf_counter(), 0
    for rows in in_process(bundler):
        yield rows
        done += len(rows)
        spent = time.perf_counter() - began
        if spent > TRY_SECONDS and spent / done * (total - done) > WORTH_SECONDS and cores() > 1:
            break
    yield from _in_local_pool(bundler, cores(), limit)


def _in_local_pool(bundler: Bundler, workers: int, limit: float) -> Iterator[list[Row]]:
    if bundler.empty():
        return iter(())
    return in_pool(bundler, lambda: local_pool(workers), end_pool, 2 * workers, limit)
