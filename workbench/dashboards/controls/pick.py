"""A choice among names, a switch, a text, a list: the controls that are one widget each."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import ipywidgets as widgets

from workbench.dashboards.controls.control import Control, row
from workbench.errors import wrong_value
from workbench.levers import Lever


class _OneWidget(Control):
    """A control whose value is its only widget's."""

    def __init__(self, lever: Lever, widget: Any) -> None:
        super().__init__(lever)
        self.shown = widget
        self.shown.tooltip = lever.description
        self.shown.add_class("wb-pick")
        self.shown.observe(self._changed, "value")
        self.widget = row(lever, self.shown)

    def plain(self) -> Any:
        return self.lever.plain(self.lever.check(self.shown.value))

    def _show(self, value: Any) -> None:
        self.shown.value = value


class NameControl(_OneWidget):
    """One of the lever's names, as a drop-down."""

    def __init__(self, lever: Lever) -> None:
        super().__init__(lever, widgets.Dropdown(options=words(lever.choices)))
        self.offered: Sequence[str] = lever.choices
        self._tried: str | None = None

    def plain(self) -> Any:
        return super().plain() if self._tried is None else self.lever.plain(self.lever.check(self._tried))

    @contextmanager
    def trying(self, name: str) -> Iterator[None]:
        """Let `plain` return another name meanwhile; nothing on the screen changes."""
        self._tried = name
        try:
            yield
        finally:
            self._tried = None

    def offer(self, names: Sequence[str]) -> None:
        """Let these names alone be chosen, and the present one; nobody is called."""
        present = self.shown.value
        kept = [name for name in self.lever.choices if name in names or name == present]
        if kept != list(self.offered):
            with self._quietly(), self.shown.hold_sync():
                self.offered = kept
                self.shown.options = words(kept)
                self.shown.value = present

    def _show(self, value: Any) -> None:
        if value not in self.offered:
            self.offer(self.lever.choices)
        super()._show(value)


def words(names: Iterable[str]) -> list[tuple[str, str]]:
    """Return names as a drop-down shows them, each with the name itself.

    >>> words(["drain_cycles"])
    [('drain cycles', 'drain_cycles')]
    """
    return [(name.replace("_", " "), name) for name in names]


class SwitchControl(_OneWidget):
    """On or off."""

    def __init__(self, lever: Lever) -> None:
        super().__init__(lever, widgets.Checkbox(indent=False))


class TextControl(_OneWidget):
    """A line of text; it counts when it is finished, not letter by letter."""

    def __init__(self, lever: Lever) -> None:
        super().__init__(lever, widgets.Text(continuous_update=False))


class ListControl(_OneWidget):
    """Numbers with commas between them."""

    def __init__(self, lever: Lever) -> None:
        super().__init__(lever, widgets.Text(continuous_update=False, placeholder="1, 2, 4"))

    def plain(self) -> Any:
        return self.lever.plain(self.lever.check(read_numbers(self.shown.value, self.lever)))

    def _show(self, value: Any) -> None:
        self.shown.value = ", ".join(f"{item:g}" if isinstance(item, float) else str(item) for item in value)


def read_numbers(text: str, lever: Lever) -> list[float]:
    """Read the numbers of a typed list.

    >>> read_numbers("1, 2 4;8", Lever("outcomes", "integers"))
    [1, 2, 4, 8]
    >>> read_numbers("1, two", Lever("outcomes", "integers"))
    Traceback (most recent call last):
    workbench.errors.InputError: outcomes must be numbers with commas between them. Got '1, two'.
    """
    words = text.replace(",", " ").replace(";", " ").split()
    try:
        return [int(word) if lever.kind == "integers" else float(word) for word in words]
    except ValueError:
        raise wrong_value("", lever.name, "must be numbers with commas between them", text) from None
