"""Lists of numbers as chips: a set that grows and shrinks, or so many numbers in an order."""

from __future__ import annotations

from typing import Any

import ipywidgets as widgets

from workbench.dashboards.controls.control import Control
from workbench.levers import Lever


class LengthsControl(Control):
    """Different numbers in rising order, each a chip that can be taken out; another is typed behind them."""

    def __init__(self, lever: Lever) -> None:
        super().__init__(lever)
        self.chips = widgets.IntsInput(
            value=[],
            min=lever.least,
            max=lever.most,
            allow_duplicates=False,
            placeholder="+",
            tooltip=lever.description,
        )
        self.chips.add_class("wb-chips")
        self.chips.observe(self._changed, "value")
        self.widget = self.chips

    def plain(self) -> list[int]:
        return sorted(set(self.chips.value))

    def _show(self, value: Any) -> None:
        self.chips.value = list(value)


class NumbersControl(Control):
    """Numbers in an order, each a chip that is typed over or stepped."""

    def __init__(self, lever: Lever) -> None:
        super().__init__(lever)
        self.boxes: list[widgets.BoundedIntText] = []
        self.row = widgets.HBox([])
        self.row.add_class("wb-chips")
        self.widget = self.row

    def plain(self) -> list[int]:
        return [box.value for box in self.row.children]

    def _show(self, value: Any) -> None:
        while len(self.boxes) < len(value):
            self.boxes.append(self._box())
        for box, number in zip(self.boxes, value, strict=False):
            box.value = number
        self.row.children = self.boxes[: len(value)]

    def _box(self) -> widgets.BoundedIntText:
        box = widgets.BoundedIntText(min=self.lever.least, max=self.lever.most, tooltip=self.lever.description)
        box.observe(self._changed, "value")
        return box
