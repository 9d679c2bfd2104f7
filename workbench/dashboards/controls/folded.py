"""A spec told in a line: its levers come out when it is opened, and are made only then."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import ipywidgets as widgets

from workbench.dashboards.controls.control import Control, mark
from workbench.dashboards.controls.levers import LeversControl
from workbench.errors import InputError
from workbench.levers import Lever, Spec

OPEN, CLOSED = "▾", "▸"


class FoldedControl(Control):
    """A button with the spec in short, and its levers below while it is open.

    Among many alike, each with many levers, few are turned: what is never opened costs the page nothing.
    """

    def __init__(self, lever: Lever) -> None:
        super().__init__(lever)
        self.button = widgets.Button(tooltip=lever.description)
        self.button.add_class("wb-fold")
        self.button.on_click(lambda _: self.fold(not self.opened))
        self.inside = widgets.VBox([])
        self.inside.add_class("wb-inside")
        self.widget = widgets.VBox([self.button, self.inside])
        self.widget.add_class("wb-levers")
        self._value: Spec | None = None
        self._levers: LeversControl | None = None
        self._title()

    @property
    def opened(self) -> bool:
        """Return whether the levers can be seen."""
        return bool(self.inside.children)

    @property
    def levers(self) -> LeversControl:
        """Return the levers, made when they are first asked for."""
        if self._levers is None:
            self._levers = LeversControl(self.lever)
            if self._value is not None:
                self._levers.show(self._value)
            self._levers.on_change(self._turned)
        return self._levers

    def fold(self, opened: bool) -> None:
        """Let the levers be seen, or hide them; what they are set to stays."""
        self.inside.children = [self.levers.widget] if opened else []
        self._title()

    def plain(self) -> Any:
        if self._levers is None and self._value is not None:
            return self._value.plain()
        return self.levers.plain()

    def walk(self, path: str) -> Iterator[tuple[str, Control]]:
        yield path, self
        if self._levers is not None:
            yield from self._levers.walk(path)

    def mark(self, wrong: bool) -> None:
        mark(self.button, wrong)

    def refresh(self) -> None:
        if self._levers is not None:
            self._levers.refresh()

    def _show(self, value: Spec) -> None:
        self._value = value
        if self._levers is not None:
            self._levers.show(value)
        self._title()

    def _turned(self) -> None:
        self._title()
        self._changed()

    def _title(self) -> None:
        self.button.description = f"{OPEN if self.opened else CLOSED} {self._short()}"

    def _short(self) -> str:
        assert self.lever.spec is not None
        try:
            value = self._value if self._levers is None else self.lever.spec.read(self.plain())
        except InputError:
            value = None
        return (value.short() if value else self.lever.spec.name).replace("_", " ")
