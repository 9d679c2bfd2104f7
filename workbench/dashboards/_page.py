"""The page around the levers: the fragment of its URL, its heartbeat, its buttons for undo and redo."""

from __future__ import annotations

import asyncio
import os
import threading
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import anywidget
import ipywidgets as widgets
import traitlets

from workbench.dashboards._background import Later, has_loop
from workbench.dashboards._elements import button
from workbench.dashboards.served_notebook import SERVED

HEARTBEAT_TIMEOUT_SECONDS = 10
"""A kernel that computes says so from a thread before."""
BUSY_SECONDS = 2.0


class UrlFragment(anywidget.AnyWidget):
    """Invisible: writes what follows the `#` of the page's address, and reads what stands there."""

    _esm = Path(__file__).parent / "scripts" / "address.js"
    setting = traitlets.Unicode("").tag(sync=True)
    is_served = traitlets.Bool(False).tag(sync=True)
    """Whether the page is the dashboard's own; the address of a notebook is left alone."""

    def __init__(self, on_open: Callable[[str], None]) -> None:
        """Call `on_open` with what the page's address says when it is loaded, or changed by hand."""
        super().__init__(is_served=os.environ.get(SERVED) == "1")
        self._on_open = on_open
        self.on_msg(self._on_message)

    def _on_message(self, _widget: object, message: dict[str, Any], _pieces: object) -> None:
        if message.get("what") == "setting":
            self._on_open(str(message["setting"]))


class Heartbeat(anywidget.AnyWidget):
    """Nothing to be seen as long as the kernel answers: the page asks it every other second.

    While the kernel computes, a thread of it says so: a page that hears neither says that the kernel has ended.
    """

    _esm = Path(__file__).parent / "scripts" / "heartbeat.js"
    is_served = traitlets.Bool(False).tag(sync=True)
    """Whether the page is the dashboard's own: a notebook's cell is run again, a page is loaded again."""
    patience = traitlets.Int(HEARTBEAT_TIMEOUT_SECONDS).tag(sync=True)

    def __init__(self) -> None:
        super().__init__(is_served=os.environ.get(SERVED) == "1")
        self.on_msg(self._on_message)
        self._waits: Callable[[], None] | None = None
        self._ended = threading.Event()
        if has_loop():
            watch = partial(self._tell_if_busy, asyncio.get_running_loop())
            threading.Thread(target=watch, daemon=True).start()

    def begin(self, action: Callable[[], None]) -> None:
        """Do something once a page of its own is there; in a notebook, and where no messages come, do not wait for it.

        Such a page asks for all its widgets at once, and after four seconds without an answer for each of them, which
        are thousands: a first run, which may compile for minutes, comes after that.
        """
        if self.is_served and has_loop():
            self._waits = action
        else:
            Later(action).start(0)

    def close(self) -> None:
        """Tell the page no more, then close as every widget does."""
        self._ended.set()
        super().close()

    def _tell_if_busy(self, loop: asyncio.AbstractEventLoop) -> None:
        """Tell the page from a thread that the kernel is there while it computes and answers nothing."""
        while not self._ended.wait(BUSY_SECONDS):
            answered = threading.Event()
            try:
                loop.call_soon_threadsafe(answered.set)
            except RuntimeError:
                return  # the loop has ended
            while not answered.wait(BUSY_SECONDS) and not self._ended.is_set():
                self.send({"what": "busy"})

    def _on_message(self, _widget: object, _message: dict[str, Any], _pieces: object) -> None:
        self.send({"what": "here"})
        if self._waits is not None:
            Later(self._waits).start(0)
            self._waits = None


class UndoToolbar:
    """Buttons that are off where they would do nothing."""

    def __init__(self, undo: Callable[[], None], redo: Callable[[], None], reset: Callable[[], None]) -> None:
        self.undo = button("↶ undo", "the setting before (what is undone can be redone)", undo)
        self.redo = button("↷ redo", "the setting that was undone", redo)
        self.reset = button("as opened", "the setting with which this page opened; can be undone", reset)
        self.widget = widgets.HBox([self.undo, self.redo, self.reset])
        self.widget.add_class("wb-tools")

    def allow(self, undo: bool, redo: bool, reset: bool) -> None:
        """Let some buttons be pressed, and the others not."""
        self.undo.disabled, self.redo.disabled, self.reset.disabled = not undo, not redo, not reset
