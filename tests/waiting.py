"""Wait for what a test is about to see, never for a while: a busy machine may take a hundred times as long."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import TypeVar

PAUSE_SECONDS = 0.02
_Seen = TypeVar("_Seen")


def wait_until(condition: Callable[[], _Seen], seconds: float = 120, what: str = "") -> _Seen:
    """Ask a condition again and again until it holds, and return what it gave.

    Parameters
    ----------
    condition : callable
        Asked every fiftieth of a second; whatever counts as true ends the waiting.
    seconds : float
        When to give up: generous, for nothing waits so long but a test that fails.
    what : str
        What was waited for, as the failure says it.

    Raises
    ------
    AssertionError
        It did not hold in time.
    """
    until = time.monotonic() + seconds
    while not (seen := condition()):
        if time.monotonic() >= until:
            raise AssertionError(f"not within {seconds:.0f} s: {what or condition}")
        time.sleep(PAUSE_SECONDS)
    return seen
