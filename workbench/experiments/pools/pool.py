"""What every pool of workers is to the scheduler."""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import Future
from typing import Protocol

from workbench.experiments.board import Reporter
from workbench.experiments.chunks import Chunk
from workbench.experiments.strikes import Death
from workbench.experiments.work import Done


class Pool(Protocol):
    """Workers that do bundles of runs."""

    @property
    def width(self) -> int:
        """Return how many bundles should be under way at once."""

    @property
    def reports(self) -> bool:
        """Return whether every worker is known to report the runs that it begins."""

    def submit(self, chunk: Chunk, limit: float, report: Reporter) -> Future[Done]:
        """Have a bundle done, no run longer than a limit in seconds; raises BrokenExecutor when the pool is broken."""

    def death(self, problem: BaseException, pid: int) -> Death | None:
        """Return what a future's exception tells of the end of a worker, whose process last reported as `pid`.

        None if it is of another kind. Raises WorkbenchError if the pool is lost.
        """

    def end(self, future: Future[Done], pid: int) -> bool:
        """End the worker that does a bundle and does not answer; return False if that is not this pool's to do.

        The future then ends by the death of its worker.
        """

    def replace(self, worker: str) -> None:
        """Replace a worker in which a run goes on that nobody waits for."""

    def look(self) -> None:
        """Refuse to wait on when the workers are gone for good (WorkbenchError)."""

    def leave(self, under_way: Sequence[Future[Done]]) -> None:
        """Leave a sweep that ended, or was stopped while something was under way."""
