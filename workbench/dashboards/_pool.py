"""The dashboard `pool`: two pools over the memories of a board on the same requests.

Any of their policies may differ. Two runs are drawn over one axis of requests: how full each card is, of its own, of
what it lends, of what it keeps cached.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from workbench.dashboards._advice_panel import AdvicePanel, snapshot_of
from workbench.dashboards._canvas import CanvasWidget, column, curve, script
from workbench.dashboards._dashboard_config import DashboardConfig, NoViewLevers
from workbench.dashboards._interval_panels import NotedPanel, NotedPanels, shares_of
from workbench.dashboards._memory_history import MemoryHistoryPanel
from workbench.dashboards._paired_dashboard import PairedDashboard
from workbench.dashboards._pasted_message import PastedMessagePanel
from workbench.dashboards.paired_runs import PairedRuns
from workbench.engines.pool import Pool
from workbench.experiments.results import Results
from workbench.machine.board import board_line
from workbench.machine.topologies.registry import TopologyFile
from workbench.machine.topologies.regular import RegularBoard
from workbench.metrics.pool import cached, in_use, lent_out, reserved
from workbench.metrics.statistics import Steps
from workbench.records.pool import OUTCOMES, PoolRecord, borrowed, ever_away, granted, remote, stays_of, was_asked
from workbench.workloads.recorded_memory import TracePool
from workbench.workloads.workload import Workload

CONFIG = DashboardConfig(
    engine="pool",
    title="Memory pool: whose memory helps a card that is full?",
    summary=(
        "The same programs ask two pools for memory: what every card holds over time at one seed, and above "
        "it how many more jobs end, at all seeds."
    ),
    machine={"preset": "dgx_1v"},
    machine_levers=(),
    machine_summary=board_line,
    regime="one_card_full",
    length={"jobs": 40, "iterations": 2},
    baseline={"target": "local_only"},
    other={"target": "max_bandwidth"},
    compared=tuple(Pool.slots),
    options={"driver_alloc_ns": 20_000, "driver_free_ns": 20_000, "driver_ns_per_mib": 500},
    seeds=8,
    measure="completed_rate",
    view=NoViewLevers,
    first=(
        "workload.*.footprint",
        "workload.*.jobs",
        "policy.target.*.threshold_gbps",
        "policy.cache.*.min_remainder",
        "options.driver_alloc_ns",
        "options.when_full",
    ),
    machine_rules={"a board by a rule": RegularBoard, "a topology file of your own": TopologyFile},
    dropped_file_workload=TracePool,
)
"""GPU 0 requests twice its memory; on one side no card lends to it, on the other the fastest links decide."""

_QUANTILES = (0.5, 0.9, 0.99, 1.0)
_SOURCES = ("cached", "driver", "borrowed", "not granted")
_GIB = 1 << 30
PLACES = 150
"""Spans of requests, in each of which the memory after its last one is shown."""
BAND = 34
"""Pixels that a card is high."""
ROWS = 100
"""Of a band: per cent of the card's memory."""
FILLS = ("sizes2", "kinds0", "cached")
KEY = [[text, fill] for text, fill in zip(("own", "lent to others", "cached", "free"), (*FILLS, "free"), strict=True)]


def pool_dashboard() -> PairedDashboard:
    """Make the dashboard that opens with the first claim of the source document: does a job on a full card run on?"""
    panels = PoolPanels()
    return PairedDashboard(CONFIG, panels, SnapshotAnswer(panels.advice))


class PoolPanels(NotedPanels):
    """How full each card is over the requests; how full on average, who lends, where memory comes from, how long."""

    def __init__(self) -> None:
        shares = shares_of(_QUANTILES)
        self.memory, self.advice = CardMemoryPanel(), AdvicePanel()
        self.used = NotedPanel("Memory", "", "in use, on average (%)", used_note)
        self.lent = NotedPanel("Lending", "", "lent in all (GiB)", lent_note)
        self.source = NotedPanel("Served", "", "allocations (%)", source_note, _SOURCES)
        self.latency = NotedPanel("Latency", "requests served by then", "microseconds", latency_note, shares)
        super().__init__([self.used, self.lent], [self.source, self.latency], of_seed=[self.memory])
        self.message = PastedMessagePanel()
        self.widgets[:0] = [self.message]
        self.widgets.append(self.advice)

    def show_seed(self, names: Sequence[str], records: Sequence[PoolRecord], view: Any) -> None:
        self.memory.put(memory_scene(names, records))

    def show_runs(self, runs: PairedRuns, run_set: Results, view: Any) -> None:
        self.advice.show(runs.points[0].setup.workload)
        board: Any = runs.points[0].setup.machine
        self.used.names = self.lent.names = [card.id for card in board.cards if card.free_bytes]
        super().show_runs(runs, run_set, view)


class SnapshotAnswer:
    """The five lines, what was recorded as curve and map, then all that the lines rest on."""

    def __init__(self, advice: AdvicePanel) -> None:
        self.advice, self.history = advice, MemoryHistoryPanel()
        self.widgets = [advice.answer, self.history, advice.rest]

    def show(self, workload: Workload) -> bool:
        """Begin to read a snapshot; return whether the workload is one."""
        snapshot = snapshot_of(workload)
        self.history.show(snapshot)
        if snapshot is not None:
            self.advice.show(workload)  # every other trace waits for the runs
        return snapshot is not None


def used_note(record: PoolRecord) -> np.ndarray:
    """Compute the memory in use of each card that has some, averaged over the requests, in percent: float64[cards]."""
    used, cards = in_use(record)[:, was_asked(record)], _cards(record)
    return np.asarray(100 * used[cards].mean(axis=1) / record.capacity[cards])


def lent_note(record: PoolRecord) -> np.ndarray:
    """Return the memory that each card lends, over the whole run: float64[cards], GiB; moves count where they lead."""
    stays = stays_of(record, ever_away(record))
    away = remote(record, stays)
    lent = np.bincount(stays.card[away], stays.taken[away], len(record.cards))
    return np.asarray(lent[_cards(record)] / _GIB)


def source_note(record: PoolRecord) -> np.ndarray:
    """Count the allocations from a cached block, from the driver, from another card by either way, not granted:
    float64[4], in %.

    What is stitched of cached blocks counts as cached.
    """
    driver = record.outcome == OUTCOMES.index("physical")
    allocations, served = record.action == 0, granted(record)
    counts = [(served & ~driver).sum(), driver.sum(), borrowed(record).sum(), (allocations & ~served).sum()]
    return np.asarray(100 * np.array(counts) / max(int(allocations.sum()), 1))


def latency_note(record: PoolRecord) -> np.ndarray:
    """Return the latencies, waiting included, that shares of the requests do not exceed: float64[4], microseconds."""
    waits = (record.done - record.time)[was_asked(record)] / 1000
    return np.quantile(waits, _QUANTILES, method="inverted_cdf")


def _cards(record: PoolRecord) -> list[int]:
    indices: list[int] = np.flatnonzero(record.capacity).tolist()
    return indices


class CardMemoryPanel(CanvasWidget):
    """Bands and lines; a card under the pointer says what it holds on both sides, dragging zooms."""

    _esm = script("card_words.js", "time_panels.js")


def memory_scene(names: Sequence[str], records: Sequence[PoolRecord]) -> dict[str, Any]:
    """Return the data that the browser draws of two runs of the same requests; the first card is on top."""
    record = records[0]
    cards = np.flatnonzero(record.capacity)
    rows, until = ROWS * cards.size, max(record.time.size, 1)
    return {
        "names": list(names),
        "high": BAND * cards.size,
        "rows": rows,
        "axis": "card",
        "ticks": [[rows - (k + 0.5) * ROWS, record.cards[card]] for k, card in enumerate(cards)],
        "rules": [k * ROWS for k in range(1, cards.size)],
        "fills": FILLS,
        "key": KEY,
        "until": until,
        "note": "",
        "strips": [{"message": "", "pieces": column(_pieces(one, cards))} for one in records],
        "lines": [
            {"label": label, "curves": [curve(_steps(series(one).sum(axis=0)), until) for one in records]}
            for label, series in (("in use (GiB)", in_use), ("reserved (GiB)", reserved))
        ],
        "cards": [record.cards[card] for card in cards],
    }


def _pieces(record: PoolRecord, cards: np.ndarray) -> np.ndarray:
    """Return the columns item, begin, end, base, length and fill of every piece, one after the other."""
    if not record.time.size:
        return np.empty(0)
    ends = np.unique(np.linspace(0, record.time.size, PLACES + 1).round().astype(np.int64))
    blocks, places = [], ends[1:] - 1
    used, lent, idle = (series(record)[:, places] for series in (in_use, lent_out, cached))
    by_fill = np.stack([used - lent, lent, idle])
    for k, card in enumerate(cards.tolist()):
        parts = by_fill[:, card]
        share = parts * (ROWS / record.capacity[card])
        base = (len(cards) - 1 - k) * ROWS + np.cumsum(share, axis=0) - share
        fill, place = np.nonzero(share)
        item = place * len(cards) + k
        blocks.append(np.stack([item, ends[place], ends[place + 1], base[fill, place], share[fill, place], fill]))
    return np.concatenate(blocks, axis=1).ravel()


def _steps(size: np.ndarray) -> Steps:
    return Steps(0, np.arange(size.size), size / _GIB)
