"""The dashboard `node`: a whole node under two sets of policies, with every coupling as a lever."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from workbench.dashboards._dashboard_config import DashboardConfig, NoViewLevers
from workbench.dashboards._interval_panels import IntervalsPanel, NotedPanel, NotedPanels, Side, shares_of
from workbench.dashboards._paired_dashboard import PairedDashboard
from workbench.figures.estimates import without_limits
from workbench.machine.board import CardsAlike, board_line
from workbench.machine.node import NodeMachine
from workbench.metrics.node import TIMES
from workbench.records.node import NodeRecord


def node_line(machine: NodeMachine) -> str:
    """Return a line that describes a node.

    >>> node_line(NodeMachine.read({"cards": 2, "modules": 3}))
    '2 GPUs and 0 CPUs, 2 GiB in all; direct links of 150 GB/s; 3 modules and 3 walkers a card'
    """
    inside = f"{machine.card.compute_units} modules and {machine.translation.walkers} walkers a card"
    return f"{board_line(machine.board)}; {inside}"


CONFIG = DashboardConfig(
    engine="node",
    title="Node: where does the time go when all policies change at once?",
    summary=(
        "The same applications run on a whole node under two sets of policies: what the mean group waits "
        "for, how many have ended by when, and above it how much sooner all is done, at all seeds."
    ),
    machine={"cards": 2, "modules": 2},
    machine_levers=(),
    machine_summary=node_line,
    regime="training",
    length={"count": 2, "iterations": 1, "layers": 2, "requests": 1, "steps": 2, "kernels": 2},
    baseline={
        "placement": "first_fit",
        "shared_placement": "first_fit",
        "serve": "per_thread",
        "choice": "round_robin",
        "locate": "no_directory",
        "cache": "no_cache",
        "target": "round_robin",
        "fill": "demand_always",
    },
    other={
        "placement": "nearest_boundary",
        "shared_placement": "nearest_boundary",
        "serve": "warp_aggregated",
        "choice": "weighted_choice",
        "locate": "directory",
        "cache": "split_and_coalesce",
        "target": "max_bandwidth",
    },
    compared=("placement", "shared_placement", "serve", "choice", "locate", "cache", "target"),
    options={
        "memory": "wait",
        "pages": "64k",
        "shootdown_cycles": 500,
        "touches_hold": "group",
        "touches_a_phase": 2,
        "remote": "link",
        "malloc": "wait",
        "pool": {"service_ns": 500, "driver_alloc_ns": 4000, "driver_free_ns": 4000, "driver_ns_per_mib": 100},
    },
    seeds=8,
    measure="makespan_cycles",
    view=NoViewLevers,
    first=(
        "machine.cards",
        "machine.modules",
        "options.memory",
        "options.malloc",
        "options.remote",
        "options.pages",
        "options.shootdown_cycles",
        "options.touches_a_phase",
    ),
    machine_rules={"cards alike": CardsAlike},
    set_names=("usual policies", "policies of the documents"),
    options_titled="Couplings",
)
"""Two small cards, the first nearly full, under the usual policies and under those of the five documents."""

_QUANTILES = (0.5, 0.75, 0.9, 0.95, 0.99, 1.0)
_SHORT = (
    *("memory", "channel", "compute", "issue", "walkers", "transl.", "link"),
    *("lock", "malloc", "chunk", "shoot-d."),
)
"""The parts of `TIMES`, as short as the axis needs them."""
_PLACES = 200
"""Of the curve of groups that have ended."""
_EMPTY_TEXT = "On one side no group has ended: there is no time to be seen."


def node_dashboard() -> PairedDashboard:
    """Make the dashboard that opens with the node's question: where does the time of a group go, before and after?"""
    return PairedDashboard(CONFIG, NodePanels())


class NodePanels(NotedPanels):
    """Where the mean group's time goes on either side, how long groups take, and how many have ended by when."""

    def __init__(self) -> None:
        shares = shares_of(_QUANTILES)
        self.parts = NotedPanel(
            "Where the time of a group goes", "", "cycles, mean", parts_note, _SHORT, empty_text=_EMPTY_TEXT
        )
        self.times = NotedPanel(
            "Times", "groups that ended by then", "cycles", times_note, shares, empty_text=_EMPTY_TEXT
        )
        self.ended = IntervalsPanel()
        super().__init__([self.parts], [self.times, self.ended])

    def show_seed(self, names: Sequence[str], records: Sequence[NodeRecord], view: NoViewLevers) -> None:
        last = max(record.makespan for record in records)
        if not last:
            self.ended.say("No step takes any time: there is nothing to see.")
            return
        curves = [_ended(place, record, last) for place, record in enumerate(records)]
        self.ended.show("Throughput", "time (cycles)", "groups that have ended", curves)


def _ended(place: int, record: NodeRecord, last: int) -> Side:
    """Return the number of groups that have ended by evenly spaced cycles."""
    at = np.linspace(0, last, _PLACES)
    count = np.searchsorted(np.sort(record.ended[record.ended >= 0]), at, "right").astype(float)
    return Side(place, at, without_limits(count))


def parts_note(record: NodeRecord) -> np.ndarray:
    """Return the parts of the mean group's time (spec 6, R18), cycles: float64[11]; NaN where no group ended."""
    times = record.times[record.ended >= 0]
    return times.mean(axis=0) if len(times) else np.full(len(TIMES), np.nan)


def times_note(record: NodeRecord) -> np.ndarray:
    """Return the times that shares of the groups do not exceed, cycles: float64[6]; NaN where no group ended."""
    lasted = record.times[record.ended >= 0].sum(axis=1)
    if not len(lasted):
        return np.full(len(_QUANTILES), np.nan)
    return np.quantile(lasted, _QUANTILES, method="inverted_cdf").astype(float)
