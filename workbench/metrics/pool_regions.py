"""The regions of a card as rectangles: from which request to which, at which addresses."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from workbench.records.pool import FREE_OF_REFUSED, RELEASED, STITCHED, PoolRecord, granted


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
    end = freed_at(record)
    return Regions(rows, end[rows], record.identifier[rows], record.taken[rows], record.borrower[rows] != card)


def freed_at(record: PoolRecord) -> np.ndarray:
    """int64[requests], the request that freed each allocation, refused ones too; as many as there are where none did.

    For a request that is no allocation, it means nothing.
    """
    end = np.full(record.time.size, record.time.size, np.int64)
    freed = np.flatnonzero(np.isin(record.outcome, (RELEASED, FREE_OF_REFUSED)))
    end[record.allocation[freed]] = freed
    return end
