"""The exact sliding window: how many instructions of each class a module has executed in the latest cycles."""

from __future__ import annotations

from collections import deque

from workbench.errors import unknown_name, wrong_value
from workbench.policies.dispatch.choice.least_recent_energy import LeastRecentEnergy
from workbench.policies.dispatch.choice.question import CLASSES


class RecentCounts:
    """One module's counts over the cycles t - nx to t - 1 of a decision at cycle t, by itself and without an engine.

    Time runs forward: neither executions nor decisions may go back. What is remembered is the executions inside the
    window, however many cycles lie between them.

    References
    ----------
    spec 3, R75, E23, V35.

    Examples
    --------
    >>> recent = RecentCounts(nx=4)
    >>> for cycle in (1, 2, 3, 6):
    ...     recent.execute(cycle, "load")
    >>> recent.counts(7)  # those of the cycles 3 to 6
    (0, 2, 0, 0, 0, 0)
    """

    def __init__(self, nx: int = 1024) -> None:
        self.nx = int(LeastRecentEnergy.levers["nx"].check(nx, "nx"))
        self._ahead = deque[tuple[int, int, int]]()
        self._inside = deque[tuple[int, int, int]]()
        self._counts = [0] * len(CLASSES)
        self._executed = self._decided = 0

    def execute(self, cycle: int, kind: str, count: int = 1) -> None:
        """Count instructions of a class at a cycle.

        Raises
        ------
        InputError
            There is no such class, or the cycle lies before that of an earlier execution or decision.
        """
        if kind not in CLASSES:
            raise unknown_name("", "instruction class", kind, CLASSES)
        earliest = max(self._executed, self._decided)
        self._executed = _not_before(earliest, cycle)
        self._ahead.append((cycle, CLASSES.index(kind), count))

    def counts(self, cycle: int) -> tuple[int, ...]:
        """Return the instructions of each class in the `nx` cycles before a cycle.

        Raises
        ------
        InputError
            The cycle lies before that of an earlier decision.
        """
        self._decided = _not_before(self._decided, cycle)
        while self._ahead and self._ahead[0][0] < cycle:
            self._inside.append(self._ahead.popleft())
            self._counts[self._inside[-1][1]] += self._inside[-1][2]
        while self._inside and self._inside[0][0] < cycle - self.nx:
            _, kind, count = self._inside.popleft()
            self._counts[kind] -= count
        return tuple(self._counts)


def _not_before(earliest: int, cycle: int) -> int:
    if cycle < earliest:
        raise wrong_value("", "cycle", f"must be at least {earliest}, for time runs forward", cycle, earliest)
    return cycle
