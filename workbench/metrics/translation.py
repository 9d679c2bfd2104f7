"""The measures of address translation: where it is served, how long it takes, what it costs (spec 4, section 6).

Rates are per access; `_per_kilo` is per 1,000 accesses. Latency runs from an access's issue to its translation (spec 4,
H4.2, H4.6). Costs are messages, pushes, and waiting for links, ports and walkers (H4.5, H4.8, H4.9). A measure that is
not defined for a run (the stale rate of one that asks no peers) is NaN. Over time, accesses are counted by the window
of their issue.
"""

from __future__ import annotations

import math

import numpy as np

from workbench.metrics.measure import Measure, declared
from workbench.metrics.statistics import cv, over
from workbench.records.translation import (
    MESSAGES,
    OVER_TIME,
    SERVED_BY,
    TranslationRecord,
    accesses,
    served_counts,
)

_AWAY = slice(SERVED_BY.index("peer"), None)
"""Of `SERVED_BY` all that is not the core itself."""
_FOUND = "accesses that the core's own TLB serves at once"

MEASURES = declared(
    Measure("private_hit_rate", "", "higher", f"{_FOUND}, as a share of all"),
    Measure("peer_hit_rate", "", "higher", "accesses that another core's TLB serves, as a share of all"),
    Measure(
        "middle_hit_rate", "", "higher", "accesses that the middle TLB of the core's group serves, as a share of all"
    ),
    Measure("middle_per_kilo", "look-ups", "lower", "look-ups in middle TLBs per 1,000 accesses"),
    Measure("near_hit_rate", "", "higher", "accesses that the core's own TLB or a peer's serves, as a share of all"),
    Measure("shared_per_kilo", "look-ups", "lower", "look-ups in the shared TLB per 1,000 accesses"),
    Measure("walks_per_kilo", "walks", "lower", "walks of the page table per 1,000 accesses"),
    Measure("merged_per_kilo", "accesses", "neither", "accesses that joined a miss of their core, per 1,000"),
    Measure(
        "latency_mean_cycles",
        "cycles",
        "lower",
        "from an access's issue to its translation, averaged",
        compared_by="ratio",
    ),
    Measure(
        "latency_p99_cycles",
        "cycles",
        "lower",
        "from an access's issue to its translation, 99th percentile",
        compared_by="ratio",
    ),
    Measure(
        "miss_latency_mean_cycles",
        "cycles",
        "lower",
        "from an access's issue to its translation, of what the core's own TLB does not serve",
        compared_by="ratio",
    ),
    Measure(
        "private_latency_mean_cycles",
        "cycles",
        "lower",
        "from an access's issue to its translation, of what the core's own TLB serves at once",
        compared_by="ratio",
    ),
    Measure(
        "accesses_per_kilocycle",
        "accesses",
        "higher",
        "accesses over the makespan in thousands of cycles",
        compared_by="ratio",
    ),
    Measure("makespan_cycles", "cycles", "lower", "from the first issue to the last translation", compared_by="ratio"),
    Measure("noc_messages_per_kilo", "messages", "lower", "messages between cores per 1,000 accesses"),
    Measure("update_messages_per_kilo", "messages", "lower", "of these, news for directories"),
    Measure("shootdown_messages_per_kilo", "messages", "lower", "of these, invalidations and their acknowledgements"),
    Measure("noc_queue_cycles_mean", "cycles", "lower", "what a message waits for links, averaged"),
    Measure("remote_per_kilo", "requests", "lower", "questions to peers per 1,000 accesses"),
    Measure("stale_rate", "", "lower", "questions to peers that are answered in the negative, as a share of all"),
    Measure("pushes_per_kilo", "pushes", "lower", "copies put into peers' TLBs unasked, per 1,000 accesses"),
    Measure("push_pollution", "", "lower", "pushed entries evicted unused, as a share of all pushed"),
    Measure("push_use", "", "higher", "pushed entries that are accessed before they leave, as a share of all pushed"),
    Measure("refused_fills_per_kilo", "fills", "neither", "fills that the fill rule refused, per 1,000 accesses"),
    Measure("fills_per_kilo", "fills", "lower", "entries that come into private TLBs per 1,000 accesses"),
    Measure(
        "bypassed_entries_per_kilo",
        "entries",
        "neither",
        "entries of the shared TLB not made because they were predicted dead, per 1,000 accesses",
    ),
    Measure("walk_queue_cycles_mean", "cycles", "lower", "what a walk waits for a walker, averaged"),
    Measure(
        "walk_queue_share", "", "lower", "share of the latency of all accesses that requests spent in the walk queue"
    ),
    Measure("walker_utilization", "", "neither", "share of the makespan that a walker walks, averaged"),
    Measure("joined_walks_per_kilo", "requests", "neither", "requests that joined a walk of their page, per 1,000"),
    Measure("walk_levels_mean", "levels", "lower", "levels of the page table that a walk reads, averaged"),
    Measure("port_wait_cycles_mean", "cycles", "lower", "what an access waits for its own TLB's port, averaged"),
    Measure("mshr_wait_cycles_mean", "cycles", "lower", "what an access waits for a miss-status register, averaged"),
    Measure("mshr_stalls_per_kilo", "misses", "lower", "misses that found no register free, per 1,000 accesses"),
    Measure("drain_share", "", "lower", "share of the makespan after the last access could issue; high = saturated"),
    Measure("sharing_degree_mean", "cores", "neither", "cores that hold a page, averaged over the pages held"),
    Measure(
        "reach_wasted",
        "",
        "lower",
        "of the entries of all private TLBs, the share that adds no reach, averaged over the samples: empty, or a "
        "further copy of a page that another core's TLB holds; stands for fragmentation, and says nothing of holes in "
        "memory or of unused parts of pages",
    ),
    Measure(
        "power_proxy_cv",
        "",
        "lower",
        "proxy for power balance, as no power is simulated: accesses of each core that a peer, a TLB behind its own or "
        "a walk serves, standard deviation over mean over the cores; no watts, and which peers answer is not in it",
    ),
    Measure("shot_down", "entries", "neither", "private entries that were invalidated"),
)
"""Every measure by name."""


def measure(record: TranslationRecord) -> dict[str, float]:
    """Compute every measure of a run."""
    pages = pages_by_degree(record)
    sent_out = record.served[:, _AWAY].sum(axis=1)
    return {
        **_served(record),
        **latency_measures(record),
        **_network(record),
        **_pushes(record),
        **_waiting(record),
        "sharing_degree_mean": over(float((pages * np.arange(len(pages))).sum()), float(pages.sum())),
        "reach_wasted": 1 - over(float(pages.sum()), record.samples * record.cores * record.private_entries),
        "power_proxy_cv": cv(sent_out),
        "shot_down": float(record.shot_down),
    }


def _served(record: TranslationRecord) -> dict[str, float]:
    total = accesses(record)
    of = served_counts(record)
    middle = math.nan if record.middle_accesses is None else record.middle_accesses
    return {
        "private_hit_rate": over(of["private"], total),
        "peer_hit_rate": over(of["peer"], total),
        "middle_hit_rate": math.nan if record.middle_accesses is None else over(of["middle"], total),
        "middle_per_kilo": over(1000 * middle, total),
        "near_hit_rate": over(of["private"] + of["peer"], total),
        "merged_per_kilo": over(1000 * of["merged"], total),
        "shared_per_kilo": over(1000 * record.shared_accesses, total),
        "walks_per_kilo": over(1000 * record.walks, total),
    }


def pages_by_degree(record: TranslationRecord) -> np.ndarray:
    """Count the pages by how many cores hold them, summed over the samples: int64[cores + 1]."""
    return np.asarray(record.degrees // np.maximum(np.arange(len(record.degrees)), 1))


def latency_measures(record: TranslationRecord) -> dict[str, float]:
    """Compute the mean, 99th percentile, the means of hits and misses, and the throughput."""
    total, span = accesses(record), record.last_cycle - record.first_cycle
    own = SERVED_BY.index("private")
    hits, spent = int(record.served[:, own].sum()), record.latency_sums
    return {
        "latency_mean_cycles": over(spent.sum(), total),
        "latency_p99_cycles": latency_quantile(record, 0.99),
        "miss_latency_mean_cycles": over(spent.sum() - spent[own], total - hits),
        "private_latency_mean_cycles": over(spent[own], hits),
        "makespan_cycles": float(span),
        "drain_share": over(record.last_cycle - record.last_start, span),
        "accesses_per_kilocycle": over(1000 * total, span),
    }


def latency_quantile(record: TranslationRecord, share: float) -> float:
    """Compute the smallest latency that is not exceeded by at least this share of the accesses, NaN of none."""
    upto = np.cumsum(record.latency_counts)
    if not len(upto):
        return math.nan
    return float(record.latency_cycles[np.searchsorted(upto, max(math.ceil(share * upto[-1]), 1))])


def latency_distribution(record: TranslationRecord) -> tuple[np.ndarray, np.ndarray]:
    """Return latencies, increasing, and the share of the accesses that take at most as long: int64[k], float64[k]."""
    upto = np.cumsum(record.latency_counts)
    return record.latency_cycles, upto / max(int(upto[-1]) if len(upto) else 1, 1)


def _network(record: TranslationRecord) -> dict[str, float]:
    total = accesses(record)
    sent = dict(zip(MESSAGES, record.messages.tolist(), strict=True))
    return {
        "noc_messages_per_kilo": over(1000 * sum(sent.values()), total),
        "update_messages_per_kilo": over(1000 * sent["update"], total),
        "shootdown_messages_per_kilo": over(1000 * sent["shootdown"], total),
        "noc_queue_cycles_mean": over(record.noc_queue_cycles, record.noc_trips),
        "remote_per_kilo": over(1000 * record.remote_requests, total),
        "stale_rate": over(record.stale, record.remote_requests),
    }


def _pushes(record: TranslationRecord) -> dict[str, float]:
    total = accesses(record)
    return {
        "pushes_per_kilo": over(1000 * record.pushes, total),
        "push_pollution": over(record.pushes_unused, record.pushes),
        "push_use": over(record.pushes_used, record.pushes),
        "fills_per_kilo": over(1000 * record.fills, total),
        "refused_fills_per_kilo": over(1000 * record.refused_fills, total),
        "bypassed_entries_per_kilo": over(1000 * record.bypassed_entries, total),
    }


def _waiting(record: TranslationRecord) -> dict[str, float]:
    total = accesses(record)
    return {
        "walk_queue_cycles_mean": over(record.walk_queue_cycles, record.walks),
        "walk_queue_share": over(record.walk_queue_latency, record.latency_sums.sum()),
        "walker_utilization": over(record.walk_cycles, record.walkers * (record.last_cycle - record.first_cycle)),
        "joined_walks_per_kilo": over(1000 * record.walks_joined, total),
        "walk_levels_mean": over(record.walk_levels, record.walks),
        "port_wait_cycles_mean": over(record.port_wait_cycles, total),
        "mshr_wait_cycles_mean": over(record.mshr_wait_cycles, total),
        "mshr_stalls_per_kilo": over(1000 * record.mshr_stalls, total),
    }


def counted_over_time(record: TranslationRecord, what: str) -> np.ndarray:
    """Return one of `OVER_TIME` by window: int64[windows].

    Raises
    ------
    ValueError
        Nothing of that name is counted.
    """
    result: np.ndarray = record.over_time[:, OVER_TIME.index(what)]
    return result
