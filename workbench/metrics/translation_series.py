"""What a translation record says over time: counts by window of the issue."""

from __future__ import annotations

import numpy as np

from workbench.records.translation import OVER_TIME, TranslationRecord


def window_starts(record: TranslationRecord) -> np.ndarray:
    """The first cycle of each window: int64[windows]."""
    return record.first_cycle + record.window_cycles * np.arange(len(record.over_time))


def counted_over_time(record: TranslationRecord, what: str) -> np.ndarray:
    """One of `OVER_TIME` by window: int64[windows].

    Raises
    ------
    ValueError
        Nothing of that name is counted.
    """
    found: np.ndarray = record.over_time[:, OVER_TIME.index(what)]
    return found


def messages_per_cycle(record: TranslationRecord) -> np.ndarray:
    """The load of the network: messages a cycle by window, float64[windows]."""
    return np.asarray(counted_over_time(record, "messages") / record.window_cycles)
