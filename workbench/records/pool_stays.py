"""Where every region of a memory pool lay, and how long: from its grant, through its moves, to its release."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from workbench.records.pool import (
    ADDRESS,
    AFTER,
    BEGIN,
    CAUSE,
    FREE_OF_REFUSED,
    REGION,
    RELEASED,
    TO,
    PoolRecord,
    borrowed,
    granted,
)


class Stays(NamedTuple):
    """One row a stay of a region on a card, by region, those of one region in their order."""

    region: np.ndarray
    """int64[stays], the row of the region's allocation."""
    card: np.ndarray
    """int64[stays]."""
    identifier: np.ndarray
    """int64[stays], its address there."""
    taken: np.ndarray
    """int64[stays], bytes that it takes there."""
    first: np.ndarray
    """int64[stays], the request that brought it there."""
    last: np.ndarray
    """int64[stays], the request with which it left; as many as there are requests where it never did."""
    begin: np.ndarray
    """int64[stays], nanoseconds, when it came: a grant when it was answered, a move when it began."""
    end: np.ndarray
    """int64[stays], nanoseconds, when it left, or when the last request was served."""


def stays_of(record: PoolRecord, which: np.ndarray | None = None) -> Stays:
    """Return every stay of the regions whose allocations are marked, bool[requests]; of all that were granted if
    None."""
    rows, moves = np.flatnonzero(granted(record) if which is None else which), record.moves
    moves = moves if which is None else moves[which[moves[:, REGION]]]
    region = np.r_[rows, moves[:, REGION]]
    order = np.argsort(region, kind="stable")
    region = region[order]
    goes_on = np.r_[region[1:] == region[:-1], False][: region.size]
    first = np.r_[rows, moves[:, CAUSE]][order]
    begin = np.r_[record.answered[rows], moves[:, BEGIN]][order]
    last, moment = freed_at(record)[region], np.r_[record.done, record.answered.max(initial=0)]
    end = np.where(goes_on, np.roll(begin, -1), moment[last])
    return Stays(
        region=region,
        card=np.r_[record.card[rows], moves[:, TO]][order],
        identifier=np.r_[record.identifier[rows], moves[:, ADDRESS]][order],
        taken=np.r_[record.taken[rows], moves[:, AFTER]][order],
        first=first,
        last=np.where(goes_on, np.roll(first, -1), last),
        begin=np.minimum(begin, end),
        end=end,
    )


def ever_away(record: PoolRecord) -> np.ndarray:
    """Return the allocations of regions that lie on another card than the application's own at some time:
    bool[requests]."""
    away = borrowed(record)
    away[record.moves[:, REGION]] = True
    return away


def remote(record: PoolRecord, stays: Stays) -> np.ndarray:
    """Return which stays are on another card than the application's own: bool[stays]."""
    apart: np.ndarray = stays.card != record.borrower[stays.region]
    return apart


def freed_at(record: PoolRecord) -> np.ndarray:
    """Return the request that freed each allocation, int64[requests], refused ones too; as many as there are where none
    did.

    For a request that is no allocation it means nothing.
    """
    end = np.full(record.time.size, record.time.size, np.int64)
    freed = np.flatnonzero(np.isin(record.outcome, (RELEASED, FREE_OF_REFUSED)))
    end[record.allocation[freed]] = freed
    return end
