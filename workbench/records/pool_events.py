"""The event log of a memory pool, derived from its record: grant, release, move, return_to_driver, refuse, misuse."""

from __future__ import annotations

import numpy as np

from workbench.records.pool import (
    ADDRESS,
    AFTER,
    BYTES,
    CARD,
    CAUSE,
    IDENTIFIER,
    LEFT,
    OUTCOMES,
    REGION,
    RELEASED,
    ROW,
    TO,
    PoolRecord,
    granted,
    was_asked,
)

KINDS = ("release", "move", "return_to_driver", "grant", "refuse", "misuse")
_RELEASE, _MOVE, _RETURN, _GRANT, _REFUSE, _MISUSE = range(6)


def events(record: PoolRecord) -> dict[str, np.ndarray]:
    """Return every event in its total order (request, rank, serial), as columns.

    Of one request the release comes first, then the moves that it causes, what goes back to the driver, and the grant
    or the refusal. `cycle` is the nanosecond at which the request was served; `bytes` are those of the region, of a
    refusal what was asked for. A move's handle, application and borrower are those of the region that moves; its card,
    identifier and bytes are the new ones. Translations of addresses end with a move or what goes back to the driver,
    not with a release (spec 5, section 8). What was never asked is no event.

    Returns
    -------
    dict of arrays
        cycle, serial (0, 1, 2, ... in the total order), kind, handle, app, borrower, card, identifier, bytes, from_card
        (of a move; else -1), source (what came of the request, such as cached or physical), waited (nanoseconds in the
        queue for memory).
    """
    parts = (_requests(record), _moves(record), _returns(record))
    columns = [np.concatenate(column) for column in zip(*parts, strict=True)]
    place = np.lexsort((np.arange(len(columns[0])), columns[1], columns[0]))
    rows, kind, about, card, identifier, size, from_card = (column[place] for column in columns)
    return {
        "cycle": record.done[rows],
        "serial": np.arange(len(rows)),
        "kind": np.array(KINDS)[kind],
        "handle": record.handle[about],
        "app": record.app[about],
        "borrower": record.borrower[about],
        "card": card,
        "identifier": identifier,
        "bytes": size,
        "from_card": from_card,
        "source": np.array(OUTCOMES)[record.outcome[rows]],
        "waited": record.waited[rows],
    }


def _requests(record: PoolRecord) -> tuple[np.ndarray, ...]:
    """Return the columns row, kind, whose row tells of the application, card, identifier, bytes and card that is
    left."""
    alloc, done = record.action == 0, granted(record)
    kind = np.where(alloc, np.where(done, _GRANT, _REFUSE), np.where(record.outcome == RELEASED, _RELEASE, _MISUSE))
    size = np.where(done | (record.outcome == RELEASED), record.taken, record.asked)
    rows = np.flatnonzero(was_asked(record))
    columns = (column[rows] for column in (record.card, record.identifier, size))
    return rows, kind[rows], rows, *columns, np.full(rows.size, -1)


def _moves(record: PoolRecord) -> tuple[np.ndarray, ...]:
    moves = record.moves
    kind = np.full(len(moves), _MOVE)
    return moves[:, CAUSE], kind, *(moves[:, column] for column in (REGION, TO, ADDRESS, AFTER, LEFT))


def _returns(record: PoolRecord) -> tuple[np.ndarray, ...]:
    back = record.calls[record.calls[:, BYTES] < 0]
    kind, nowhere = np.full(len(back), _RETURN), np.full(len(back), -1)
    return back[:, ROW], kind, back[:, ROW], back[:, CARD], back[:, IDENTIFIER], -back[:, BYTES], nowhere
