"""The measures of PyTorch's allocator: what it reserves, its driver calls and their cost, how exact a replay is.

Peaks of several cards are added up. What compares with a recording is NaN where there is none.
"""

from __future__ import annotations

import math

import numpy as np

from workbench.metrics.measure import Measure, declared
from workbench.metrics.statistics import over
from workbench.records.torch_allocator import (
    ALLOC,
    BYTES,
    PAGES,
    ROW,
    AllocatorRecord,
    CallCosts,
    CardRun,
    ReplayFidelity,
)

MEASURES = declared(
    Measure("reserved_peak_bytes", "bytes", "lower", "most bytes got from the driver at a time", compared_by="ratio"),
    Measure("live_peak_bytes", "bytes", "neither", "most bytes that the program had at a time, as asked for"),
    Measure("fragmentation", "", "lower", "1 - peak live / peak reserved"),
    Measure("driver_calls", "calls", "lower", "segments and ranges of pages got and given back"),
    Measure("driver_ns", "ns", "lower", "what these calls cost, by the levers alloc_ns, free_ns, page_ns, ns_per_mib"),
    Measure("pages_mapped", "pages", "lower", "pages of expandable segments that were mapped"),
    Measure("flushes", "flushes", "lower", "how often all cached memory went back as the driver had too little"),
    Measure("refused", "requests", "lower", "allocations that ran out of memory"),
    Measure("refused_though_cached", "requests", "lower", "those for which enough bytes were cached, in pieces"),
    Measure("recorded_reserved_peak_bytes", "bytes", "neither", "what the recorded allocator reserved at its peak"),
    Measure("segment_allocs", "segments", "neither", "segments that the recorded allocator got within its history"),
    Measure("segment_allocs_reproduced", "segments", "higher", "those that the replay got too, as large, as placed"),
    Measure("allocs", "requests", "neither", "allocations of the history"),
    Measure("addresses_reproduced", "requests", "higher", "those that the replay put where they were recorded"),
)
"""Every measure by name."""


def measure(record: AllocatorRecord) -> dict[str, float]:
    """Compute every measure of a run."""
    reserved = sum(max(int(card.reserved.max(initial=0)), card.reserved_at_start) for card in record.cards)
    live = sum(int(card.live.max(initial=0)) for card in record.cards)
    return {
        "reserved_peak_bytes": float(reserved),
        "live_peak_bytes": float(live),
        "fragmentation": 1 - over(live, reserved),
        "driver_calls": float(sum(len(_history_calls(card)) for card in record.cards)),
        "driver_ns": sum(driver_ns(_history_calls(card), record.costs) for card in record.cards),
        "pages_mapped": float(sum(card.pages_mapped for card in record.cards)),
        "flushes": float(sum(card.flushes for card in record.cards)),
        "refused": float(sum(_refused(card).sum() for card in record.cards)),
        "refused_though_cached": float(
            sum((_refused(card) & (card.reserved - card.live >= card.size)).sum() for card in record.cards)
        ),
        **{name: float(getattr(record.reproduced, name, math.nan)) for name in ReplayFidelity._fields},
    }


def _history_calls(run: CardRun) -> np.ndarray:
    """Return the driver's calls within the history."""
    return run.calls[run.calls[:, ROW] >= run.before]


def driver_ns(calls: np.ndarray, costs: CallCosts) -> float:
    """Return the cost of all calls of the driver together.

    Parameters
    ----------
    calls : int64[calls, 4]
        As of `CardRun.calls`.

    Examples
    --------
    >>> driver_ns(np.array([[0, 0, 20 << 20, 0], [3, 0, -(20 << 20), 0]]), CallCosts())
    50000.0
    """
    got, whole = calls[:, BYTES] > 0, calls[:, PAGES] == 0
    segments = costs.alloc_ns * (got & whole).sum() + costs.free_ns * (~got & whole).sum()
    mib = float(calls[got, BYTES].sum()) / (1 << 20)
    return float(segments + costs.page_ns * calls[:, PAGES].sum() + costs.ns_per_mib * mib)


def _refused(run: CardRun) -> np.ndarray:
    refused: np.ndarray = (run.kind == ALLOC) & (run.placed < 0)
    return refused
