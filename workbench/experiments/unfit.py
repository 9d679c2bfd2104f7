"""A worker that can do no more runs, though it lives: what an earlier run left behind in it is in the way."""

from __future__ import annotations

from workbench.experiments.fault import in_one_line
from workbench.experiments.strikes import Death

FRESH_STATUS, USED_STATUS = 70, 75
"""The exit status of such a worker where it cannot tell its driver more: with no run before, and with some."""


class Unfit(Exception):
    """The machinery of a worker raised something, which is no exception of a run: as good as the worker's death.

    Parameters
    ----------
    said : str
        What it raised.
    used : bool
        Whether the worker had done other runs before: then one of them may be the cause.
    """

    def __init__(self, message: str, used: bool) -> None:
        super().__init__(message, used)
        self.said, self.used = message, used

    def __str__(self) -> str:
        return self.said

    @property
    def status(self) -> int:
        """Return the exit status that tells the driver the same, but for the cause."""
        return USED_STATUS if self.used else FRESH_STATUS

    def death(self) -> Death:
        """Return what it counts as: no strike against a run where another may be the cause."""
        cause = f": {self.said}" if self.said else ""
        return Death(self.status, why=f"its worker could not go on{cause}.", counts=not self.used)


def unfit(problem: BaseException, used: bool) -> Unfit:
    """Return what a worker says when its machinery raised something."""
    text = in_one_line(problem)
    return Unfit(f"{type(problem).__name__}{f' ({text})' if text else ''}", used)
