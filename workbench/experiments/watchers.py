"""Watchers that say one line now and then: in a notebook a line that changes, in a log file a new line."""

from __future__ import annotations

import sys
import time
from typing import Any

from workbench.experiments.progress import Pace, Progress, Silent, span
from workbench.experiments.row import Row

PATIENCE_SECONDS = 1.0
"""A sweep that ends sooner says nothing in a notebook."""

NOTEBOOK_SECONDS = 0.5
LOG_SECONDS = 30.0


class _Lines:
    """Says the pace, at most so often."""

    def __init__(self, every: float, first_after: float) -> None:
        self._every, self._next = every, first_after
        self._pace: Pace | None = None
        self._began = self._said = time.monotonic()
        self._spoke = False

    def say(self, line: str) -> None:
        self.show(line)

    def begin(self, total: int, kept: int) -> None:
        self._pace = Pace(total, kept)
        self._began = self._said = time.monotonic()

    def advance(self, row: Row) -> None:
        if self._pace is None:
            return
        self._pace.count(row.status != "done")
        now = time.monotonic()
        if now - self._said >= self._next:
            self._said, self._next, self._spoke = now, self._every, True
            self.show(self._pace.line())

    def skip(self, runs: int) -> None:
        if self._pace is not None:
            self._pace.skip(runs)

    def complete(self) -> None:
        if self._pace is not None:
            self._pace.complete()

    def end(self) -> None:
        if self._pace is not None and self._spoke:
            self.show(f"{self._pace.line()}, in {span(time.monotonic() - self._began)}")

    def show(self, line: str) -> None:
        """Say a line."""


class LogLines(_Lines):
    """A line on standard error every half minute, for logs of jobs that nobody looks at while they run."""

    def __init__(self) -> None:
        super().__init__(LOG_SECONDS, LOG_SECONDS)

    def show(self, line: str) -> None:
        print(line, file=sys.stderr, flush=True)


class NotebookLine(_Lines):
    """One line below the cell that changes as the sweep goes on."""

    def __init__(self) -> None:
        super().__init__(NOTEBOOK_SECONDS, PATIENCE_SECONDS)
        self._shown: Any = None

    def show(self, line: str) -> None:
        from IPython.display import display

        text = {"text/plain": line}
        if self._shown is None:
            self._shown = display(text, raw=True, display_id=True)
        else:
            self._shown.update(text, raw=True)


def usual_watcher() -> Progress:
    """Return who watches when nobody was asked to: in a notebook a line below the cell, elsewhere nobody."""
    shell = getattr(sys.modules.get("IPython"), "get_ipython", lambda: None)()
    return NotebookLine() if shell is not None and hasattr(shell, "kernel") else Silent()
