"""A value over time, and its mean."""

from __future__ import annotations

from tests.oracles.node.calendar import Calendar


class Gauge:
    """A value that holds until it is set again."""

    def __init__(self, calendar: Calendar, value: float = 0) -> None:
        self._calendar, self._value = calendar, value
        self._since, self._total = calendar.now, 0.0

    def set(self, value: float) -> None:
        """Let another value hold from now on."""
        now = self._calendar.now
        self._total += self._value * (now - self._since)
        self._value, self._since = value, now

    def mean(self, end: int) -> float:
        """Return the mean from cycle 0 to an end; the value itself if that is 0."""
        rest = max(end - self._since, 0)
        return (self._total + self._value * rest) / end if end else self._value
