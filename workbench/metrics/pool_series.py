"""Memory by card after every request of a pool, from its record."""

from __future__ import annotations

import numpy as np

from workbench.records.pool import (
    AFTER,
    BEFORE,
    BYTES,
    CARD,
    CAUSE,
    LEFT,
    REGION,
    RELEASED,
    ROW,
    TO,
    PoolRecord,
    granted,
)


def in_use(record: PoolRecord, card: int | None = None, bytes_of: str = "taken") -> np.ndarray:
    """Return the bytes in use on a card after each request, int64[requests]: of the regions, or as they were `asked`
    for.

    None = on all cards together.
    """
    change = _changes(record, bytes_of)
    if card is not None:
        change = np.where(record.card == card, change, 0)
    return _with_moves(record, change, card, bytes_of, np.ones(len(record.moves), bool)).cumsum()


def lent_out(record: PoolRecord, card: int) -> np.ndarray:
    """Return the bytes in use on a card by applications of other cards, after each request: int64[requests]."""
    guests = (record.card == card) & (record.borrower[record.allocation] != card)
    change = np.where(guests, _changes(record, "taken"), 0)
    moved = record.borrower[record.moves[:, REGION]] != card
    return _with_moves(record, change, card, "taken", moved).cumsum()


def reserved(record: PoolRecord, card: int) -> np.ndarray:
    """Return the bytes got from a card's driver and not given back, after each request: int64[requests]."""
    change, mine = np.zeros(record.time.size, np.int64), record.calls[:, CARD] == card
    np.add.at(change, record.calls[mine, ROW], record.calls[mine, BYTES])
    return change.cumsum()


def cached(record: PoolRecord, card: int) -> np.ndarray:
    """Return the cached bytes of a card after each request: int64[requests]."""
    return reserved(record, card) - in_use(record, card)


def _changes(record: PoolRecord, bytes_of: str) -> np.ndarray:
    """Return what each grant adds to the bytes in use and each release takes from them, moves left aside:
    int64[requests]."""
    size = record.taken if bytes_of == "taken" else record.asked[record.allocation]
    change: np.ndarray = np.where(granted(record), size, np.where(record.outcome == RELEASED, -size, 0))
    return change


def _with_moves(
    record: PoolRecord, change: np.ndarray, card: int | None, bytes_of: str, which: np.ndarray
) -> np.ndarray:
    """Add to the requests' changes what some moves take from a card, and what they bring there."""
    moves = record.moves[which]
    requested = record.asked[moves[:, REGION]]
    for ends, size, sign in ((LEFT, BEFORE, -1), (TO, AFTER, 1)):
        mine = slice(None) if card is None else moves[:, ends] == card
        bytes_moved = moves[:, size] if bytes_of == "taken" else requested
        np.add.at(change, moves[mine, CAUSE], sign * bytes_moved[mine])
    return change
