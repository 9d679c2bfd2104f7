"""Work in the background of a page: later in the kernel's event loop, or in a thread."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable
from typing import Any


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


class InThread:
    """What computes in a thread while the page goes on."""

    _working: threading.Thread | None = None

    def _begin(self, action: Callable[..., None], *arguments: Any) -> None:
        self._working = threading.Thread(target=action, args=arguments, daemon=True)
        self._working.start()

    def wait(self) -> None:
        """Return the time at which a running computation is shown."""
        if self._working is not None:
            self._working.join()
