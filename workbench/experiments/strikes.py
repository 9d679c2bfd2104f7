"""Is a run to blame for the deaths of its workers? What ends a worker may be the run, or somebody else."""

from __future__ import annotations

import signal
from collections import Counter, defaultdict
from typing import NamedTuple

PAUSE_SECONDS = 2.0
"""Between two attempts of a run whose worker was killed: what kills workers once a while strikes at other moments."""

_OWN_DOING = {getattr(signal, name, None) for name in ("SIGSEGV", "SIGABRT", "SIGBUS", "SIGFPE", "SIGILL", "SIGSYS")}
"""Signals that a process earns by what it does; others come from outside, or from the system when memory is short."""

_COUNTED = {1: "once", 2: "twice", 3: "three times", 4: "four times"}


class Death(NamedTuple):
    """What is known of the end of a worker."""

    status: int | None = None
    """Its exit status, minus the number of the signal that killed it; None = nobody knows."""
    times: int = 1
    """How many workers ended so, one after the other, over the same runs."""
    why: str = ""
    """What is said of a run that is to blame for it; empty = how the process ended."""
    counts: bool = True
    """Whether the run that was under way may be to blame; False = perhaps one before it in the same worker."""

    @property
    def outside(self) -> bool:
        """Return whether it may have come from outside: by a signal, or for a reason that nobody knows."""
        return self.status is None or (self.status < 0 and -self.status not in _OWN_DOING)

    @property
    def pause_seconds(self) -> float:
        """Return how long to wait before the run is tried again."""
        return PAUSE_SECONDS if self.outside else 0.0


class Strikes:
    """The deaths of workers that did one run alone."""

    def __init__(self) -> None:
        self._deaths: dict[str, list[int | None]] = defaultdict(list)
        self._attempts: Counter[str] = Counter()

    def add(self, run: str, death: Death) -> str | None:
        """Count a death; return the sentence that blames the run, or None while it may not be its fault.

        An exit, or a signal that only the process itself can earn, is its fault the second time; any other death the
        third time, and never in its first attempt. One that does not count is never its fault.

        >>> strikes = Strikes()
        >>> strikes.add("a", Death(3)), strikes.add("a", Death(3))
        (None, 'the worker process ended with status 3 during this run.')
        >>> [strikes.add("b", Death(-9)) for _ in range(3)][2]
        'the worker process was killed by signal 9 three times during this run.'
        """
        if not death.counts:
            return None
        deaths = self._deaths[run]
        deaths += [death.status] * death.times
        self._attempts[run] += 1
        if len(deaths) < (3 if death.outside else 2) or (death.outside and self._attempts[run] < 2):
            return None
        return death.why or f"the worker process {_ended(death.status, deaths.count(death.status))} during this run."


def _ended(status: int | None, times: int) -> str:
    if status is None:
        return f"died {_COUNTED.get(times, f'{times} times')}"
    if status >= 0:
        return f"ended with status {status}"
    return f"was killed by signal {-status} {_COUNTED.get(times, f'{times} times')}"
