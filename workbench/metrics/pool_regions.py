"""The regions of a card as rectangles: from which request to which, at which addresses."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from workbench.records.pool import STITCHED, PoolRecord
from workbench.records.pool_stays import remote, stays_of


class Regions(NamedTuple):
    """One row a region."""

    begin: np.ndarray
    """int64[regions], the request that was granted it, or that brought it to the card."""
    end: np.ndarray
    """int64[regions], the request that released it or took it away; as many as there are requests where none did."""
    address: np.ndarray
    """int64[regions]."""
    length: np.ndarray
    """int64[regions], bytes."""
    borrowed: np.ndarray
    """bool[regions], whether an application of another card has it."""


def regions_of(record: PoolRecord, card: int) -> Regions:
    """Return the regions of a card in the order of their grants; those stitched of several blocks are left out.

    A region that moves has a row for each of its stays on the card.
    """
    stays = stays_of(record)
    stitched = (stays.first == stays.region) & (record.outcome[stays.region] == STITCHED)
    kept = (stays.card == card) & ~stitched
    columns = (stays.first, stays.last, stays.identifier, stays.taken, remote(record, stays))
    return Regions(*(column[kept] for column in columns))
