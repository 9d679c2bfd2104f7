"""Several specs in an order: scores that are summed, resources that are declared, mixes that are drawn from."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator
from typing import Any

import ipywidgets as widgets

from workbench.dashboards.controls.control import Control, mark, row
from workbench.dashboards.controls.family import ChoiceControl, alternatives
from workbench.dashboards.controls.folded import FoldedControl
from workbench.levers import REQUIRED, Lever, Spec


class SpecsControl(Control):
    """One control an item, each with a button that takes it out, and a button that puts another at the end.

    An item is a drop-down where several kinds of spec may stand there, else a line that opens.
    """

    def __init__(self, lever: Lever) -> None:
        super().__init__(lever)
        self.items: list[Control] = []
        self.add = widgets.Button(description="add one", tooltip=f"another at the end: {lever.description}")
        self.add.add_class("wb-pick")
        self.add.on_click(self._added)
        self.inside = widgets.VBox([])
        self.inside.add_class("wb-inside")
        self.widget = widgets.VBox([row(lever, self.add), self.inside])

    def plain(self) -> list[Any]:
        return [item.plain() for item in self.items]

    def walk(self, path: str) -> Iterator[tuple[str, Control]]:
        yield path, self
        for place, item in enumerate(self.items):
            yield from item.walk(f"{path}[{place}]")

    def mark(self, wrong: bool) -> None:
        mark(self.add, wrong)

    def refresh(self) -> None:
        for item in self.items:
            item.refresh()

    def take_out(self, item: Control) -> None:
        """Take an item out, as its button does."""
        self.items.remove(item)
        self._put_inside()
        self._changed()

    def _show(self, values: tuple[Spec, ...]) -> None:
        self.items = [self._item() for _ in values]
        for item, value in zip(self.items, values, strict=True):
            item.show(value)
        self._put_inside()

    def _added(self, _button: object) -> None:
        item = self._item()
        if isinstance(item, FoldedControl):
            item.fold(True)
        self.items.append(item)
        self._put_inside()
        self._changed()

    def _item(self) -> Control:
        one = dataclasses.replace(self.lever, name="", kind="spec", default=REQUIRED)
        assert one.spec is not None
        item = ChoiceControl(one) if alternatives(one.spec) else FoldedControl(one)
        item.on_change(self._changed)
        return item

    def _put_inside(self) -> None:
        self.inside.children = [self._line(place, item) for place, item in enumerate(self.items)]

    def _line(self, place: int, item: Control) -> widgets.Widget:
        number = widgets.Label(f"{place + 1}")
        out = widgets.Button(description="×", tooltip="take it out")
        out.add_class("wb-out")
        out.on_click(lambda _: self.take_out(item))
        line = widgets.HBox([number, item.widget, out])
        line.add_class("wb-item")
        return line
