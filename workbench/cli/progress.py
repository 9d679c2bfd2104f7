"""A progress bar in the terminal: runs done, rate, time left, failures so far."""

from __future__ import annotations

import sys
from typing import Any

from workbench.experiments.progress import Pace, span
from workbench.experiments.row import Row
from workbench.experiments.watchers import LogLines


class Bar:
    """Watches a sweep with a bar on standard error; with a line now and then where that is no terminal."""

    def __init__(self, quiet: bool = False) -> None:
        """Keep the bar to oneself if `quiet`, for output that programs read; what takes long before the first run is
        still said."""
        self._quiet = quiet
        self._bar: Any = None
        self._task: Any = None
        self._pace: Pace | None = None
        self._lines: LogLines | None = None

    def say(self, line: str) -> None:
        print(line, file=sys.stderr, flush=True)

    def begin(self, total: int, kept: int) -> None:
        from rich.console import Console

        console = Console(stderr=True)
        if self._quiet:
            return
        if not console.is_terminal:
            self._lines = LogLines()
            self._lines.begin(total, kept)
            return
        from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn

        self._bar = Progress(
            TextColumn("{task.description}"),
            BarColumn(),
            MofNCompleteColumn(),
            TextColumn("{task.fields[pace]}"),
            TextColumn("[red]{task.fields[failed]}"),
            console=console,
        )
        self._bar.start()
        self._pace = Pace(total, kept)
        self._task = self._bar.add_task("runs", total=total, completed=kept, pace="", failed="")

    def advance(self, row: Row) -> None:
        if self._lines is not None:
            self._lines.advance(row)
        if self._bar is None or self._pace is None:
            return
        self._pace.count(row.status != "done")
        failed = f"{self._pace.failed} failed" if self._pace.failed else ""
        self._bar.update(self._task, completed=self._pace.done, pace=_pace(self._pace), failed=failed)

    def complete(self) -> None:
        if self._lines is not None:
            self._lines.complete()
        if self._bar is not None and self._pace is not None:
            self._pace.complete()
            self._bar.update(self._task, total=self._pace.needed, pace="")

    def end(self) -> None:
        if self._lines is not None:
            self._lines.end()
        if self._bar is not None:
            self._bar.stop()


def _pace(pace: Pace) -> str:
    rate = pace.rate()
    return f"{rate:.1f}/s, {span((pace.needed - pace.done) / rate)} left" if rate > 0 else ""
