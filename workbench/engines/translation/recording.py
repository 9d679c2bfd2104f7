"""From the arrays of a run to its record."""

from __future__ import annotations

from typing import Any

import numpy as np

from workbench.engines.translation.playing import Play
from workbench.engines.translation.state import (
    COLUMNS_OVER_TIME,
    EVICTIONS,
    FILLS,
    FIRST_CYCLE,
    KINDS_OF_SERVICE,
    LAST_CYCLE,
    MSHR_WAIT,
    NOC_QUEUED,
    NOC_TRIPS,
    PORT_WAIT,
    PUSHES,
    PUSHES_UNUSED,
    PUSHES_USED,
    REFUSED_FILLS,
    REMOTE,
    SAMPLES,
    SHARED_ACCESSES,
    SHOOTDOWNS,
    SHOT_DOWN,
    STALE,
    STEPS_AN_OCTAVE,
    WALK_LEVELS,
    WALK_QUEUED,
    WALKS,
    WALKS_JOINED,
    WINDOW_BITS,
)
from workbench.records.translation import EXACT_LATENCIES, TranslationRecord
from workbench.records.translation_events import COLUMNS

_TOTALS = {
    "first_cycle": FIRST_CYCLE,
    "last_cycle": LAST_CYCLE,
    "shared_accesses": SHARED_ACCESSES,
    "walks": WALKS,
    "walk_levels": WALK_LEVELS,
    "walk_queue_cycles": WALK_QUEUED,
    "walks_joined": WALKS_JOINED,
    "fills": FILLS,
    "evictions": EVICTIONS,
    "refused_fills": REFUSED_FILLS,
    "pushes": PUSHES,
    "pushes_used": PUSHES_USED,
    "pushes_unused": PUSHES_UNUSED,
    "remote_requests": REMOTE,
    "stale": STALE,
    "noc_queue_cycles": NOC_QUEUED,
    "noc_trips": NOC_TRIPS,
    "port_wait_cycles": PORT_WAIT,
    "mshr_wait_cycles": MSHR_WAIT,
    "shootdowns": SHOOTDOWNS,
    "shot_down": SHOT_DOWN,
    "samples": SAMPLES,
}
"""Of the record's totals, the counter of each."""


def record_of(play: Play) -> TranslationRecord:
    """The record of a run that is over."""
    state, rules = play.state, play.rules
    machine: Any = play.setup.machine
    options: Any = play.setup.options
    total: dict[str, int] = {name: int(state.counters[k]) for name, k in _TOTALS.items()}
    bins = np.flatnonzero(state.latency)
    return TranslationRecord(
        cores=rules.cores,
        private_entries=rules.private_entries,
        shared_entries=rules.shared_entries,
        page_bytes=machine.page_bytes * options.pages_an_entry,
        clock_mhz=machine.clock_mhz,
        network=machine.network,
        served=state.served.reshape(-1, KINDS_OF_SERVICE),
        latency_cycles=_least_of_bins(bins),
        latency_counts=state.latency[bins],
        latency_sums=state.spent,
        messages=state.messages,
        window_cycles=1 << int(state.counters[WINDOW_BITS]),
        over_time=_until_the_last(state.over_time.reshape(-1, COLUMNS_OVER_TIME)),
        degrees=state.degrees,
        pairs=state.pair_sums.reshape(rules.cores, rules.cores),
        log=np.concatenate(play.logs) if play.logs else np.zeros((0, COLUMNS), np.int64),
        **total,
    )


def _least_of_bins(bins: np.ndarray) -> np.ndarray:
    """The least latency that each bin counts."""
    octave, step = np.divmod(np.maximum(bins - EXACT_LATENCIES, 0), STEPS_AN_OCTAVE)
    return np.where(bins < EXACT_LATENCIES, bins, (step + STEPS_AN_OCTAVE) << (octave + 6))


def _until_the_last(windows: np.ndarray) -> np.ndarray:
    """The windows until the last one in which something happened."""
    used = np.flatnonzero(windows.any(axis=1))
    return windows[: used[-1] + 1 if used.size else 0]
