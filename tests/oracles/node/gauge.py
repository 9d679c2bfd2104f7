"""A value over time, and its mean."""

from __future__ import annotations

import itertools

from tests.oracles.node.calendar import Calendar


class Gauge:
    """A value that holds until it is set again."""

    def __init__(self, calendar: Calendar, value: float = 0) -> None:
        self._calendar = calendar
        self._changes: list[tuple[float, float]] = [(calendar.now, value)]

    def set(self, value: float) -> None:
        """Let another value hold from now on."""
        self._changes.append((self._calendar.now, value))

    def mean(self, end: int) -> float:
        """Return the mean from cycle 0 to an end, whatever comes after it; the first value if that is 0."""
        last = self._changes[-1][1]
        spans = itertools.pairwise([*self._changes, (max(end, self._changes[-1][0]), last)])
        areas = [value * (min(until, end) - min(since, end)) for (since, value), (until, _) in spans]
        return sum(areas) / end if end else self._changes[0][1]
