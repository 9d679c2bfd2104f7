"""How a sweep is doing: who watches it and what can be said of its pace, here or of one that runs elsewhere.

Watchers keep a bar in a terminal, and elsewhere say one line now and then: in a notebook a line that changes, in a log
file a new line. The status of a sweep that runs elsewhere, or was stopped, is read from its folder, without disturbing
its driver.
"""

from __future__ import annotations

import json
import os
import socket
import stat
import sys
import time
from collections import deque
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any, Literal, NamedTuple, Protocol, TextIO

from workbench.errors import StoreError, file_guess
from workbench.experiments.results_folder import has_store, is_held, refuse_former
from workbench.experiments.shards import read_shard
from workbench.experiments.store import Store
from workbench.process import working_clock
from workbench.runs.row import Kept, Row

SPAN_SECONDS = 30.0
"""The pace is that of the last so many seconds."""

TOGETHER_SECONDS = 0.05
"""Rows that come within so long of the first were done before it came."""


class Progress(Protocol):
    """Someone who watches a sweep."""

    def say(self, line: str) -> None:
        """Say something worth a line that happens before the first run."""

    def begin(self, total: int, kept: int) -> None:
        """Begin a sweep of so many runs, of which so many are kept already."""

    def advance(self, row: Row) -> None:
        """Count a run that ended."""

    def complete(self) -> None:
        """Count off what has not been run by now and is not needed: repeats, pruned trials, seeds beyond those that
        were enough."""

    def end(self) -> None:
        """End the display of a sweep that ended or was stopped."""


class Silent:
    """Watches and says nothing."""

    def say(self, line: str) -> None: ...

    def begin(self, total: int, kept: int) -> None: ...

    def advance(self, row: Row) -> None: ...

    def complete(self) -> None: ...

    def end(self) -> None: ...


class Pace:
    """Runs done, rate, time left, failures so far.

    Nothing is said of a rate before a second run: the first waits for its engine to be compiled and for workers to
    start. The clock stands still while this process compiles.

    >>> times = iter([50.0, 51.0, 51.0])
    >>> pace = Pace(total=10, kept=4, clock=lambda: next(times))
    >>> pace.count(failed=False)
    >>> pace.line()
    '5 of 10 runs'
    >>> pace.count(failed=True)
    >>> pace.line()
    '6 of 10 runs, 1.0/s, 4 s left, 1 failed'
    """

    def __init__(self, total: int, kept: int, clock: Callable[[], float] = working_clock) -> None:
        self.total, self.done, self.failed = total, kept, 0
        self.needed = total
        """Of the total; fewer once it is known that some are not."""
        self._clock = clock
        self._marks: deque[tuple[float, int]] = deque()

    def count(self, failed: bool) -> None:
        """Count one more run that ended."""
        self.done += 1
        self.failed += failed
        now = self._clock()
        if len(self._marks) == 1 and now - self._marks[0][0] < TOGETHER_SECONDS:
            self._marks[0] = (self._marks[0][0], self.done)
        elif not self._marks or now - self._marks[-1][0] >= SPAN_SECONDS / 60:
            self._marks.append((now, self.done))
        while len(self._marks) > 2 and now - self._marks[1][0] > SPAN_SECONDS:
            self._marks.popleft()

    def skip(self, runs: int) -> None:
        """Count off runs that turned out not to be needed, such as those of a trial that an earlier one has tried.

        >>> pace = Pace(total=10, kept=0)
        >>> pace.skip(4)
        >>> pace.line()
        '0 of 6 runs'
        """
        self.needed = max(self.needed - runs, self.done)

    def complete(self) -> None:
        """Count off what has not been run by now and is not needed."""
        self.needed = self.done

    def rate(self) -> float:
        """Return the runs a second of late; 0 = nothing can be said yet."""
        if not self._marks or self.done == self._marks[0][1]:
            return 0.0
        began, done = self._marks[0]
        return (self.done - done) / max(self._clock() - began, 1e-9)

    def line(self) -> str:
        """Return all of it in words."""
        parts = [f"{self.done} of {self.needed} runs"]
        if self.done == self.needed < self.total:
            parts = [f"{self.done} runs", f"{self.total - self.needed} of {self.total} were not needed"]
        return ", ".join(filter(None, [*parts, self.speed(), f"{self.failed} failed" if self.failed else ""]))

    def speed(self) -> str:
        """Return the rate in words, and how long the rest will take while there is one; empty without a rate."""
        rate = self.rate()
        if not rate:
            return ""
        left = f", {span((self.needed - self.done) / rate)} left" if self.done < self.needed else ""
        return f"{rate:.1f}/s{left}" if rate < 100 else f"{rate:.0f}/s{left}"


def skip(watch: Progress, runs: int) -> None:
    """Tell who watches that so many runs are not needed, if it wants to know, as `complete` does."""
    if runs > 0:
        getattr(watch, "skip", lambda _: None)(runs)


def complete(watch: Progress) -> None:
    """Tell who watches that no more is needed, if it wants to know: a watcher of a user may be older than the word."""
    getattr(watch, "complete", lambda: None)()


def span(seconds: float) -> str:
    """Return a time as people say it.

    >>> span(4.2), span(200), span(8000), span(200_000)
    ('4 s', '3 min 20 s', '2 h 13 min', '2 d 7 h')
    """
    whole = round(seconds)
    for unit, size, smaller, part in (("d", 86400, "h", 3600), ("h", 3600, "min", 60), ("min", 60, "s", 1)):
        if whole >= size:
            return f"{whole // size} {unit} {whole % size // part} {smaller}"
    return f"{whole} s"


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
    """A line on standard error every half minute, for logs of jobs that run unattended."""

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


class _TerminalBar(Silent):
    """A bar that is drawn again and again in a terminal."""

    def begin(self, total: int, kept: int) -> None:
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
        self._pace.count(row.status != "done")
        self._draw()

    def skip(self, runs: int) -> None:
        self._pace.skip(runs)
        self._draw()

    def complete(self) -> None:
        self._pace.complete()
        self._draw()

    def _draw(self) -> None:
        pace = self._pace
        failed = f"{pace.failed} failed" if pace.failed else ""
        self._bar.update(self._task, total=pace.needed, completed=pace.done, pace=pace.speed(), failed=failed)

    def end(self) -> None:
        self._bar.stop()


Kind = Literal["terminal", "log", "pipe"]


class Bar:
    """Watches a sweep with a bar on standard error: in a terminal alone.

    A log file gets a line now and then instead, and a pipe nothing. `NO_COLOR` is heard.
    """

    def __init__(self, quiet: bool = False) -> None:
        """Keep the bar to oneself if `quiet`, for output that programs read; what takes long before the first run is
        still said."""
        self._quiet = quiet
        self._watch: Progress = Silent()

    def say(self, line: str) -> None:
        print(line, file=sys.stderr, flush=True)

    def begin(self, total: int, kept: int) -> None:
        watches: dict[Kind, type[Progress]] = {"terminal": _TerminalBar, "log": LogLines, "pipe": Silent}
        self._watch = watches["pipe" if self._quiet else kind_of(sys.stderr)]()
        self._watch.begin(total, kept)

    def advance(self, row: Row) -> None:
        self._watch.advance(row)

    def skip(self, runs: int) -> None:
        skip(self._watch, runs)

    def complete(self) -> None:
        self._watch.complete()

    def end(self) -> None:
        self._watch.end()


def kind_of(stream: TextIO) -> Kind:
    """Return the kind of a stream's end: a terminal that can redraw a line, a log file, or another program.

    `FORCE_COLOR` makes no terminal of what is none; a dumb one is a log.
    """
    if stream.isatty():
        return "log" if os.environ.get("TERM") == "dumb" else "terminal"
    try:
        mode = os.fstat(stream.fileno()).st_mode
    except (OSError, ValueError):  # a stream in memory, which somebody reads later
        return "pipe"
    return "log" if stat.S_ISREG(mode) else "pipe"


def usual_watcher() -> Progress:
    """Return the default watcher: in a notebook a line below the cell, elsewhere none."""
    shell = getattr(sys.modules.get("IPython"), "get_ipython", lambda: None)()
    return NotebookLine() if shell is not None and hasattr(shell, "kernel") else Silent()


RATE_SECONDS = 60.0
"""The rate is that of the last so many seconds."""


class Status(NamedTuple):
    """What a results folder tells of its sweep."""

    sweep: str
    runs: int | None
    """Of the plan that was last begun; None where no driver said so."""
    done: int
    failed: int
    left: int | None
    rate: float
    """Runs a second during the last minute; 0 where nothing goes on."""
    host: str
    pid: int
    alive: bool | None
    """Whether the driver is running; None where it runs on another machine and cannot be asked."""
    last_row_seconds: float | None
    """How long ago the last row was kept."""
    shard: str | None = None
    """Which part of the sweep the folder holds, as K/N; None where that is all of it."""

    @property
    def sentence(self) -> str:
        """Return all of it in words."""
        of = f" of {self.runs}" if self.runs is not None else ""
        parts = [f"{self.done}{of} runs done", f"{self.failed} failed"]
        if self.left:
            parts.append(f"{self.left} left" + (f" ({span(self.left / self.rate)})" if self.rate else ""))
        if self.rate:
            parts.append(f"{self.rate:.1f}/s")
        if self.last_row_seconds is not None:
            parts.append(f"last row {span(self.last_row_seconds)} ago")
        going = {True: "is running", False: "is not running", None: "runs elsewhere and cannot be asked"}[self.alive]
        driver = f"; its driver (process {self.pid} on {self.host}) {going}" if self.pid else ""
        part = f", {read_shard(self.shard).name}" if self.shard else ""
        return f"{self.sweep}{part}: {', '.join(parts)}{driver}"


def status(folder: str | Path) -> Status:
    """Return the state of the sweep of a results folder.

    Raises
    ------
    StoreError
        It is no results folder, or its store is damaged.

    Examples
    --------
    >>> from tempfile import TemporaryDirectory
    >>> import workbench as wb
    >>> sweep = {"engine": "shared_memory", "workload": "large_uniform", "seeds": 2, "measures": ["drain_cycles"]}
    >>> with TemporaryDirectory() as folder:
    ...     _ = wb.run(sweep, folder)
    ...     result = status(folder)
    >>> result.runs, result.done, result.failed
    (2, 2, 0)
    """
    folder = Path(folder)
    refuse_former(folder)
    if not has_store(folder):
        raise StoreError(f"{folder} is not a results folder: it holds no rows.{file_guess(folder)}")
    with closing(Store(folder, read_only=True)) as store:
        meta, part = store.meta(), store.part
        sweep, driver = meta.get("sweep", folder.name), json.loads(meta.get("driver", "{}"))
        state = _status(sweep, driver, list(store.kept()), folder)
        return state._replace(shard=None if part is None else str(part.shard))


def _status(sweep: str, driver: dict[str, Any], rows: list[Kept], folder: Path) -> Status:
    now, began = time.time(), driver.get("began", 0.0)
    fresh = [row for row in rows if row.at is not None and row.at >= began] if driver else rows
    done = driver.get("kept", 0) + sum(row.status == "done" for row in fresh)
    failed = sum(row.status != "done" for row in fresh)
    here = driver.get("host") in (None, socket.gethostname())
    alive = is_held(folder) or (False if here else None)
    lately = sum((row.at or 0.0) > now - RATE_SECONDS for row in fresh)
    times = [row.at for row in rows if row.at is not None]
    runs = driver.get("runs")
    return Status(
        sweep=sweep,
        runs=runs,
        done=done,
        failed=failed,
        left=None if runs is None else max(runs - done - failed, 0),
        rate=lately / max(min(RATE_SECONDS, now - began), 1e-3) if alive is not False else 0.0,
        host=driver.get("host", ""),
        pid=driver.get("pid", 0),
        alive=alive,
        last_row_seconds=max(now - max(times), 0.0) if times else None,
    )
