"""A progress bar in the terminal: runs done, rate, time left, failures so far."""

from __future__ import annotations

import os
import stat
import sys
from typing import Any, Literal, TextIO

from workbench.experiments.progress import LogLines, Pace, span
from workbench.experiments.row import Row

Kind = Literal["terminal", "log", "pipe"]


class Bar:
    """Watches a sweep with a bar on standard error: in a terminal alone.

    A log file gets a line now and then instead, and a pipe nothing. `NO_COLOR` is heard.
    """

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
        self._bar = self._lines = None
        if self._quiet:
            return
        kind = kind_of(sys.stderr)
        if kind == "terminal":
            self._start(total, kept)
        elif kind == "log":
            self._lines = LogLines()
            self._lines.begin(total, kept)

    def _start(self, total: int, kept: int) -> None:
        from rich.console import Console
        from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn

        # The stream as it is now: whoever replaces it while runs go on would be shown the bar as if it were text.
        console = Console(file=sys.stderr, force_terminal=True)
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

    def skip(self, runs: int) -> None:
        if self._lines is not None:
            self._lines.skip(runs)
        if self._bar is not None and self._pace is not None:
            self._pace.skip(runs)
            self._bar.update(self._task, total=self._pace.needed, pace=_pace(self._pace))

    def complete(self) -> None:
        if self._lines is not None:
            self._lines.complete()
        if self._bar is not None and self._pace is not None:
            self._pace.complete()
            self._bar.update(self._task, total=self._pace.needed, pace=_pace(self._pace))

    def end(self) -> None:
        if self._lines is not None:
            self._lines.end()
        if self._bar is not None:
            self._bar.stop()


def kind_of(stream: TextIO) -> Kind:
    """Return what a stream leads to: a terminal that can redraw a line, a log file, or another program.

    `FORCE_COLOR` makes no terminal of what is none; a dumb one is a log.
    """
    if stream.isatty():
        return "log" if os.environ.get("TERM") == "dumb" else "terminal"
    try:
        mode = os.fstat(stream.fileno()).st_mode
    except (OSError, ValueError):  # a stream in memory, which somebody reads later
        return "pipe"
    return "log" if stat.S_ISREG(mode) else "pipe"


def _pace(pace: Pace) -> str:
    """Return the rate of the runs, and how long the rest will take while there is one."""
    rate = pace.rate()
    if not rate:
        return ""
    left = f", {span((pace.needed - pace.done) / rate)} left" if pace.done < pace.needed else ""
    return f"{rate:.1f}/s{left}" if rate < 100 else f"{rate:.0f}/s{left}"
