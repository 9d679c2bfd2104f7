"""How long do groups wait, and which of them at the head of their channel? (spec 3, H3.1, H3.5, H3.7, H3.18)

A group waits from its arrival until the last part of it is dispatched.
"""

from __future__ import annotations

import math

import numpy as np

from workbench.compiled import kernel
from workbench.metrics.statistics import mean, quantile
from workbench.records.dispatch import DispatchRecord

LARGE = 0.75
"""A group is large where its share of a module is not below this quantile of all groups'."""


def waits(record: DispatchRecord) -> np.ndarray:
    """Return the cycles that each group waits: int64[groups]."""
    return last_dispatch(record) - record.arrival


def last_dispatch(record: DispatchRecord) -> np.ndarray:
    """Return the cycle at which the last part of each group is dispatched: int64[groups]."""
    last = np.zeros(len(record.arrival), np.int64)
    np.maximum.at(last, record.group, record.cycle)
    return last


def wait_measures(record: DispatchRecord) -> dict[str, float]:
    """Compute the mean, 99th percentile and maximum over all groups, over each priority, and the mean of those left
    whole."""
    wait = waits(record)
    summary = _summary(wait, "")
    for level in range(1, record.levels + 1):
        summary |= _summary(wait[record.priority == level], f"[{level}]")
    whole = np.bincount(record.group, minlength=len(wait)) == 1
    return {**summary, "wait_unsplit_mean_cycles": mean(wait[whole])}


def _summary(wait: np.ndarray, part: str) -> dict[str, float]:
    return {
        f"wait_mean_cycles{part}": mean(wait),
        f"wait_p99_cycles{part}": quantile(wait, 0.99),
        f"wait_max_cycles{part}": float(wait.max()) if len(wait) else math.nan,
    }


def module_share(record: DispatchRecord) -> np.ndarray:
    """Return how much of an empty module each group asks for, of the resource of which that is most:
    float64[groups]."""
    room = record.blocks * np.where(record.of_unit, record.units, 1)
    requested = record.demand * np.where(record.of_unit, record.waves[:, None], 1)
    return np.asarray((requested / room).max(axis=1, initial=0.0))


def large(record: DispatchRecord) -> np.ndarray:
    """Return which groups are large: bool[groups], a quarter of them or, where some are as large as the smallest,
    more."""
    share = module_share(record)
    return share >= quantile(share, LARGE)


def refusal_measures(record: DispatchRecord) -> dict[str, float]:
    """Compute how often heads are refused, and how long large groups stand at the head of their channel (H3.18).

    A rate is refusals over refusals and dispatches. A refusal is a round in which a group, at its channel's head, fits
    no module; a dispatch is that of a group, or of each part of a split one.
    """
    big = large(record)
    stood = head_waits(record)
    return {
        "refused_rate": _refused(record, np.ones(len(big), bool)),
        "large_refused_rate": _refused(record, big),
        "large_head_wait_mean_cycles": mean(stood[big]),
    }


def _refused(record: DispatchRecord, groups: np.ndarray) -> float:
    refused, served = int(record.refused[groups].sum()), int(groups[record.group].sum())
    return refused / (refused + served) if served else math.nan


def head_waits(record: DispatchRecord) -> np.ndarray:
    """Compute the cycles that each group, or what is left of it, stands at its channel's head until its last part is
    dispatched: int64[groups], 0 for one that is dispatched before it comes to stand there."""
    stood = np.zeros(len(record.arrival), np.int64)
    free = np.zeros(record.channels, np.int64)
    _stand(record.channel, record.arrival, last_dispatch(record), free, stood)
    return stood


@kernel
def _stand(channel: np.ndarray, arrival: np.ndarray, last: np.ndarray, free: np.ndarray, stood: np.ndarray) -> None:
    for group in range(channel.size):
        behind = channel[group]
        stood[group] = max(last[group] - max(arrival[group], free[behind]), 0)
        free[behind] = max(free[behind], last[group])
