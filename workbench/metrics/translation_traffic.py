"""What does it cost: messages, pushes, waiting for links, ports and walkers? (spec 4, H4.5, H4.8, H4.9)"""

from __future__ import annotations

from workbench.metrics.statistics import over
from workbench.records.translation import MESSAGES, TranslationRecord, accesses


def traffic_measures(record: TranslationRecord) -> dict[str, float]:
    """Compute messages, remote look-ups, pushes, fills, and every kind of waiting."""
    return {**_network(record), **_pushes(record), **_waiting(record)}


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
