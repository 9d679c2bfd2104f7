"""Undo and redo: the settings that a page has had, one after the other."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

from workbench.dashboards.setting import differences

MOST = 500
"""Settings are kept; older ones are forgotten."""
DRAG_SECONDS = 1.0
"""Moves of one lever that follow each other so soon are one step."""

Setting = dict[str, Any]


class History:
    """A line of settings and where in it the page stands."""

    def __init__(self, first: Setting, clock: Callable[[], float] = time.monotonic) -> None:
        self._line, self._at, self._clock = [first], 0, clock
        self._turned: tuple[str, ...] = ()
        self._when = clock()

    @property
    def now(self) -> Setting:
        """Return the setting that the page has."""
        return self._line[self._at]

    @property
    def can_undo(self) -> bool:
        """Return whether there is an earlier setting."""
        return self._at > 0

    @property
    def can_redo(self) -> bool:
        """Return whether there is a later one, from which `undo` came."""
        return self._at + 1 < len(self._line)

    def note(self, setting: Setting) -> None:
        """Put a setting at the end of the line; what was undone before is forgotten."""
        if setting == self.now:
            return
        turned, when = tuple(differences(self.now, setting)), self._clock()
        drags = turned == self._turned and when - self._when < DRAG_SECONDS and self.can_undo and not self.can_redo
        del self._line[self._at + (0 if drags else 1) :]
        self._line = [*self._line, setting][-MOST:]
        self._at = len(self._line) - 1
        self._turned, self._when = turned, when

    def undo(self) -> Setting:
        """Go back by one setting, and return it."""
        self._at, self._turned = max(self._at - 1, 0), ()
        return self.now

    def redo(self) -> Setting:
        """Go forward by one setting, and return it."""
        self._at, self._turned = min(self._at + 1, len(self._line) - 1), ()
        return self.now
