"""What a translation record says over time: counts by window of the issue."""

from __future__ import annotations

import numpy as np

from workbench.records.translation import OVER_TIME, TranslationRecord


def counted_over_time(record: TranslationRecord, what: str) -> np.ndarray:
    """Return one of `OVER_TIME` by window: int64[windows].

    Raises
    ------
    ValueError
        Nothing of that name is counted.
    """
    result: np.ndarray = record.over_time[:, OVER_TIME.index(what)]
    return result
