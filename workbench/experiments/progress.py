"""Whoever watches a sweep, and what can be said of its pace."""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable
from typing import Protocol

from workbench.experiments.row import Row

SPAN_SECONDS = 30.0
"""The pace is that of the last so many seconds."""


class Progress(Protocol):
    """Someone who watches a sweep."""

    def say(self, line: str) -> None:
        """Something worth a line happens before the first run."""

    def begin(self, total: int, kept: int) -> None:
        """A sweep of so many runs begins; so many are kept already."""

    def advance(self, row: Row) -> None:
        """A run ended."""

    def end(self) -> None:
        """The sweep ended or was stopped."""


class Silent:
    """Watches and says nothing."""

    def say(self, line: str) -> None: ...

    def begin(self, total: int, kept: int) -> None: ...

    def advance(self, row: Row) -> None: ...

    def end(self) -> None: ...


class Pace:
    """Runs done, rate, time left, failures so far.

    >>> times = iter([0.0, 1.0, 2.0, 2.0])
    >>> pace = Pace(total=10, kept=4, clock=lambda: next(times))
    >>> pace.count(failed=False), pace.count(failed=True)
    (None, None)
    >>> pace.line()
    '6 of 10 runs, 1.0/s, 4 s left, 1 failed'
    """

    def __init__(self, total: int, kept: int, clock: Callable[[], float] = time.monotonic) -> None:
        self.total, self.done, self.failed = total, kept, 0
        self._clock = clock
        self._marks: deque[tuple[float, int]] = deque([(clock(), kept)])

    def count(self, failed: bool) -> None:
        """One more run ended."""
        self.done += 1
        self.failed += failed
        now = self._clock()
        if now - self._marks[-1][0] >= SPAN_SECONDS / 60:
            self._marks.append((now, self.done))
        while len(self._marks) > 2 and now - self._marks[1][0] > SPAN_SECONDS:
            self._marks.popleft()

    def rate(self) -> float:
        """Runs a second of late."""
        began, done = self._marks[0]
        return (self.done - done) / max(self._clock() - began, 1e-9)

    def line(self) -> str:
        """All of it in words."""
        said = [f"{self.done} of {self.total} runs"]
        rate = self.rate()
        if rate > 0:
            said.append(f"{rate:.1f}/s" if rate < 100 else f"{rate:.0f}/s")
            if self.done < self.total:
                said.append(f"{span((self.total - self.done) / rate)} left")
        return ", ".join([*said, *([f"{self.failed} failed"] if self.failed else [])])


def span(seconds: float) -> str:
    """A time as people say it.

    >>> span(4.2), span(200), span(8000), span(200_000)
    ('4 s', '3 min 20 s', '2 h 13 min', '2 d 7 h')
    """
    whole = round(seconds)
    for unit, size, smaller, part in (("d", 86400, "h", 3600), ("h", 3600, "min", 60), ("min", 60, "s", 1)):
        if whole >= size:
            return f"{whole // size} {unit} {whole % size // part} {smaller}"
    return f"{whole} s"
