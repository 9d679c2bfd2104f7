"""The dashboard `malloc`: two ways to serve the same calls, any of their four policies apart."""

from __future__ import annotations

from collections.abc import Sequence

from workbench.dashboards._canvas import sampled
from workbench.dashboards._dashboard_config import DashboardConfig, NoViewLevers
from workbench.dashboards._interval_panels import IntervalsPanel, NotedPanel, NotedPanels, Side, side_by_side
from workbench.dashboards._paired_dashboard import PairedDashboard
from workbench.engines.malloc import Malloc
from workbench.figures.estimates import without_limits
from workbench.machine import Machine
from workbench.metrics.malloc import SHARES, held_over_time, latency_by_share, waiting_over_time
from workbench.metrics.statistics import Steps
from workbench.records.malloc import MallocRecord


def warps_line(machine: Machine) -> str:
    """Return the meaning of the machine here.

    >>> warps_line(Machine(wave_size=32, compute_units=132))
    'warps of 32 threads; the heap and its locks are options of the engine'
    """
    return f"warps of {machine.wave_size} threads; the heap and its locks are options of the engine"


CONFIG = DashboardConfig(
    engine="malloc",
    title="Device malloc: who takes which block, and at which cost?",
    summary=(
        "Two allocators on the card answer the same calls of the same warps: the heap over time at one seed, "
        "and above it how much sooner a call is answered, at all seeds."
    ),
    machine={"preset": "h100"},
    machine_levers=("wave_size",),
    machine_summary=warps_line,
    regime="mixed_sizes",
    length=256,
    baseline={"serve": "per_thread"},
    other={"serve": "warp_aggregated"},
    compared=tuple(Malloc.slots),
    options={},
    seeds=8,
    measure="latency_mean_cycles",
    view=NoViewLevers,
    first=("machine.wave_size", "policy.lock.*.hold_cycles", "policy.arenas.*.arenas", "options.occupancy"),
)
"""256 threads that call at once: per thread on the one side, per warp on the other."""


def malloc_dashboard() -> PairedDashboard:
    """Make the dashboard that opens with the source document's question: does one request a warp beat one a thread?"""
    return PairedDashboard(CONFIG, MallocPanels())


class MallocPanels(NotedPanels):
    """Who waits and what is held over time, at one seed; how long calls take, over all."""

    def __init__(self) -> None:
        empty_text = "On one side no thread got memory: there is no latency to show."
        self.waiting, self.held = IntervalsPanel(), IntervalsPanel()
        self.latency = NotedPanel(
            "Latency",
            "per cent of the threads",
            "cycles at most",
            latency_by_share,
            places=SHARES,
            empty_text=empty_text,
        )
        super().__init__([self.latency], of_seed=[side_by_side(self.waiting, self.held)])

    def show_seed(self, names: Sequence[str], records: Sequence[MallocRecord], view: NoViewLevers) -> None:
        waiting = [waiting_over_time(record) for record in records]
        held = [held_over_time(record) for record in records]
        last = max((int(steps.cycle[-1]) for steps in (*waiting, *held) if len(steps.cycle)), default=0)
        if not last:
            self.waiting.say("No thread calls: there is nothing to see.")
            self.held.say("No thread calls: there is nothing to see.")
            return
        self.waiting.show("Waiting", "time (cycles)", "threads that wait", _curves(waiting, last))
        self.held.show("Heap", "time (cycles)", "granted (bytes)", _curves(held, last))


def _curves(steps: Sequence[Steps], last: int) -> list[Side]:
    """Return step functions of both sides as lines, without intervals: a run is what it is."""
    curves = [sampled(one, last) for one in steps]
    return [Side(place, cycle, without_limits(value.astype(float))) for place, (cycle, value) in enumerate(curves)]
