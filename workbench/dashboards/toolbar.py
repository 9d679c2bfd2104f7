"""Undo, redo, and the setting that the page opened with: three buttons above the levers."""

from __future__ import annotations

from collections.abc import Callable

import ipywidgets as widgets


class Toolbar:
    """Buttons that are off where they would do nothing."""

    def __init__(self, undo: Callable[[], None], redo: Callable[[], None], reset: Callable[[], None]) -> None:
        self.undo = _button("↶ undo", "the setting before (what is undone can be redone)", undo)
        self.redo = _button("↷ redo", "the setting that was undone", redo)
        self.reset = _button("as opened", "the setting with which this page opened; can be undone", reset)
        self.widget = widgets.HBox([self.undo, self.redo, self.reset])
        self.widget.add_class("wb-tools")

    def allow(self, undo: bool, redo: bool, reset: bool) -> None:
        """Let some buttons be pressed, and the others not."""
        self.undo.disabled, self.redo.disabled, self.reset.disabled = not undo, not redo, not reset


def _button(words: str, meaning: str, press: Callable[[], None]) -> widgets.Button:
    button = widgets.Button(description=words, tooltip=meaning)
    button.on_click(lambda _: press())
    return button
