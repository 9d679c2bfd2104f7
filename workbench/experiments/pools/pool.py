"""What every pool of workers is to the runner."""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import Future
from typing import Protocol

from workbench.experiments.chunks import Chunk
from workbench.experiments.work import Done


class Pool(Protocol):
    """Workers that do bundles of runs."""

    @property
    def width(self) -> int:
        """How many bundles should be under way at once."""

    def submit(self, chunk: Chunk, limit: float) -> Future[Done]:
        """Have a bundle done, no run longer than a limit in seconds; raises BrokenExecutor when the pool is broken."""

    def deaths(self, problem: BaseException) -> int:
        """How many deaths of workers a future's exception tells of; 0 if it is of another kind."""

    def renew(self) -> bool:
        """Be usable again after deaths; returns whether all that was under way is lost."""

    def replace(self, worker: str) -> bool:
        """Replace a worker in which a run hangs; returns whether all that was under way is lost."""

    def look(self) -> None:
        """Refuse to wait on when the workers are gone for good (WorkbenchError)."""

    def leave(self, under_way: Sequence[Future[Done]]) -> None:
        """The sweep ended, or was stopped while something was under way."""
