"""The dashboard `dispatch`: two dispatchers on the same groups, any of their policies apart."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

import numpy as np

from workbench.dashboards._dashboard_config import DashboardConfig
from workbench.dashboards._dispatch_levers import dispatch_card_levers
from workbench.dashboards._dispatch_timeline import DispatchTimelinePanel, dispatch_scene
from workbench.dashboards._interval_panels import IntervalsPanel, NotedPanel, NotedPanels, Side
from workbench.dashboards._paired_dashboard import PairedDashboard
from workbench.dashboards.paired_runs import Notes, PairedRuns
from workbench.engines.dispatch import Dispatch
from workbench.errors import InputError
from workbench.experiments.results import Results
from workbench.figures.estimates import mean_curve
from workbench.figures.run_curves import places
from workbench.figures.waits_by_priority import waits_by_priority_data
from workbench.levers import Spec, lever
from workbench.machine import Machine
from workbench.metrics.dispatch import hang_sentence
from workbench.metrics.dispatch_modules import has_power, module_power, spread_after
from workbench.records.dispatch import DispatchRecord


class DispatchView(Spec):
    """What the panels show of the runs."""

    colours: Literal["priority", "channel"] = lever("priority", description="what the colors of the timeline tell")
    first_module: int = lever(0, least=0, most=4095, unit="modules", description="the first module of the timeline")
    modules: int = lever(4, least=1, most=16, unit="modules", description="how many modules the timeline shows")
    waiting: Literal["mean", "p99", "max"] = lever("mean", description="which waiting is shown by priority")

    def span(self, modules: int) -> tuple[int, int]:
        """Return the modules that are shown of so many: from which to which, the last one left out.

        >>> DispatchView(first_module=6).span(8), DispatchView(first_module=99).span(8)
        ((6, 8), (7, 8))
        """
        first = min(self.first_module, modules - 1)
        return first, min(first + self.modules, modules)


def resources_line(machine: Machine) -> str:
    """Return the resources that a dispatcher reserves on a machine.

    >>> resources_line(Machine(compute_units=8))
    '8 modules of 4 units; a unit: 64 vgpr, 50 sgpr, 10 waves; a module: 128 shared, 16 workgroups'
    """
    resources = {
        level: ", ".join(f"{r.blocks} {r.label}" for r in machine.resources() if r.level == level)
        for level in ("unit", "module")
    }
    sizes = f"{machine.compute_units} modules of {machine.simds_a_unit} units"
    return f"{sizes}; a unit: {resources['unit']}; a module: {resources['module']}"


CONFIG = DashboardConfig(
    engine="dispatch",
    title="Dispatch: who goes next, and to which module?",
    summary=(
        "Two dispatchers send the same groups to the same modules: who runs where over time at one seed, how "
        "long each priority waits, and above it how many more groups are done in the same time, at all seeds."
    ),
    machine={"preset": "patent_dispatch", "compute_units": 8},
    machine_levers=(
        "compute_units",
        "simds_a_unit",
        "vgprs_a_unit",
        "sgprs_a_unit",
        "waves_a_unit",
        "segments",
        "workgroups_a_unit",
        "barriers_a_module",
        "dies",
        "more_resources",
    ),
    machine_summary=resources_line,
    regime="head_of_line",
    length=1000,
    baseline={
        "priority": "priority_windows",
        "selection": "strict_blocking",
        "stuck": "split_when_stuck",
        "choice": "weighted_choice",
    },
    other={"selection": "served_marks"},
    compared=tuple(Dispatch.slots),
    options={"power": "class_power"},
    seeds=8,
    measure="groups_per_kilocycle",
    view=DispatchView,
    first=("machine.compute_units", "machine.simds_a_unit", "workload.*.count"),
    cards=dispatch_card_levers,
)
"""The document's dispatcher on both sides, but on one side no group passes while the most urgent one keeps it
waiting."""


def dispatch_dashboard() -> PairedDashboard:
    """Make the dashboard that opens with the first claim of the source document: does matching help those that wait?"""
    return PairedDashboard(CONFIG, DispatchPanels())


class DispatchPanels(NotedPanels):
    """Who runs where over time, how long each priority waits, how even the units and the modules are."""

    def __init__(self) -> None:
        empty_text = "Power is off; options: power: class power."
        self.timeline, self.waits, self.spread = DispatchTimelinePanel(), IntervalsPanel(), IntervalsPanel()
        self._hangs: list[str] = []
        self.power = NotedPanel("Power", "module", "power (W)", power_note, empty_text=empty_text)
        super().__init__([self.waits, self.spread, self.power], of_seed=[self.timeline])

    @property
    def notes(self) -> Notes:
        return {**super().notes, "spread": spread_after}

    def show_seed(self, names: Sequence[str], records: Sequence[DispatchRecord], view: DispatchView) -> None:
        hangs = [(name, hang_sentence(record)) for name, record in zip(names, records, strict=True)]
        self._hangs = [f"{name} {sentence}." for name, sentence in hangs if sentence]
        self.timeline.put(dispatch_scene(names, records, view.colours, view.span(records[0].modules)))

    def show_runs(self, runs: PairedRuns, run_set: Results, view: DispatchView) -> None:
        super().show_runs(runs, run_set, view)
        self._show_waits(run_set, view)
        self._show_spread(runs)

    def _show_waits(self, runs: Results, view: DispatchView) -> None:
        try:
            data = waits_by_priority_data(runs, f"wait_{view.waiting}_cycles")
        except InputError as undefined:
            self.waits.say(" ".join(self._hangs) or str(undefined))
            return
        sides = [Side(place, line.x, line.means) for place, line in enumerate(data.lines)]
        self.waits.show("Waiting", "priority", data.y_label, sides)

    def _show_spread(self, runs: PairedRuns) -> None:
        noted = runs.noted("spread")
        rounds = places(min(len(one) for side in noted for one in side))
        if not len(rounds):
            self.spread.say("Some module was given nothing: there is no spread of its units to show.")
            return
        sides = [
            Side(k, rounds, mean_curve(np.stack([one[rounds - 1] for one in side]))) for k, side in enumerate(noted)
        ]
        self.spread.show("Units", "dispatches to a module", "spread (waves)", sides, doubling=True)


def power_note(record: DispatchRecord) -> np.ndarray:
    """Return the power of each module, averaged over the run: float64[modules], empty where power was not simulated."""
    return module_power(record) if has_power(record) else np.empty(0)
