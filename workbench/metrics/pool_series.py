"""Memory by card after every request of a pool, from its record."""

from __future__ import annotations

import numpy as np

from workbench.records.pool import BYTES, CARD, RELEASED, ROW, PoolRecord, granted


def in_use(record: PoolRecord, card: int, bytes_of: str = "taken") -> np.ndarray:
    """int64[requests], bytes in use on a card after each request: of the regions, or as they were `asked` for."""
    return changes_in_use(record, record.card == card, bytes_of).cumsum()


def changes_in_use(record: PoolRecord, rows: np.ndarray, bytes_of: str = "taken") -> np.ndarray:
    """int64[requests], what each of some requests adds to the bytes in use, below 0 for a release."""
    size = record.taken if bytes_of == "taken" else record.asked[record.allocation]
    signed = np.where(granted(record), size, np.where(record.outcome == RELEASED, -size, 0))
    change: np.ndarray = np.where(rows, signed, 0)
    return change


def reserved(record: PoolRecord, card: int) -> np.ndarray:
    """int64[requests], bytes got from a card's driver and not given back, after each request."""
    change, mine = np.zeros(record.time.size, np.int64), record.calls[:, CARD] == card
    np.add.at(change, record.calls[mine, ROW], record.calls[mine, BYTES])
    return change.cumsum()


def cached(record: PoolRecord, card: int) -> np.ndarray:
    """int64[requests], cached bytes of a card after each request."""
    return reserved(record, card) - in_use(record, card)


def lent_out(record: PoolRecord, card: int) -> np.ndarray:
    """int64[requests], bytes in use on a card by applications of other cards, after each request."""
    return changes_in_use(record, (record.card == card) & (record.borrower[record.allocation] != card)).cumsum()
