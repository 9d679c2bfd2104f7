"""Runs done one after the other in this process, or through a pool of workers.

Workers may die and runs may hang; neither costs more than the run that is to blame (`scheduler`).
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator

from workbench.experiments.chunks import Bundler, Chunk
from workbench.experiments.pools.pool import Pool
from workbench.experiments.scheduler import Scheduler
from workbench.experiments.work import Done, Runs, work_within


def in_process(bundler: Bundler, limit: float | None) -> Iterator[Done]:
    """Do every run here, one after the other; without a limit in this very thread.

    A run that does not end within the limit is left behind in its thread. One that holds Python's lock in native code,
    or stops or ends the process, cannot be guarded against here: such runs belong in processes.
    """
    again: deque[Chunk] = deque()
    while (chunk := again.popleft() if again else bundler.next()) is not None:
        for done in _one_by_one(chunk) if limit is None else [_whole(chunk, limit)]:
            if limit is not None:
                again.extend(chunk.after(len(done.rows)))
            bundler.learn(done.rows)
            yield done


def _whole(chunk: Chunk, limit: float) -> Done:
    return work_within(chunk.setups, chunk.tasks, limit, own=chunk.own)


def _one_by_one(chunk: Chunk) -> Iterator[Done]:
    """Yield each run as it ends, so that an interrupt costs only the one under way."""
    runs = Runs(chunk.setups, chunk.own)
    for task in chunk.tasks:
        yield Done([runs.row(task)])


def in_pool(bundler: Bundler, pool: Pool, limit: float) -> Iterator[Done]:
    """Do the runs in workers, a bounded number of bundles under way; `limit` is the longest that one run may take."""
    scheduler = Scheduler(bundler, pool, limit)
    try:
        while scheduler.submit():
            scheduler.wait()
            yield from scheduler.collect()
    finally:
        scheduler.close()
