"""How long does a translation take? (spec 4, H4.2 and H4.6)"""

from __future__ import annotations

import math

import numpy as np

from workbench.metrics.statistics import over
from workbench.records.translation import SERVED_BY, TranslationRecord, accesses


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
