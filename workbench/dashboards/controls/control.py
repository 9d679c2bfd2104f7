"""What every control is: a widget that shows one lever, and hands its value on as a sweep file would write it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import ipywidgets as widgets

from workbench.levers import Lever

Listener = Callable[[], None]
WRONG = "wb-wrong"
"""The class of what was refused."""


class Control:
    """One lever on the screen."""

    def __init__(self, lever: Lever) -> None:
        self.lever = lever
        self.widget: widgets.Widget = widgets.Box()
        self._listeners: list[Listener] = []
        self._quiet = 0

    def plain(self) -> Any:
        """Return the value in plain types, as a sweep file writes it.

        Raises
        ------
        InputError
            What was typed is not a value of the lever.
        """
        raise NotImplementedError

    def show(self, value: Any) -> None:
        """Show a value without telling anyone; what the widget cannot show is refused by the lever first."""
        with self._quietly():
            self._show(self.lever.check(value))

    def turn(self, value: Any) -> None:
        """Show a value as if the user had turned to it: whoever listens is told."""
        self.show(value)
        self._changed()

    def on_change(self, listener: Listener) -> None:
        """Call someone whenever the user changes the value."""
        self._listeners.append(listener)

    def refresh(self) -> None:
        """Look again at what there is to choose from; only controls that offer a catalogue have anything to do."""

    def walk(self, path: str) -> Iterator[tuple[str, Control]]:
        """Yield this control and those within it, each with its path as a sweep writes it."""
        yield path, self

    def mark(self, wrong: bool) -> None:
        """Show that this control's value was refused, or that it no longer is."""
        mark(self.widget, wrong)

    def _show(self, value: Any) -> None:
        raise NotImplementedError

    def _changed(self, _change: object = None) -> None:
        if not self._quiet:
            for listener in self._listeners:
                listener()

    @contextmanager
    def _quietly(self) -> Iterator[None]:
        self._quiet += 1
        try:
            yield
        finally:
            self._quiet -= 1


def mark(widget: widgets.Widget, wrong: bool) -> None:
    """Give a widget the look of what was refused, or take it away."""
    if wrong:
        widget.add_class(WRONG)
    elif WRONG in widget._dom_classes:
        widget.remove_class(WRONG)


def row(lever: Lever, *displayed: widgets.Widget) -> widgets.Box:
    """Return a labelled row; the lever's meaning appears when the pointer rests on it. What has no name has no
    label."""
    box = widgets.HBox([*([_label(lever)] if lever.name else []), *displayed])
    box.add_class("wb-row")
    return box


def label_of(lever: Lever) -> str:
    """Return what a row calls its lever; a unit that repeats the name is said once."""
    words = lever.name.replace("_", " ")
    return words if words == lever.unit else lever.label


def _label(lever: Lever) -> widgets.Label:
    label = widgets.Label(label_of(lever), tooltip=lever.description)
    label.add_class("wb-label")
    return label
