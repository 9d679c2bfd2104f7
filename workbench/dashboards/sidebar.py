"""What a user can turn: policies, machine, workload, options, seeds, what is looked at. Its value is a sweep."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import ipywidgets as widgets

from workbench.dashboards.controls import Control, LeversControl, control_for
from workbench.dashboards.machine_control import MachineControl
from workbench.dashboards.measure_control import MeasureControl
from workbench.dashboards.opening import Opening
from workbench.dashboards.policies_control import PoliciesControl
from workbench.dashboards.section import Section
from workbench.dashboards.workload_control import WorkloadControl
from workbench.experiments.mechanism import Mechanism
from workbench.levers import Lever, Spec

MOST_SEEDS = 1000


class Sidebar:
    """All controls of a dashboard, in the order in which one asks."""

    def __init__(self, mechanism: Mechanism, opening: Opening) -> None:
        engine = mechanism.engine
        self._engine, self._view = engine.name, opening.view
        self.policies = PoliciesControl(engine, opening)
        self.machine = MachineControl(opening)
        self.workload = WorkloadControl(engine.workload_kind, opening.regime, opening.length, opening.dropped)
        started = engine.options(**opening.options)
        self.options = control_for(Lever("options", "spec", started, spec=engine.options))
        self.seeds = control_for(_seeds(opening.seeds))
        self.workload.on_drop(lambda: self.seeds.show(1))  # what was recorded happened once
        self.drawn = control_for(_DRAWN)
        self.measure = MeasureControl(mechanism, opening.measure)
        self.view = LeversControl(Lever("view", "spec", opening.view(), spec=opening.view))
        self._options_titled = opening.options_titled
        self.sections = list(self._sections(opening.folded))
        shape = {"flex": "1 1 330px", "min_width": "0", "max_width": "400px"}
        self.widget = widgets.VBox([section.widget for section in self.sections], layout=shape)
        self.widget.add_class("wb-sidebar")

    def on_change(self, listener: Callable[[], None]) -> None:
        """Call someone whenever the user changes anything."""
        for control in self._controls():
            control.on_change(listener)

    def said(self) -> dict[str, Any]:
        """Return the state as a sweep, as a YAML file would say it.

        Raises
        ------
        InputError
            What was typed is not a value of its lever.
        """
        return {
            "engine": self._engine,
            "machine": self.machine.plain(),
            "workload": self.workload.plain(),
            **self.policies.said(),
            "options": self.options.plain(),
            "seeds": self.seeds.plain(),
        }

    def looked_at(self) -> Spec:
        """Return what the panels are to show."""
        return self._view.read(self.view.plain())

    def refresh(self) -> None:
        """Offer the policies and laws that have been defined since."""
        for control in self._controls():
            control.refresh()

    def _controls(self) -> Iterator[Control]:
        yield from self.policies
        yield from (self.machine, self.workload, self.options, self.seeds, self.drawn, self.measure, self.view)

    def _sections(self, folded: Sequence[str]) -> Iterator[Section]:
        for title, controls in self._parts():
            yield Section(title, *controls, folded=title in folded)

    def _parts(self) -> Iterator[tuple[str, list[Control]]]:
        baseline: list[Control] = list(self.policies.baseline.values())
        other: list[Control] = list(self.policies.other.values())
        if len(baseline) == 1:
            yield "Policies", baseline + other
        else:
            yield "Policies of the baseline", baseline
            yield "Policies of the other", other
        yield "Machine", [self.machine]
        yield "Workload", [self.workload]
        if self._options_titled:
            yield self._options_titled, [self.options]
            yield "Engine", [*self.policies.common.values()]
        else:
            yield "Engine", [*self.policies.common.values(), self.options]
        yield "Runs", [self.seeds, self.drawn, self.measure, self.view]


_DRAWN = Lever(
    "drawn_seed",
    "integer",
    0,
    least=0,
    most=MOST_SEEDS - 1,
    description="the seed whose runs are drawn over time",
)


def _seeds(start: int) -> Lever:
    says = "both sides meet the same requests at each seed, 0, 1, 2 and so on"
    return Lever("seeds", "integer", start, least=1, most=MOST_SEEDS, scale="log", unit="paired runs", description=says)
