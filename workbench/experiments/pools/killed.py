"""Deaths of Dask's workers, told without importing Dask."""

from __future__ import annotations

import sys


def deaths(problem: BaseException) -> int:
    """Return how many workers died over a task before Dask gave it up; 0 if a problem is of another kind.

    >>> deaths(ValueError())
    0
    """
    scheduler = sys.modules.get("distributed.scheduler")
    if scheduler is None or not isinstance(problem, scheduler.KilledWorker):
        return 0
    return int(problem.allowed_failures) + 1
