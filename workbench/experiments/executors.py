"""Runs done one after the other in this process, or through a pool of workers.

Workers may die and runs may hang; neither costs more than the run that is to blame. When workers die, the bundles that
were under way are run again one run at a time, so the culprit is alone when it strikes again. A run is blamed for a
death only after two deaths alone: a worker that somebody else killed costs nothing. A run that does not end within its
limit is named by its worker, which is replaced.
"""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Iterator
from concurrent.futures import FIRST_COMPLETED, BrokenExecutor, CancelledError, Future, wait

from workbench.errors import WorkbenchError
from workbench.experiments.chunks import Bundler, Chunk
from workbench.experiments.pools.pool import Pool
from workbench.experiments.row import Row
from workbench.experiments.work import Done, failed, work, work_within

DIED = "the worker process died during this run."
STRIKES = 2
"""Deaths alone after which a run is to blame."""

LOOK_SECONDS = 5.0
"""How often a pool is asked whether it is well while nothing ends."""


def in_process(bundler: Bundler, limit: float | None) -> Iterator[list[Row]]:
    """Do every run here, one after the other; without a limit in this very thread."""
    again: deque[Chunk] = deque()
    while (chunk := again.popleft() if again else bundler.next()) is not None:
        done = _done_here(chunk) if limit is None else work_within(*chunk, limit)
        again.extend(chunk.after(len(done.rows)))
        bundler.learn(done.rows)
        yield done.rows


def _done_here(chunk: Chunk) -> Done:
    return Done([row for one in chunk.alone() for setup in one.setups.values() for row in work(setup, one.tasks)])


def in_pool(bundler: Bundler, pool: Pool, limit: float) -> Iterator[list[Row]]:
    """Do the runs in workers, a bounded number of bundles under way; `limit` is the longest that one run may take."""
    desk = _Desk(bundler, pool, limit)
    try:
        while desk.hand_out():
            if not wait(desk.under_way, LOOK_SECONDS, FIRST_COMPLETED).done:
                pool.look()
            yield from desk.take_in()
    finally:
        pool.leave(list(desk.under_way))


class _Desk:
    """Hands out bundles, takes in rows, and finds out who is to blame."""

    def __init__(self, bundler: Bundler, pool: Pool, limit: float) -> None:
        self._bundler, self._pool, self._limit = bundler, pool, limit
        self.under_way: dict[Future[Done], Chunk] = {}
        self._again: deque[Chunk] = deque()
        self._suspects: deque[Chunk] = deque()
        self._solitary: Future[Done] | None = None
        """The suspect that runs alone."""
        self._strikes: Counter[str] = Counter()

    def hand_out(self) -> bool:
        """Submit until enough is under way, a suspect alone; False when all is done."""
        if self._suspects:
            if not self.under_way:
                self._solitary = self._submit(self._suspects.popleft())
            return True
        width = self._pool.width
        while len(self.under_way) < width and (chunk := self._next(width)) is not None:
            self._submit(chunk)
        return bool(self.under_way)

    def _next(self, width: int) -> Chunk | None:
        return self._again.popleft() if self._again else self._bundler.next(width)

    def _submit(self, chunk: Chunk) -> Future[Done]:
        try:
            future = self._pool.submit(chunk, self._limit)
        except BrokenExecutor as problem:  # a worker died while it had nothing to do
            future = Future()
            future.set_exception(problem)
        self.under_way[future] = chunk
        return future

    def take_in(self) -> Iterator[list[Row]]:
        """The rows of what finished; of what died or hung, the rows of those to blame."""
        stuck: list[str] = []
        yield from self._finished(stuck)
        deaths = {future: _deaths(self._pool, future) for future in self.under_way if _ill(future)}
        for worker in sorted(set(stuck)):
            if self._pool.replace(worker):
                yield from self._finished([])
                self._again.extend(self.under_way.values())
                self.under_way.clear()
        if any(future in self.under_way for future in deaths):
            if self._pool.renew():
                yield from self._finished([])
                deaths.update(dict.fromkeys(set(self.under_way) - set(deaths), 1))
            yield from self._blame(deaths)

    def _finished(self, stuck: list[str]) -> Iterator[list[Row]]:
        for future in [future for future in self.under_way if _well(future)]:
            chunk = self.under_way.pop(future)
            done = future.result()
            self._bundler.learn(done.rows)
            self._again.extend(chunk.after(len(done.rows)))
            if done.stuck:
                stuck.append(done.worker)
            yield done.rows

    def _blame(self, deaths: dict[Future[Done], int]) -> Iterator[list[Row]]:
        """Who killed the worker? A run that was alone, the second time; every run in company is tried again alone."""
        for future in [future for future in deaths if future in self.under_way]:
            chunk = self.under_way.pop(future)
            if future is not self._solitary:
                self._suspects.extend(chunk.alone())
                continue
            (task,) = chunk.tasks
            self._strikes[task.id] += deaths[future]
            if self._strikes[task.id] >= STRIKES:
                yield [failed(task, DIED)]
            else:
                self._suspects.appendleft(chunk)


def _well(future: Future[Done]) -> bool:
    return future.done() and not future.cancelled() and future.exception() is None


def _ill(future: Future[Done]) -> bool:
    return future.done() and not _well(future)


def _deaths(pool: Pool, future: Future[Done]) -> int:
    """How many deaths of workers a future that failed tells of; what it tells of otherwise is raised."""
    problem = CancelledError() if future.cancelled() else future.exception()
    assert problem is not None
    if many := pool.deaths(problem):
        return many
    if isinstance(problem, WorkbenchError):
        raise problem
    raise WorkbenchError(
        f"a worker cannot do a run: {type(problem).__name__}: {' '.join(str(problem).split())}"
    ) from problem
