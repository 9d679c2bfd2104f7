"""Where runs are done: in this process, or through anything that submits as `concurrent.futures` does.

Workers may die and runs may hang; neither costs more than the run that is to blame. When a pool breaks, the bundles
that were under way are run again one run at a time, so the culprit is alone when it strikes again and is named exactly.
"""

from __future__ import annotations

import os
import time
from collections import deque
from collections.abc import Callable, Iterator
from concurrent.futures import FIRST_COMPLETED, BrokenExecutor, Executor, Future, wait

from workbench.experiments.chunks import Bundler, Chunk
from workbench.experiments.sources import sources
from workbench.experiments.store import Row
from workbench.experiments.work import failed, work, work_in_worker

MakePool = Callable[[], Executor]
EndPool = Callable[[Executor], None]
UnderWay = dict[Future[list[Row]], tuple[Chunk, float]]
DIED = "the worker process died during this run."


def in_process(bundler: Bundler) -> Iterator[list[Row]]:
    """Do every run here, one after the other."""
    while (chunk := bundler.next()) is not None:
        began = time.perf_counter()
        rows = work(*chunk)
        bundler.took(chunk, time.perf_counter() - began)
        yield rows


def in_pool(bundler: Bundler, make: MakePool, end: EndPool, width: int, limit: float) -> Iterator[list[Row]]:
    """Do the runs in workers, a bounded number of bundles under way; `limit` is the longest that one run may take."""
    pool = make()
    under_way: UnderWay = {}
    suspects: deque[Chunk] = deque()
    try:
        while True:
            _fill(pool, bundler, suspects, under_way, width, limit)
            if not under_way:
                return
            wait(under_way, return_when=FIRST_COMPLETED)
            yield from _take_finished(under_way, bundler)
            if any(_broke(future) for future in under_way):
                yield from _take_finished(under_way, bundler)
                end(pool)
                pool = make()
                yield from _blame(under_way, suspects, limit)
    finally:
        if under_way:
            end(pool)


def _fill(
    pool: Executor, bundler: Bundler, suspects: deque[Chunk], under_way: UnderWay, width: int, limit: float
) -> None:
    """Submit until enough is under way; a suspect runs alone."""
    if suspects:
        if not under_way:
            _submit(pool, suspects.popleft(), under_way, limit)
        return
    while len(under_way) < width and (chunk := bundler.next()) is not None:
        _submit(pool, chunk, under_way, limit)


def _submit(pool: Executor, chunk: Chunk, under_way: UnderWay, limit: float) -> None:
    under_way[pool.submit(work_in_worker, *chunk, limit, (sources(), os.getpid()))] = (chunk, time.perf_counter())


def _broke(future: Future[list[Row]]) -> bool:
    """Whether a future ended because its pool broke; one that merely ended is not to blame for anything."""
    return future.done() and isinstance(future.exception(), BrokenExecutor)


def _take_finished(under_way: UnderWay, bundler: Bundler) -> Iterator[list[Row]]:
    """The rows of what finished; what a broken pool left undone stays under way."""
    for future in [future for future in under_way if future.done() and not _broke(future)]:
        chunk, began = under_way.pop(future)
        bundler.took(chunk, time.perf_counter() - began)
        yield future.result()


def _blame(under_way: UnderWay, suspects: deque[Chunk], limit: float) -> Iterator[list[Row]]:
    """Who broke the pool? A run that was alone did; of several bundles every run is tried again alone."""
    chunks = list(under_way.values())
    under_way.clear()
    if len(chunks) == 1 and len(chunks[0][0].tasks) == 1:
        chunk, began = chunks[0]
        late = time.perf_counter() - began >= limit
        yield [failed(chunk.tasks[0], f"the run did not end within {limit:g} s." if late else DIED)]
    else:
        suspects.extend(alone for chunk, _ in chunks for alone in chunk.alone())
