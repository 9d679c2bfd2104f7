"""Control of the workload: a regime that sets the levers of a generator, or a file that is dropped."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import ipywidgets as widgets

from workbench.dashboards._controls import Control, row
from workbench.dashboards._dropped_file import DropZone
from workbench.dashboards._spec_controls import ChoiceControl, workloads
from workbench.errors import WorkbenchError
from workbench.levers import Lever
from workbench.workloads.workload import Generator, Workload
from workbench.workloads.workload_key import read_workload, regimes

OWN = "(own)"
_PROMPT = "Drop a memory snapshot, profile or RMM log of your own here, or choose one"
_REGIME = Lever("regime", "text", description="a workload with a source; it sets the levers below")


class WorkloadControl(Control):
    """A drop-down of regimes and every lever of the workload; the drop-down says `(own)` once a lever was turned."""

    def __init__(
        self, kind: str, start: str, length: int | Mapping[str, Any], dropped: type[Workload] | None = None
    ) -> None:
        """Take as `kind` what the engine serves, as `start` a regime, as `length` that of every regime and as
        `dropped` what a file becomes, see `DashboardConfig`."""
        self.kind = kind
        self._dropped: list[Callable[[], None]] = []
        self._regimes = {name: _bounded(regime.workload, length) for name, regime in regimes(kind).items()}
        super().__init__(Lever("workload", "spec", self._regimes[start], spec=Workload))
        self.names = widgets.Dropdown(options=[(name.replace("_", " "), name) for name in [*self._regimes, OWN]])
        self.names.tooltip = _REGIME.description
        self.names.add_class("wb-pick")
        self.levers = ChoiceControl(self.lever, members=lambda: workloads(kind))
        self.levers.show(self._regimes[start])
        self._name()
        self.names.observe(self._chosen, "value")
        self.levers.on_change(self._turned)
        self.drop = None if dropped is None else DropZone(_PROMPT, self._receiver(dropped))
        self._zone = widgets.VBox([] if self.drop is None else [self.drop])
        self.head = widgets.VBox([self._zone, row(_REGIME, self.names)])
        """The place for a file of the user's and the drop-down: the top of a page."""
        self.widget = self.levers.widget

    def close(self) -> None:
        """Delete what was dropped."""
        if self.drop is not None:
            self.drop.close()

    def workload(self) -> Workload:
        """Return the setting of the levers.

        Raises
        ------
        InputError
            They say no workload.
        """
        return read_workload(self.levers.plain(), wants=self.kind)

    def release_zone(self, is_released: bool) -> None:
        """Leave the place for a file to another part of the page, or take it back: it stands once."""
        self._zone.children = [] if is_released or self.drop is None else [self.drop]

    def plain(self) -> Any:
        return self.levers.plain()

    def show(self, value: Any) -> None:
        with self._quietly():
            self._show(read_workload(value, wants=self.kind))

    def walk(self, path: str) -> Iterator[tuple[str, Control]]:
        yield from self.levers.walk(path)

    def refresh(self) -> None:
        self.levers.refresh()

    def lasting(self, config: dict[str, Any]) -> dict[str, Any]:
        """Return a sweep in which a dropped file is called by a copy that outlives the page; the copy is made."""
        return config if self.drop is None else self.drop.copies.in_sweep(config)

    def on_drop(self, listener: Callable[[], None]) -> None:
        """Call someone when a file was dropped, before anyone hears that the workload has changed."""
        self._dropped.append(listener)

    def _receiver(self, becomes: type[Workload]) -> Callable[[Path], None]:
        def receive(path: Path) -> None:
            self.show(becomes(trace=str(path)))
            for listener in self._dropped:
                listener()
            self._changed()

        return receive

    def _show(self, value: Workload) -> None:
        self.levers.show(value)
        self._name()

    def _chosen(self, _change: object) -> None:
        if not self._quiet and self.names.value != OWN:
            self.levers.show(self._regimes[self.names.value])
            self._changed()

    def _turned(self) -> None:
        self._name()
        self._changed()

    def _name(self) -> None:
        """Let the drop-down tell the truth: the regime whose levers these are, or none."""
        with self._quietly():
            self.names.value = self._regime()

    def _regime(self) -> str:
        try:
            workload = self.workload()
        except WorkbenchError:
            return OWN
        return next((name for name, regime in self._regimes.items() if regime == workload), OWN)


def _bounded(workload: Generator, length: int | Mapping[str, Any]) -> Generator:
    """Return a workload of that length, or with those of some levers that it has."""
    if isinstance(length, int):
        return workload.but(**{workload.counted_by: length})
    return workload.but(**{name: value for name, value in length.items() if name in workload.levers})
