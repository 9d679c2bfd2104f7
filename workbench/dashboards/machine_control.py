"""The machine: a preset by name, and some of its levers, which may be set apart from the preset's."""

from __future__ import annotations

from typing import Any

import ipywidgets as widgets

from workbench.dashboards.controls import Control, LeversControl
from workbench.dashboards.controls.control import row
from workbench.dashboards.opening import Opening
from workbench.errors import InputError
from workbench.experiments.mechanism import mechanism
from workbench.levers import Lever
from workbench.machine import preset, presets

_PRESET = Lever("preset", "text", says="a machine with a source for each of its figures")


class MachineControl(Control):
    """A drop-down of presets and levers below it; its plain value is what a sweep says of its machine."""

    def __init__(self, opening: Opening) -> None:
        self._of = mechanism(opening.engine).engine.machine
        start = self._of.read(opening.machine)
        super().__init__(Lever("machine", "spec", start, spec=self._of))
        self._note = opening.machine_note
        names = [(f"{row['name']}: {row['title']}", row["name"]) for row in presets(self._of)]
        self.names = widgets.Dropdown(options=names, value=opening.machine["preset"], tooltip=_PRESET.says)
        self.names.add_class("wb-pick")
        self.levers = LeversControl(self.lever, only=opening.machine_levers)
        self.levers.show(start)
        self.holds = widgets.Label()
        self.holds.add_class("wb-note")
        self.names.observe(self._chosen, "value")
        self.levers.on_change(self._turned)
        self.widget = widgets.VBox([row(_PRESET, self.names), self.levers.widget, self.holds])
        self._turned()

    def plain(self) -> dict[str, Any]:
        return {"preset": self.names.value, **self.levers.plain()}

    def _chosen(self, _change: object) -> None:
        self.levers.show(preset(self.names.value).machine())
        self._turned()

    def _turned(self) -> None:
        try:
            self.holds.value = self._note(self._of.read(self.plain()))
        except InputError:
            self.holds.value = ""  # the sweep will say what is wrong
        self._changed()
