"""From the arrays of a run to its record."""

from __future__ import annotations

import numpy as np

from workbench.engines.translation.counters import COUNT
from workbench.engines.translation.playing import Play
from workbench.engines.translation.shape import Rules
from workbench.engines.translation.state import COLUMNS_OVER_TIME, KINDS_OF_SERVICE, STEPS_AN_OCTAVE
from workbench.engines.translation.trace import Trace
from workbench.records.translation import ACCESS, EXACT_LATENCIES, TranslationRecord

_TOTALS = {
    "first_cycle": COUNT.first_cycle,
    "last_cycle": COUNT.last_cycle,
    "shared_accesses": COUNT.shared_accesses,
    "walks": COUNT.walks,
    "walk_levels": COUNT.walk_levels,
    "walk_queue_cycles": COUNT.walk_queued,
    "walks_joined": COUNT.walks_joined,
    "fills": COUNT.fills,
    "evictions": COUNT.evictions,
    "refused_fills": COUNT.refused_fills,
    "bypassed_entries": COUNT.bypassed_entries,
    "pushes": COUNT.pushes,
    "pushes_used": COUNT.pushes_used,
    "pushes_unused": COUNT.pushes_unused,
    "remote_requests": COUNT.remote,
    "stale": COUNT.stale,
    "noc_queue_cycles": COUNT.noc_queued,
    "noc_trips": COUNT.noc_trips,
    "port_wait_cycles": COUNT.port_wait,
    "mshr_wait_cycles": COUNT.mshr_wait,
    "shootdowns": COUNT.shootdowns,
    "shot_down": COUNT.shot_down,
    "samples": COUNT.samples,
    "last_start": COUNT.last_start,
    "walk_queue_latency": COUNT.queued_latency,
    "mshr_stalls": COUNT.mshr_stalls,
}
"""Of the record's totals, the counter of each."""


def record_of(play: Play) -> TranslationRecord:
    """Return the record of a run that is over."""
    state, rules = play.state, play.rules
    machine, options = play.given.machine, play.given.options
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
        window_cycles=1 << int(state.counters[COUNT.window_bits]),
        over_time=_until_the_last(state.over_time.reshape(-1, COLUMNS_OVER_TIME)),
        degrees=state.degrees,
        pairs=state.pair_sums.reshape(rules.cores, rules.cores),
        log=_with_pages(state.log, play.trace),
        walkers=rules.walkers + rules.cores * rules.software_walks,
        walk_cycles=_walk_cycles(rules, state.counters),
        **total,
    )


def _walk_cycles(rules: Rules, counters: np.ndarray) -> int:
    """Return the cycles of all walks, by walkers of the machine and by cores."""
    walks, levels = int(counters[COUNT.software_begun]), int(counters[COUNT.software_levels])
    by_walkers = (int(counters[COUNT.walk_levels]) - levels) * rules.level_cycles
    return by_walkers + walks * rules.software_start + levels * rules.software_level


def _least_of_bins(bins: np.ndarray) -> np.ndarray:
    """Return the least latency that each bin counts."""
    octave, step = np.divmod(np.maximum(bins - EXACT_LATENCIES, 0), STEPS_AN_OCTAVE)
    return np.where(bins < EXACT_LATENCIES, bins, (step + STEPS_AN_OCTAVE) << (octave + 6))


def _until_the_last(windows: np.ndarray) -> np.ndarray:
    """Return the windows until the last one in which something happened."""
    used = np.flatnonzero(windows.any(axis=1))
    return windows[: used[-1] + 1 if used.size else 0]


def _with_pages(log: np.ndarray, trace: Trace) -> np.ndarray:
    """Return the log with the trace's pages in place of short numbers: of an entry that covers several, the first."""
    short = log[:, 1] != ACCESS
    log[short, 3] = trace.tags.first_pages(trace.numbers.pages[log[short, 3]])
    return log
