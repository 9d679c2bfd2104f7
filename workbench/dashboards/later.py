"""Something to do soon, when the kernel has time: what is asked for next comes first."""

from __future__ import annotations

import asyncio
from collections.abc import Callable


class Later:
    """Does one thing after a while, unless it is called off or put off before.

    In a notebook's kernel an event loop runs, and messages from the browser come between; where there is none (in a
    script, in a test) the thing is done at once.
    """

    def __init__(self, action: Callable[[], None]) -> None:
        self._action = action
        self._waiting: asyncio.TimerHandle | None = None

    def start(self, seconds: float) -> None:
        """Do it in so many seconds."""
        self.cancel()
        loop = _running_loop()
        if loop is None:
            self._action()
        else:
            self._waiting = loop.call_later(seconds, self._action)

    @property
    def can_wait(self) -> bool:
        """Return whether there is an event loop, so that something is done later and not at once."""
        return _running_loop() is not None

    def cancel(self) -> None:
        """Do not do it."""
        if self._waiting is not None:
            self._waiting.cancel()
            self._waiting = None


def has_loop() -> bool:
    """Return whether an event loop runs here, so that something can be done later.

    >>> has_loop()
    False
    """
    return _running_loop() is not None


def _running_loop() -> asyncio.AbstractEventLoop | None:
    try:
        return asyncio.get_running_loop()
    except RuntimeError:
        return None
