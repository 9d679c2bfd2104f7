"""What a trace says of the memory that its own allocator held, to compare a policy with."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from workbench.workloads.allocations import AllocationTable
from workbench.workloads.memory_requests import cards_of, live_before


class Recording(NamedTuple):
    """Memory over time as a trace tells it, of one card or of all cards together."""

    time_ns: np.ndarray
    """int64[rows], since the first event."""
    allocated: np.ndarray | None
    """int64[rows], bytes live after each event; None = not recorded."""
    reserved: np.ndarray | None
    """int64[rows], bytes that the allocator had got from the driver; None = not recorded."""
    driver_calls: int | None
    """How often the allocator called its driver within the trace; None = not recorded."""
    refused: int | None
    """How many requests it could not serve; None = not recorded."""
    cached_before: int
    """Bytes that it held cached when the trace began, as far as the trace tells."""
    lumped_before: int
    """Bytes that were live before without the trace telling which blocks: one block a card stands for them."""


def recording_of(rows: AllocationTable) -> Recording:
    """Return what memory events say; its time begins with the first of them."""
    start = rows.time_ns[0] if len(rows.time_ns) else 0
    return Recording(
        time_ns=rows.time_ns - start,
        allocated=_together(rows.allocated_after, rows.device),
        reserved=_together(rows.reserved_after, rows.device),
        driver_calls=None if rows.calls is None else len(rows.calls.bytes),
        refused=None if rows.refusals is None else len(rows.refusals.bytes),
        cached_before=sum(rows.cached_before(card) for card in cards_of(rows).tolist()),
        lumped_before=int(live_before(rows).bytes.sum()) if rows.before is None else 0,
    )


def _together(of_card: np.ndarray | None, device: np.ndarray) -> np.ndarray | None:
    """Return what all cards hold after each event, from what the event's card holds then: int64[rows].

    A card holds before its first event what it holds after it.
    """
    if of_card is None:
        return None
    total = np.zeros(len(of_card), np.int64)
    for card in np.unique(device):
        rows = np.flatnonzero(device == card)
        latest = np.searchsorted(rows, np.arange(len(of_card)), side="right") - 1
        total += of_card[rows[np.maximum(latest, 0)]]
    return total
