"""A progress bar in the terminal: runs done, rate, time left, failures so far."""

from __future__ import annotations

import sys
from typing import Any

from workbench.experiments.store import Row


class Bar:
    """Watches a sweep with a bar on standard error; plain lines where that is no terminal."""

    def __init__(self, quiet: bool = False) -> None:
        """Quiet shows no bar, for output that programs read; what takes long before the first run is still said."""
        self._quiet = quiet
        self._bar: Any = None
        self._task: Any = None
        self._failed = 0

    def say(self, line: str) -> None:
        print(line, file=sys.stderr, flush=True)

    def begin(self, total: int, kept: int) -> None:
        from rich.console import Console
        from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

        console = Console(stderr=True)
        if self._quiet or not console.is_terminal:
            return
        self._bar = Progress(
            TextColumn("{task.description}"),
            BarColumn(),
            MofNCompleteColumn(),
            TextColumn("{task.fields[rate]}"),
            TimeRemainingColumn(),
            TextColumn("[red]{task.fields[failed]}"),
            console=console,
        )
        self._bar.start()
        self._task = self._bar.add_task("runs", total=total, completed=kept, rate="", failed="")

    def advance(self, row: Row) -> None:
        self._failed += row.status != "done"
        if self._bar is None:
            return
        self._bar.advance(self._task)
        speed = self._bar.tasks[self._task].speed
        failed = f"{self._failed} failed" if self._failed else ""
        self._bar.update(self._task, rate=f"{speed:.0f}/s" if speed else "", failed=failed)

    def end(self) -> None:
        if self._bar is not None:
            self._bar.stop()
