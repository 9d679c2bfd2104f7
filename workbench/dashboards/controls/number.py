"""A number: a slider for the feel of it, a box beside it for any exact value of the lever's whole range."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import ipywidgets as widgets

from workbench.dashboards.controls.control import Control, row
from workbench.dashboards.controls.stops import nearest_stop, stops
from workbench.levers import Lever


class NumberControl(Control):
    """An integer or a real number."""

    def __init__(self, lever: Lever) -> None:
        super().__init__(lever)
        self.box = _box(lever)
        self.declared = stops(lever)
        """Where the slider could stop by the lever's own range."""
        self.stops: Sequence[float] = self.declared
        self._tried: float | None = None
        self.slider = widgets.IntSlider(0, 0, max(len(self.stops) - 1, 0), readout=False, tooltip=lever.description)
        self.slider.add_class("wb-slider")
        self.box.observe(self._typed, "value")
        self.slider.observe(self._slid, "value")
        widgets_shown = [self.slider, self.box] if len(self.stops) > 1 else [self.box]
        self.widget = row(lever, *widgets_shown)

    def plain(self) -> Any:
        value = self.box.value if self._tried is None else self._tried
        return self.lever.plain(self.lever.check(value))

    @contextmanager
    def trying(self, value: float) -> Iterator[None]:
        """Let `plain` return another value meanwhile; nothing on the screen changes."""
        self._tried = value
        try:
            yield
        finally:
            self._tried = None

    def offer(self, values: Sequence[float]) -> None:
        """Let the slider stop at these values alone; what is typed into the box is as it was."""
        if values and list(values) != list(self.stops):
            with self._quietly(), self.slider.hold_sync():
                self.stops = values
                self.slider.value = 0
                self.slider.max = len(values) - 1
                self._follow()

    def _show(self, value: Any) -> None:
        self.box.value = value
        self._follow()

    def _follow(self) -> None:
        if self.stops:
            self.slider.value = nearest_stop(list(self.stops), self.box.value)

    def _typed(self, _change: object) -> None:
        if not self._quiet:
            with self._quietly():
                self._follow()
            self._changed()

    def _slid(self, _change: object) -> None:
        if not self._quiet:
            with self._quietly():
                self.box.value = self.stops[self.slider.value]
            self._changed()


def _box(lever: Lever) -> Any:
    """Return a box that holds any value of the lever; a range without ends gets a box without ends."""
    whole = lever.kind == "integer"
    bounded = lever.least is not None and lever.most is not None
    kinds = (widgets.BoundedIntText, widgets.IntText) if whole else (widgets.BoundedFloatText, widgets.FloatText)
    ends = {"min": lever.least, "max": lever.most} if bounded else {}
    box = kinds[0 if bounded else 1](**ends, step=lever.step or (1 if whole else None), tooltip=lever.description)
    box.add_class("wb-number")
    return box
