"""The regions of a card as rectangles: from which request to which, at which addresses."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from workbench.records.pool import RELEASED, STITCHED, PoolRecord, granted


class Regions(NamedTuple):
    """One row a region."""

    begin: np.ndarray
    """int64[regions], the request that was granted it."""
    end: np.ndarray
    """int64[regions], the request that released it; as many as there are requests where none did."""
    address: np.ndarray
    """int64[regions]."""
    length: np.ndarray
    """int64[regions], bytes."""
    borrowed: np.ndarray
    """bool[regions], whether an application of another card has it."""


def regions_of(record: PoolRecord, card: int) -> Regions:
    """The regions of a card in the order of their grants; those stitched of several blocks are left out."""
    rows = np.flatnonzero(granted(record) & (record.card == card) & (record.outcome != STITCHED))
    end = np.full(record.time.size, record.time.size, np.int64)
    released = np.flatnonzero(record.outcome == RELEASED)
    end[record.allocation[released]] = released
    return Regions(rows, end[rows], record.identifier[rows], record.taken[rows], record.borrower[rows] != card)
