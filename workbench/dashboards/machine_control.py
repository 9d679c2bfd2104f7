"""The machine: a preset by name, and its number of segments, which may be set apart from the preset's."""

from __future__ import annotations

from typing import Any

import ipywidgets as widgets

from workbench.dashboards.controls import Control, LeversControl
from workbench.dashboards.controls.control import row
from workbench.levers import Lever
from workbench.machine import Machine, preset, presets, read_machine

START = "patent"
"""The source document's example, whose machine is also the default of every sweep."""

_PRESET = Lever("preset", "text", START, says="a machine with a source for each of its figures")


class MachineControl(Control):
    """A drop-down of presets and the segments below it; its plain value is what a sweep says of its machine."""

    def __init__(self) -> None:
        super().__init__(Lever("machine", "spec", read_machine(START), spec=Machine))
        names = [(f"{row['name']}: {row['title']}", row["name"]) for row in presets()]
        self.names = widgets.Dropdown(options=names, value=START, tooltip=_PRESET.says)
        self.names.add_class("wb-pick")
        self.segments = LeversControl(self.lever, only=["segments"])
        self.holds = widgets.Label()
        self.holds.add_class("wb-note")
        self.names.observe(self._chosen, "value")
        self.segments.on_change(self._turned)
        self.widget = widgets.VBox([row(_PRESET, self.names), self.segments.widget, self.holds])
        self._chosen()

    def plain(self) -> dict[str, Any]:
        return {"preset": self.names.value, **self.segments.plain()}

    def _chosen(self, _change: object = None) -> None:
        self.segments.show(preset(self.names.value).machine())
        self._turned()

    def _turned(self) -> None:
        machine = read_machine(self.plain())
        self.holds.value = f"{machine.segments:,} segments of {machine.granule_bytes:,} B: {size(machine)} a unit"
        self._changed()


def size(machine: Machine) -> str:
    """The shared memory of a unit in KiB, or in bytes where it is no whole number of them.

    >>> size(read_machine("patent")), size(read_machine({"segments": 3, "granule_bytes": 128}))
    ('64 KiB', '384 B')
    """
    whole, rest = divmod(machine.shared_memory_bytes, 1024)
    return f"{machine.shared_memory_bytes:,} B" if rest else f"{whole:,} KiB"
