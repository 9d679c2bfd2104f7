"""Whoever watches a sweep, and what can be said of its pace."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from typing import Protocol

from workbench.compiling import working_clock
from workbench.experiments.row import Row

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
        rate = self.rate()
        if rate > 0:
            parts.append(f"{rate:.1f}/s" if rate < 100 else f"{rate:.0f}/s")
            if self.done < self.needed:
                parts.append(f"{span((self.needed - self.done) / rate)} left")
        return ", ".join([*parts, *([f"{self.failed} failed"] if self.failed else [])])


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
