"""The dashboard `translation`: two hierarchies of TLBs on the same accesses, any of their policies apart."""

from __future__ import annotations

import numpy as np

from workbench.dashboards._dashboard_config import DashboardConfig, NoViewLevers
from workbench.dashboards._interval_panels import NotedPanel, NotedPanels, shares_of
from workbench.dashboards._paired_dashboard import PairedDashboard
from workbench.engines.translation import Translation
from workbench.figures.run_curves import load_between, pages_percent
from workbench.figures.translation import served_percent
from workbench.machine import TranslationMachine
from workbench.metrics.translation import latency_quantile
from workbench.records.translation import SERVED_BY, TranslationRecord


def hierarchy_line(machine: TranslationMachine) -> str:
    """Return a line that describes a machine's hierarchy.

    >>> hierarchy_line(TranslationMachine())
    '16 cores of 32 entries, 512 shared, 12 cycles away; a walk takes 400 cycles, 8 at a time'
    """
    near = f"{machine.cores} cores of {machine.private_entries} entries"
    shared = f"{machine.shared_entries} shared, {machine.shared_cycles} cycles away"
    return f"{near}, {shared}; a walk takes {machine.walk_cycles} cycles, {machine.walkers} at a time"


CONFIG = DashboardConfig(
    engine="translation",
    title="Translation: who knows where a page is?",
    summary=(
        "Two hierarchies of TLBs answer the same accesses: who serves them, how long it takes, how busy the "
        "network is, and above it how many fewer of 1,000 accesses reach the shared TLB, at all seeds."
    ),
    machine={"preset": "patent_pilot"},
    machine_levers=(
        "cores",
        "private_entries",
        "shared_entries",
        "shared_cycles",
        "hop_cycles",
        "link_cycles",
        "network",
        "walkers",
        "level_cycles",
        "walk_cache_entries",
    ),
    machine_summary=hierarchy_line,
    regime="pilot_zipf",
    length=8000,
    baseline={"locate": "no_directory", "fill": "demand_always", "eviction": "lru"},
    other={"locate": "directory"},
    compared=tuple(Translation.slots),
    options={"cores_issue": {"warps": {"count": 4}}},
    seeds=8,
    measure="shared_per_kilo",
    view=NoViewLevers,
    first=(
        "machine.cores",
        "machine.private_entries",
        "machine.shared_entries",
        "policy.locate.*.entries",
        "policy.locate.*.threshold",
        "policy.*.fill_threshold",
        "policy.*.share_threshold",
    ),
)
"""The pilot's machine on both sides, with the directory on one of them."""

_QUANTILES = (0.5, 0.75, 0.9, 0.95, 0.99, 0.999)
_SLICES = 50
"""Of a run's time."""


def translation_dashboard() -> PairedDashboard:
    """Make the dashboard that opens with the first claim of the source document: does the directory spare the shared
    TLB?"""
    return PairedDashboard(CONFIG, TranslationPanels())


class TranslationPanels(NotedPanels):
    """Who serves, how long it takes, how busy the network is, how many cores hold the same page.

    Of a single run nothing is shown: what happens to an access is too small to be seen.
    """

    def __init__(self) -> None:
        slices, shares = (np.arange(_SLICES) + 0.5) * 100 / _SLICES, shares_of(_QUANTILES)
        self.served = NotedPanel("Served by", "", "accesses (%)", served_percent, SERVED_BY)
        self.latency = NotedPanel("Latency", "accesses served by then", "cycles", latency_note, shares)
        self.load = NotedPanel("Network", "time of the run (%)", "messages a cycle", load_note, places=slices)
        self.degrees = NotedPanel("Sharing", "cores that hold a page", "pages held (%)", pages_percent, places=1)
        super().__init__([self.served, self.latency], [self.load, self.degrees])


def latency_note(record: TranslationRecord) -> np.ndarray:
    """Return the latencies that shares of the accesses do not exceed: float64[6]."""
    return np.array([latency_quantile(record, share) for share in _QUANTILES])


def load_note(record: TranslationRecord) -> np.ndarray:
    """Compute the messages a cycle in equal slices of the run's time: float64[50]."""
    return load_between(
        record, np.linspace(record.first_cycle, max(record.last_cycle, record.first_cycle + 1), _SLICES + 1)
    )
