"""Where runs are done: in this process, or through anything that submits as `concurrent.futures` does.

Workers may die and runs may hang; neither costs more than the run that is to blame. When a pool breaks, the bundles
that were under way are run again one run at a time, so the culprit is alone when it strikes again and is named exactly.
"""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable, Iterator
from concurrent.futures import FIRST_COMPLETED, BrokenExecutor, Executor, Future, wait
from typing import Any

from workbench.experiments.chunks import Bundler, Chunk
from workbench.experiments.store import Row
from workbench.experiments.work import failed, work

MakePool = Callable[[], Executor]


def in_process(bundler: Bundler) -> Iterator[list[Row]]:
    """Do every run here, one after the other."""
    while (chunk := bundler.next()) is not None:
        began = time.perf_counter()
        rows = work(*chunk)
        bundler.took(chunk, time.perf_counter() - began)
        yield rows


def in_pool(
    bundler: Bundler, make: MakePool, end: Callable[[Executor], None], width: int, limit: float
) -> Iterator[list[Row]]:
    """Do the runs in workers, a bounded number of bundles under way; `limit` is the longest that one run may take."""
    pool = make()
    under_way: dict[Future[list[Row]], tuple[Chunk, float]] = {}
    suspects: deque[Chunk] = deque()
    try:
        while True:
            _fill(pool, bundler, suspects, under_way, width)
            if not under_way:
                return
            finished, broken = _await(under_way, limit)
            for future in finished:
                chunk, began = under_way.pop(future)
                bundler.took(chunk, time.perf_counter() - began)
                yield future.result()
            if broken is not None:
                blamed = [chunk for chunk, _ in under_way.values()]
                under_way.clear()
                end(pool)
                pool = make()
                if len(blamed) == 1 and len(blamed[0].tasks) == 1:
                    yield [failed(blamed[0].tasks[0], broken)]
                else:
                    suspects.extend(alone for chunk in blamed for alone in chunk.alone())
    finally:
        if under_way:
            end(pool)


def _fill(pool: Executor, bundler: Bundler, suspects: deque[Chunk], under_way: dict[Any, Any], width: int) -> None:
    """Submit until enough is under way; a suspect runs alone."""
    if suspects:
        if not under_way:
            _submit(pool, suspects.popleft(), under_way)
        return
    while len(under_way) < width and (chunk := bundler.next()) is not None:
        _submit(pool, chunk, under_way)


def _submit(pool: Executor, chunk: Chunk, under_way: dict[Any, Any]) -> None:
    under_way[pool.submit(work, *chunk)] = (chunk, time.perf_counter())


def _await(under_way: dict[Any, tuple[Chunk, float]], limit: float) -> tuple[list[Future[list[Row]]], str | None]:
    """The futures that finished well, and why the pool must be given up, if it must."""
    soonest = min(began + limit * len(chunk.tasks) for chunk, began in under_way.values())
    done, _ = wait(under_way, timeout=max(soonest - time.perf_counter(), 0), return_when=FIRST_COMPLETED)
    fine = [future for future in done if future.exception() is None]
    for future in done:
        problem = future.exception()
        if isinstance(problem, BrokenExecutor):
            return fine, "the worker process died during this run."
        if problem is not None:
            raise problem
    now = time.perf_counter()
    if not done and any(now >= began + limit * len(chunk.tasks) for chunk, began in under_way.values()):
        return fine, f"the run did not end within {limit:g} s."
    return fine, None
