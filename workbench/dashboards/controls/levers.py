"""All levers of a spec, one below the other."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

import ipywidgets as widgets

from workbench.dashboards.controls.control import Control
from workbench.levers import Lever, Spec
from workbench.machine import Machine
from workbench.machine.machine import Resource

_MOST_OF_UNIT = {
    "segments": Machine.levers["segments"].most,
    "blocks": Resource.levers["blocks"].most,
    "waves": Machine.levers["waves_a_unit"].most,
}
"""A law's numbers may be anything; in a unit that has an end of its own they end there."""

Made = Callable[[Lever, dict[str, Control]], Control]


class LeversControl(Control):
    """A spec as its levers; its plain value is a mapping."""

    def __init__(
        self, lever: Lever, only: Iterable[str] | None = None, instead: Mapping[str, Made] | None = None
    ) -> None:
        """Take as `instead` what makes the controls of some levers, of the lever and the controls above it."""
        super().__init__(lever)
        from workbench.dashboards.controls.build import control_for

        assert lever.spec is not None
        kept = lever.spec.levers if only is None else {name: lever.spec.levers[name] for name in only}
        self.controls: dict[str, Control] = {}
        for name, inner in kept.items():
            made = (instead or {}).get(name)
            self.controls[name] = made(inner, self.controls) if made else control_for(in_unit_of(inner, lever))
        for control in self.controls.values():
            control.on_change(self._changed)
        self.widget = widgets.VBox([control.widget for control in self.controls.values()])
        self.widget.add_class("wb-levers")

    def plain(self) -> dict[str, Any]:
        return {name: control.plain() for name, control in self.controls.items()}

    def walk(self, path: str) -> Iterator[tuple[str, Control]]:
        for name, control in self.controls.items():
            yield from control.walk(f"{path}.{name}")

    def refresh(self) -> None:
        for control in self.controls.values():
            control.refresh()

    def _show(self, value: Spec) -> None:
        for name, control in self.controls.items():
            control.show(getattr(value, name))


def in_unit_of(inner: Lever, outer: Lever) -> Lever:
    """Return the lever in the unit of what it stands in, where it names none, ending where that unit ends.

    >>> outer = Lever("size", "spec", unit="segments")
    >>> found = in_unit_of(Lever("high", "integer", 32, least=1, most=10**10), outer)
    >>> found.label, found.most
    ('high (segments)', 4096)
    """
    if inner.unit or not outer.unit or inner.kind not in ("integer", "integers", "spec"):
        return inner
    ends = _MOST_OF_UNIT.get(outer.unit)
    most = inner.most if ends is None or inner.most is None else min(inner.most, ends)
    return dataclasses.replace(inner, unit=outer.unit, most=most)
