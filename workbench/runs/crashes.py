"""Which run is to blame when a worker dies, and what a worker reports when it cannot go on.

The run may be the cause, or something outside (`CrashPolicy`). A worker that lives may be unable to do more runs,
because of something that an earlier run left in it (`WorkerFailure`).
"""

from __future__ import annotations

import signal
from collections import Counter, defaultdict
from typing import NamedTuple

from workbench.runs.faults import in_one_line

PAUSE_SECONDS = 2.0
"""Between two attempts of a run whose worker was killed: what kills workers once a while strikes at other moments."""

_OWN_DOING = {getattr(signal, name, None) for name in ("SIGSEGV", "SIGABRT", "SIGBUS", "SIGFPE", "SIGILL", "SIGSYS")}
"""Signals that a process earns by what it does; others come from outside, or from the system when memory is short."""

_COUNTED = {1: "once", 2: "twice", 3: "three times", 4: "four times"}


class Death(NamedTuple):
    """What is known of the end of a worker."""

    status: int | None = None
    """Its exit status, minus the number of the signal that killed it; None = unknown."""
    times: int = 1
    """How many workers ended so, one after the other, over the same runs."""
    why: str = ""
    """What is said of a run that is to blame for it; empty = how the process ended."""
    counts: bool = True
    """Whether the run that was under way may be to blame; False = perhaps one before it in the same worker."""

    @property
    def outside(self) -> bool:
        """Return whether it may have come from outside: by a signal, or for an unknown reason."""
        return self.status is None or (self.status < 0 and -self.status not in _OWN_DOING)

    @property
    def pause_seconds(self) -> float:
        """Return the time to wait before the run is tried again."""
        return PAUSE_SECONDS if self.outside else 0.0


class CrashPolicy:
    """The deaths of workers that did one run alone."""

    def __init__(self) -> None:
        self._deaths: dict[str, list[int | None]] = defaultdict(list)
        self._attempts: Counter[str] = Counter()

    def add(self, run: str, death: Death) -> str | None:
        """Count a death; return the sentence that blames the run, or None while it may not be its fault.

        An exit, or a signal that only the process itself can earn, is its fault the second time; any other death the
        third time, and never in its first attempt. One that does not count is never its fault.

        >>> deaths = CrashPolicy()
        >>> deaths.add("a", Death(3)), deaths.add("a", Death(3))
        (None, 'the worker process ended with status 3 during this run.')
        >>> [deaths.add("b", Death(-9)) for _ in range(3)][2]
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


FRESH_STATUS, USED_STATUS = 70, 75
"""The exit status of such a worker where it cannot tell its driver more: with no run before, and with some."""


class WorkerFailure(Exception):
    """The machinery of a worker raised something, which is no exception of a run: as good as the worker's death.

    Parameters
    ----------
    message : str
        What it raised.
    used : bool
        Whether the worker had done other runs before: then one of them may be the cause.
    """

    def __init__(self, message: str, used: bool) -> None:
        super().__init__(message, used)
        self.message, self.used = message, used

    def __str__(self) -> str:
        return self.message

    @property
    def status(self) -> int:
        """Return the exit status that tells the driver the same, but for the cause."""
        return USED_STATUS if self.used else FRESH_STATUS

    def death(self) -> Death:
        """Return the count against a run: no strike where another may be the cause."""
        cause = f": {self.message}" if self.message else ""
        return Death(self.status, why=f"its worker could not go on{cause}.", counts=not self.used)


def worker_failure(problem: BaseException, used: bool) -> WorkerFailure:
    """Return the message of a worker whose machinery raised something."""
    text = in_one_line(problem)
    return WorkerFailure(f"{type(problem).__name__}{f' ({text})' if text else ''}", used)
